#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/memory.hpp"
#include "filter/checks.hpp"
#include "filter/dealt_products.hpp"
#include "filter/merged_products.hpp"
#include "filter/shell_products.hpp"
#include "kernels/hops.hpp"
#include "kernels/target.hpp"

namespace ngf {

using filter::ShellFactors;

/// How shells are normalised: shell k stands for factor[k] diag(left[k]) A_k diag(right[k]). Empty
/// vectors stand for ones.
struct NeighborhoodFilter::Scales {
  std::vector<double> factor;
  std::vector<std::vector<double>> left;
  std::vector<std::vector<double>> right;
  std::vector<LargestValue> largest;  ///< by hop, where they were needed

  explicit Scales(std::size_t taps) : factor(taps, 1), left(taps), right(taps) {}
};

namespace {

/// 1 / d^power for one column, and 0 where there is nobody to take a mean over.
std::vector<double> powers(const Matrix& degrees, std::size_t k, double power) {
  std::vector<double> result(static_cast<std::size_t>(degrees.rows()));
  for (std::size_t u = 0; u < result.size(); ++u) {
    const double degree = degrees(static_cast<Eigen::Index>(u), static_cast<Eigen::Index>(k));
    result[u] = degree == 0 ? 0.0 : std::pow(degree, -power);
  }
  return result;
}

/// The share of all pairs above which hops are multiplied faster than lists, as measured on
/// citation networks for signals that are as wide as is expected.
double dense_above(const FilterOptions& options, std::size_t taps, NodeId nodes) {
  // Registers hold half as many double taps.
  const bool in_registers = kernels::has_block_products(options.in_double ? 2 * taps : taps - 1);
  if (options.width == 0 || !in_registers) return options.shells.dense_above;
  if (options.width == 1) {
    // A single column is read as fast as the hops come, from the caches or from memory.
    constexpr double in_caches = 32e6;
    if (static_cast<double>(nodes) * nodes > in_caches) return options.in_double ? 0.2 : 0.08;
    return options.in_double ? 0.15 : 0.06;
  }
  if (options.in_double) return 0.6;
  // Up to a cache line, lists take as long for any number of columns.
  const double most = kernels::halves_wide_registers() ? 0.95 : 0.7;
  return std::min(most, 0.1 + 0.055 * static_cast<double>(options.width));
}

/// The options of shells, for a graph of so many nodes.
ShellOptions shell_options(const FilterOptions& options, std::size_t taps, NodeId nodes) {
  ShellOptions result = options.shells;
  result.dense_above = dense_above(options, taps, nodes);
  return result;
}

/// Twins of one class have the same taps, and one rank.
std::vector<std::uint32_t> groups_of_twins(const Taps& taps, const Partition* partition) {
  if (partition == nullptr) return taps.group_of();
  std::vector<std::uint32_t> groups = partition->ranks();
  const auto ranks = static_cast<std::uint32_t>(partition->communicator().size());
  for (NodeId u = 0; u < groups.size(); ++u) {
    groups[u] += static_cast<std::uint32_t>(taps.group(u)) * ranks;
  }
  return groups;
}

/// The classes of twins, where there are any that may be merged; otherwise null.
std::shared_ptr<const filter::Twins> twins_of(const Graph& graph, const Taps& taps,
                                              const FilterOptions& options) {
  if (options.merging == Merging::never || options.shells.min_paths > 1) return nullptr;
  auto twins = std::make_shared<const filter::Twins>(
      filter::find_twins(graph, groups_of_twins(taps, options.partition.get())));
  return twins->classes() < graph.nodes() ? twins : nullptr;
}

/// Whether shells of the merged graph save time, or are wanted anyway.
bool merging_pays(NodeId nodes, const Graph& merged, std::size_t taps,
                  const FilterOptions& options) {
  if (options.merging == Merging::always) return true;
  const ShellPlan plan = plan_shells(merged, shell_options(options, taps, merged.nodes()));
  const bool dense = plan.storage == Storage::dense;
  const auto pairs = dense ? std::pow(static_cast<double>(merged.nodes()), 2)
                           : std::accumulate(plan.pairs.begin(), plan.pairs.end(), 0.0);
  // As measured: adding up signals of twins, and products back, takes as long as so many pairs.
  const double of_dense = options.width == 1 ? 100 : 200;
  const bool narrow = options.width > 0 && options.width <= 16;
  const bool short_rows = pairs < 64 * static_cast<double>(nodes);
  const double of_lists = narrow && short_rows ? 40 : 80;
  const double pairs_of_node = dense ? of_dense : of_lists;
  const double larger = static_cast<double>(nodes) / static_cast<double>(merged.nodes());
  return pairs * (larger * larger - 1) > pairs_of_node * static_cast<double>(nodes);
}

template <typename Real>
std::vector<Real> as(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

/// Puts taps and scales together for one product.
class FilterRun {
 public:
  explicit FilterRun(const NeighborhoodFilter& filter) : filter_(filter) {}

  /// Of H, or of its transpose on the transposed shells.
  template <typename Real>
  ShellFactors<Real> factors(bool transposed) const {
    const Taps& taps = filter_.taps_;
    ShellFactors<Real> result = shells_alone<Real>(transposed);
    for (std::size_t k = 0; k < taps.count(); ++k) {
      if (!taps.node_variant()) {
        result.scale[k] *= static_cast<Real>(taps(0, k));
        continue;
      }
      // The taps are on the side of the output of H.
      auto& side = transposed ? result.right[k] : result.left[k];
      side.resize(filter_.nodes(), Real{1});
      for (NodeId u = 0; u < filter_.nodes(); ++u) side[u] *= static_cast<Real>(taps(u, k));
    }
    return result;
  }

  /// The same without taps.
  template <typename Real>
  ShellFactors<Real> shells_alone(bool transposed) const {
    const auto& scales = *filter_.scales_;
    ShellFactors<Real> result(filter_.taps_.count());
    for (std::size_t k = 0; k < result.scale.size(); ++k) {
      result.scale[k] = static_cast<Real>(scales.factor[k]);
      result.left[k] = as<Real>(transposed ? scales.right[k] : scales.left[k]);
      result.right[k] = as<Real>(transposed ? scales.left[k] : scales.right[k]);
    }
    return result;
  }

  template <typename Real>
  SignalsOf<Real> apply(const ShellFactors<Real>& factors, const SignalsOf<Real>& x,
                        bool transposed) const {
    filter::check_signals<Real>(x, filter_.rows());
    SignalsOf<Real> y(x.rows(), x.cols());
    apply_to<Real>(factors, x, y, transposed);
    return y;
  }

  template <typename Real>
  void apply_to(const ShellFactors<Real>& factors, const SignalsView<Real>& x, SignalsSlice<Real> y,
                bool transposed) const {
    if (filter_.options_.partition != nullptr) {
      filter::multiply_dealt<Real>(source(transposed), dealt(), factors, x, y);
    } else if (filter_.twins_ == nullptr) {
      filter::multiply_to<Real>(source(transposed), factors, x, y);
    } else {
      filter::multiply_merged<Real>(source(transposed), *filter_.twins_, factors, x, y);
    }
  }

  /// As filter::correlate; where twins are merged, a row is the sum of those of a class.
  template <typename Real>
  Matrix correlate(const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                   const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                   SignalsSlice<Real>* product, bool totals, bool transposed) const {
    if (filter_.options_.partition != nullptr) {
      return filter::correlate_dealt<Real>(source(transposed), dealt(), factors, x, g, of_product,
                                           product);
    }
    if (filter_.twins_ == nullptr) {
      return filter::correlate<Real>(source(transposed), factors, x, g, of_product, product,
                                     totals);
    }
    return filter::correlate_merged<Real>(source(transposed), *filter_.twins_, factors, x, g,
                                          of_product, product, totals);
  }

  /// Shell k alone.
  template <typename Real>
  ShellFactors<Real> one_shell(std::size_t k, bool transposed) const {
    check_shell(k);
    return shells_alone<Real>(transposed).only(k);
  }

  /// The scales that normalisation asks for. Until they are known there are none.
  void normalize(NeighborhoodFilter::Scales& scales) const {
    const std::size_t count = filter_.taps_.count();
    switch (filter_.options_.normalization) {
      case Normalization::none:
        return;
      case Normalization::lmax:
        scales.largest.push_back({.value = 1});  // of the identity
        for (std::size_t k = 1; k < count; ++k) {
          scales.largest.push_back(largest_value(k));
          // An empty shell is a tap that does nothing.
          if (scales.largest[k].value > 0) scales.factor[k] = 1 / scales.largest[k].value;
        }
        return;
      case Normalization::symmetric: {
        const Matrix rows = shell_degrees(false);
        const Matrix columns = shell_degrees(true);
        for (std::size_t k = 1; k < count; ++k) {
          scales.left[k] = powers(rows, k, 0.5);
          scales.right[k] = powers(columns, k, 0.5);
        }
        return;
      }
      case Normalization::row: {
        const Matrix rows = shell_degrees(false);
        for (std::size_t k = 1; k < count; ++k) scales.left[k] = powers(rows, k, 1);
        return;
      }
    }
  }

  /// Of shell k as it is.
  LargestValue largest_value(std::size_t k) const {
    const auto shell = [&](bool transposed) -> Operator {
      return [this, transposed, factors = bare_shell(k)](const Eigen::VectorXd& x,
                                                         Eigen::VectorXd& y) {
        y = of_all_rows(apply(factors, own_rows(x), transposed));
      };
    };
    const bool symmetric = filter_.shells_ == filter_.back_;
    return symmetric ? largest_eigenvalue(filter_.nodes(), shell(false))
                     : largest_singular_value(filter_.nodes(), shell(false), shell(true));
  }

 private:
  filter::ShellSource source(bool transposed) const {
    return {transposed ? *filter_.back_ : *filter_.shells_,
            transposed ? *filter_.shells_ : *filter_.back_,
            transposed ? *filter_.back_layout_ : *filter_.layout_,
            transposed ? *filter_.back_graph_ : *filter_.graph_, *filter_.walking_};
  }
  filter::DealtShells dealt() const {
    return {filter_.options_.partition->own(), *filter_.shells_partition_, filter_.twins_.get()};
  }

  /// The rows that this process has of a vector, and all of them from those.
  SignalsOf<double> own_rows(const Eigen::VectorXd& x) const {
    const auto& partition = filter_.options_.partition;
    return partition == nullptr ? x : x.segment(partition->own().begin, partition->own().count());
  }
  Matrix of_all_rows(const Matrix& own) const {
    const auto& partition = filter_.options_.partition;
    return partition == nullptr ? own : gathered<double>(*partition, own);
  }

  /// How many nodes are at each hop of each node: row u, column k.
  Matrix shell_degrees(bool transposed) const {
    const ShellFactors<double> bare(filter_.taps_.count());
    const auto rows = static_cast<Eigen::Index>(filter_.rows());
    const Matrix ones = Matrix::Ones(rows, 1);
    // <1, A_k 1> node by node, in one walk.
    const auto degrees = [&](const Matrix& counted) {
      return correlate<double>(bare, ones, counted, nullptr, nullptr, false, transposed);
    };
    if (filter_.twins_ == nullptr) return of_all_rows(degrees(ones));
    // Those of the first of each class, which its twins have too.
    const NodeId first =
        filter_.options_.partition == nullptr ? 0 : filter_.options_.partition->own().begin;
    Matrix counted = Matrix::Zero(rows, 1);
    for (NodeId u = 0; u < filter_.rows(); ++u) {
      if (filter_.twins_->first(filter_.twins_->class_of[first + u]) == first + u)
        counted(u, 0) = 1;
    }
    const Matrix of_firsts = degrees(counted);
    const NodeId first_class = filter_.shells_->rows().begin;
    Matrix result(rows, of_firsts.cols());
    for (NodeId u = 0; u < filter_.rows(); ++u) {
      result.row(u) = of_firsts.row(filter_.twins_->class_of[first + u] - first_class);
    }
    return of_all_rows(result);
  }

  ShellFactors<double> bare_shell(std::size_t k) const {
    check_shell(k);
    return ShellFactors<double>(filter_.taps_.count()).only(k);
  }

  void check_shell(std::size_t k) const {
    if (k >= filter_.taps_.count()) {
      detail::fail("no shell {} in a filter of {} taps", k, filter_.taps_.count());
    }
  }

  const NeighborhoodFilter& filter_;
};

NeighborhoodFilter::NeighborhoodFilter(const Graph& graph, Taps taps, FilterOptions options)
    : nodes_(graph.nodes()), taps_(std::move(taps)), options_(std::move(options)) {
  filter::check_taps(taps_, nodes_);
  const Partition* const partition = options_.partition.get();
  if (partition != nullptr && partition->nodes() != nodes_) {
    detail::fail("{} nodes are dealt, and the graph has {}", partition->nodes(), nodes_);
  }
  options_.shells.hops = static_cast<std::uint32_t>(taps_.count() - 1);
  twins_ = twins_of(graph, taps_, options_);
  const Graph merged = twins_ != nullptr ? induced_subgraph(graph, twins_->firsts()) : Graph();
  if (twins_ != nullptr) {
    const bool pays = merging_pays(nodes_, merged, taps_.count(), options_);
    if (!(partition == nullptr ? pays : partition->communicator().of_first(pays))) twins_ = nullptr;
  }
  if (twins_ != nullptr) whole_ = std::make_shared<const Graph>(graph);
  find_shells(twins_ != nullptr ? merged : graph);
  scales_ = std::make_shared<const Scales>(taps_.count());
  Scales scales(taps_.count());
  FilterRun(*this).normalize(scales);
  scales_ = std::make_shared<const Scales>(std::move(scales));
}

/// The same storage for all ranks, so that they go on in step.
Storage NeighborhoodFilter::agreed_storage(const Graph& graph, const ShellOptions& options) const {
  if (options_.partition == nullptr || options.storage != Storage::automatic)
    return options.storage;
  return options_.partition->communicator().of_first(plan_shells(graph, options).storage);
}

void NeighborhoodFilter::find_shells(const Graph& graph) {
  ShellOptions options = shell_options(options_, taps_.count(), graph.nodes());
  if (options_.partition != nullptr) {
    shells_partition_ =
        twins_ == nullptr
            ? options_.partition
            : std::make_shared<const Partition>(options_.partition->of_classes(twins_->class_of));
    options.rows = shells_partition_->own();
    options.storage = agreed_storage(graph, options);
  }
  walking_ = std::make_shared<const ShellOptions>(options);
  if (graph.directed()) {
    // The shells of the transposed graph take as much again.
    detail::make_in_half(options.memory, [&](std::uint64_t memory) {
      ShellOptions of_half = options;
      of_half.memory = memory;
      shells_ = std::make_shared<const Shells>(build_shells(graph, of_half));
    });
  } else {
    shells_ = std::make_shared<const Shells>(build_shells(graph, options));
  }
  layout_ = std::make_shared<const filter::ListLayout>(*shells_, options.threads);
  // Only where nothing is held will the graph be asked again.
  const bool streaming = shells_->storage() == Storage::stream;
  graph_ = std::make_shared<const Graph>(streaming ? graph : Graph());
  back_ = shells_;
  back_layout_ = layout_;
  back_graph_ = graph_;
  if (!graph.directed()) return;
  Graph back = transpose(graph);
  options.storage = shells_->storage();
  back_ = std::make_shared<const Shells>(build_shells(back, options));
  back_layout_ = std::make_shared<const filter::ListLayout>(*back_, options.threads);
  back_graph_ = std::make_shared<const Graph>(streaming ? std::move(back) : Graph());
}

void NeighborhoodFilter::set_taps(Taps taps) {
  filter::check_taps(taps, nodes_);
  if (taps.count() != taps_.count()) {
    detail::fail("{} taps for a filter of {}", taps.count(), taps_.count());
  }
  if (twins_ != nullptr && !filter::within_groups(*twins_, taps.group_of())) {
    *this = NeighborhoodFilter(Graph(*whole_), std::move(taps), options_);
    return;
  }
  taps_ = std::move(taps);
}

NodeId NeighborhoodFilter::rows() const {
  return options_.partition == nullptr ? nodes_ : options_.partition->own().count();
}

double NeighborhoodFilter::flops(std::int64_t width) const {
  double pairs = 0;
  if (shells_->storage() == Storage::sparse) {
    for (const std::uint64_t count : shells_->pairs()) pairs += static_cast<double>(count);
  } else {
    pairs = static_cast<double>(shells_->rows().count()) * static_cast<double>(shells_->nodes());
  }
  return 2 * pairs * static_cast<double>(width);
}

LargestValue NeighborhoodFilter::largest_value(std::size_t k) const {
  if (k < scales_->largest.size()) return scales_->largest[k];
  return FilterRun(*this).largest_value(k);
}

template <typename Real>
SignalsOf<Real> NeighborhoodFilter::apply(const SignalsOf<Real>& x) const {
  const FilterRun run(*this);
  return run.apply(run.factors<Real>(false), x, false);
}

template <typename Real>
SignalsOf<Real> NeighborhoodFilter::apply_transpose(const SignalsOf<Real>& x) const {
  const FilterRun run(*this);
  return run.apply(run.factors<Real>(true), x, true);
}

template <typename Real>
void NeighborhoodFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
  filter::check_signals<Real>(x, y, rows());
  const FilterRun run(*this);
  run.apply_to<Real>(run.factors<Real>(false), x, y, false);
}

template <typename Real>
void NeighborhoodFilter::apply_transpose_to(const SignalsView<Real>& x,
                                            SignalsSlice<Real> y) const {
  filter::check_signals<Real>(x, y, rows());
  const FilterRun run(*this);
  run.apply_to<Real>(run.factors<Real>(true), x, y, true);
}

template <typename Real>
SignalsOf<Real> NeighborhoodFilter::apply_shell(std::size_t k, const SignalsOf<Real>& x) const {
  const FilterRun run(*this);
  return run.apply(run.one_shell<Real>(k, false), x, false);
}

template <typename Real>
FilterGradients<Real> NeighborhoodFilter::gradients(const SignalsOf<Real>& x,
                                                    const SignalsOf<Real>& by_output) const {
  return gradients_of<Real>(x, by_output);
}

template <typename Real>
FilterGradients<Real> NeighborhoodFilter::gradients_of(const SignalsView<Real>& x,
                                                       const SignalsView<Real>& by_output) const {
  FilterGradients<Real> result;
  result.input.resize(x.rows(), x.cols());
  result.taps = gradients_to<Real>(x, by_output, result.input);
  return result;
}

template <typename Real>
std::vector<double> NeighborhoodFilter::gradients_to(const SignalsView<Real>& x,
                                                     const SignalsView<Real>& by_output,
                                                     SignalsSlice<Real> by_input) const {
  filter::check_gradients<Real>(x, by_output, by_input, rows());
  const FilterRun run(*this);
  Matrix dots;
  if (taps_.node_variant()) {
    run.apply_to<Real>(run.factors<Real>(true), by_output, by_input, true);
    dots = run.correlate<Real>(run.shells_alone<Real>(false), x, by_output, nullptr, nullptr, false,
                               false);
  } else {
    // <G, A_k X> = <A_k' G, X>, and A_k' G is what the gradient by X is made of.
    const auto with_taps = run.factors<Real>(true);
    dots = run.correlate<Real>(run.shells_alone<Real>(true), by_output, x, &with_taps, &by_input,
                               shells_ == back_, true);
  }
  // In the order of the nodes, whatever the threads did.
  std::vector<double> by_taps(taps_.values().size(), 0);
  const std::size_t count = taps_.count();
  const RowRange& range = shells_->rows();
  for (NodeId row = range.begin; row < range.end; ++row) {
    const NodeId u = twins_ == nullptr ? row : twins_->first(row);
    double* const of_group = by_taps.data() + taps_.group(u) * count;
    const double* const of_row = dots.data() + (row - range.begin) * count;
    for (std::size_t k = 0; k < count; ++k) of_group[k] += of_row[k];
  }
  if (options_.partition != nullptr) options_.partition->communicator().sum(std::span(by_taps));
  return by_taps;
}

template void NeighborhoodFilter::apply_to(const SignalsView<float>&, SignalsSlice<float>) const;
template void NeighborhoodFilter::apply_transpose_to(const SignalsView<float>&,
                                                     SignalsSlice<float>) const;
template void NeighborhoodFilter::apply_to(const SignalsView<double>&, SignalsSlice<double>) const;
template void NeighborhoodFilter::apply_transpose_to(const SignalsView<double>&,
                                                     SignalsSlice<double>) const;
template SignalsOf<float> NeighborhoodFilter::apply(const SignalsOf<float>&) const;
template SignalsOf<double> NeighborhoodFilter::apply(const SignalsOf<double>&) const;
template SignalsOf<float> NeighborhoodFilter::apply_transpose(const SignalsOf<float>&) const;
template SignalsOf<double> NeighborhoodFilter::apply_transpose(const SignalsOf<double>&) const;
template SignalsOf<float> NeighborhoodFilter::apply_shell(std::size_t,
                                                          const SignalsOf<float>&) const;
template SignalsOf<double> NeighborhoodFilter::apply_shell(std::size_t,
                                                           const SignalsOf<double>&) const;
template FilterGradients<float> NeighborhoodFilter::gradients(const SignalsOf<float>&,
                                                              const SignalsOf<float>&) const;
template FilterGradients<double> NeighborhoodFilter::gradients(const SignalsOf<double>&,
                                                               const SignalsOf<double>&) const;
template std::vector<double> NeighborhoodFilter::gradients_to(const SignalsView<float>&,
                                                              const SignalsView<float>&,
                                                              SignalsSlice<float>) const;
template std::vector<double> NeighborhoodFilter::gradients_to(const SignalsView<double>&,
                                                              const SignalsView<double>&,
                                                              SignalsSlice<double>) const;
template FilterGradients<float> NeighborhoodFilter::gradients_of(const SignalsView<float>&,
                                                                 const SignalsView<float>&) const;
template FilterGradients<double> NeighborhoodFilter::gradients_of(const SignalsView<double>&,
                                                                  const SignalsView<double>&) const;

}  // namespace ngf
