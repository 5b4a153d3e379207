#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ngf/error.hpp"
#include "ngf/filter.hpp"
#include "ngf/nn/model.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/progress.hpp"
#include "ngf/sharded_filter.hpp"

namespace ngf {

struct FilterBuild {
  Storage storage = Storage::automatic;
  int threads = 0;
  std::uint64_t memory = 0;  ///< as in ShellOptions
  /// If given, each rank stores the rows of its own nodes.
  std::shared_ptr<const Partition> partition = {};
  std::optional<Embeddings> embeddings = {};  ///< for models with pair weights
};

/// The embeddings of a model with pair weights: those of the features, or the given ones. Nothing
/// for other models. Throws Error where they are missing.
std::optional<Embeddings> model_embeddings(const ModelSettings& settings, const Dataset& dataset,
                                           const std::optional<Embeddings>& given);

/// The plan of the filter on shells of a model, for products as wide as hidden layers. Builds
/// nothing.
FilterPlan plan_layer(const ModelSettings& settings, const Graph& graph, const FilterBuild& build,
                      Progress* progress = nullptr);

/// The matrix H of a layer: a filter, or the identity. Copies share what the filter holds.
class LayerFilter {
  /// What use(filter) gives. Throws Error for the identity.
  template <typename Use>
  decltype(auto) visit(const Use& use) const {
    using Result = decltype(use(std::get<1>(filter_)));
    return std::visit(
        [&]<typename Filter>(const Filter& filter) -> Result {
          if constexpr (std::is_same_v<Filter, std::monostate>) {
            throw Error("the identity is no filter");
          } else {
            return use(filter);
          }
        },
        filter_);
  }

 public:
  /// The identity.
  LayerFilter() = default;
  explicit LayerFilter(NeighborhoodFilter filter) : filter_(std::move(filter)) {}
  explicit LayerFilter(PolynomialFilter filter) : filter_(std::move(filter)) {}
  explicit LayerFilter(PairFilter filter) : filter_(std::move(filter)) {}
  /// The filter of a model on this graph. Throws Error if the graph does not allow it.
  LayerFilter(const ModelSettings& settings, const Graph& graph, const FilterBuild& build,
              Progress* progress = nullptr);

  bool identity() const { return std::holds_alternative<std::monostate>(filter_); }
  /// Nodes of the graph, and the taps as they are. Not of the identity.
  NodeId nodes() const {
    return visit([](const auto& filter) { return filter.nodes(); });
  }
  /// Those that this process has the signals of, and how nodes are distributed; null where this
  /// process has all.
  NodeId rows() const {
    return visit([](const auto& filter) { return filter.rows().count(); });
  }
  const Partition* partition() const;
  const Taps& taps() const {
    return visit([](const auto& filter) -> const Taps& { return filter.taps(); });
  }
  void set_taps(Taps taps) {
    std::visit(
        [&]<typename Filter>(Filter& filter) {
          if constexpr (!std::is_same_v<Filter, std::monostate>) filter.set_taps(std::move(taps));
        },
        filter_);
  }
  /// The filter that it is; null where it is none of that kind.
  const PolynomialFilter* polynomial() const { return std::get_if<PolynomialFilter>(&filter_); }
  /// The shells of its rows; null where there are none.
  const Shells* shells() const;
  /// Storage of the shells; empty if there are none.
  std::string storage() const;
  /// Multiplications and additions of a product with signals of this width.
  double flops(std::int64_t width) const;
  /// Time of a product with signals of this width, in multiplications and additions of a dense
  /// product that take as long.
  double cost(std::int64_t width) const;
  /// The fastest number of columns per product.
  std::size_t columns_at_once() const;

  /// H X, H' X, and gradients by X, into existing columns, and by the taps, which are
  /// returned. Not of the identity.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x) const {
    return visit([&](const auto& filter) { return filter.apply(x); });
  }
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
    visit([&](const auto& filter) { filter.template apply_to<Real>(x, y); });
  }
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
    visit([&](const auto& filter) { filter.template apply_transpose_to<Real>(x, y); });
  }
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input) const {
    return visit([&](const auto& filter) {
      return filter.template gradients_to<Real>(x, by_output, by_input);
    });
  }

 private:
  std::variant<std::monostate, NeighborhoodFilter, PolynomialFilter, PairFilter,
               ShardedNeighborhoodFilter, ShardedPolynomialFilter>
      filter_;
};

}  // namespace ngf
