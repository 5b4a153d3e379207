#include "filter/forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "filter/reference.hpp"
#include "kernels/target.hpp"
#include "ngf/error.hpp"
#include "ngf/filter.hpp"
#include "tests/support.hpp"

/// Each product form, forced on each instruction set, against the specification.
namespace ngf {
namespace {

constexpr std::array all_forms{
    ProductForm::short_lists,    ProductForm::paired_lists, ProductForm::lists,
    ProductForm::streamed_lists, ProductForm::hop_sum,      ProductForm::hop_lookup,
    ProductForm::hop_half,       ProductForm::hop_blocks,   ProductForm::hop_tiles};
constexpr std::size_t tap_count = 5;
constexpr Eigen::Index widest = 20;

/// A filter by definition, and its products with some signals.
struct Case {
  Taps taps;
  Normalization normalization = Normalization::none;
  std::vector<Eigen::MatrixXd> parts = {};  ///< A_k X
  Eigen::MatrixXd product = {};             ///< H X
  Eigen::MatrixXd transposed = {};          ///< H' X
};

Matrix random_signals(NodeId nodes, std::uint64_t seed) {
  Random random(seed);
  Matrix x(nodes, widest);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  return x;
}

std::vector<Case> make_cases(const Graph& graph, const Matrix& x) {
  std::vector<std::uint32_t> group(graph.nodes());
  for (NodeId u = 0; u < graph.nodes(); ++u) group[u] = u % 2;
  std::vector<Case> cases{
      {.taps = {0.5, -1, 2, 0.25, 1.5}},
      {.taps = {0, 0, 3, 0, 0}},
      {.taps = {0.5, -1, 2, 0.25, 1.5}, .normalization = Normalization::symmetric},
      {.taps = Taps(tap_count, {1, 2, 3, 4, 5, -1, 0.5, 0, 2, 1}, group),
       .normalization = Normalization::row}};
  for (Case& own : cases) {
    const auto shells = filter::reference_shells(graph, tap_count, own.normalization);
    for (const Eigen::MatrixXd& shell : shells) own.parts.emplace_back(shell * x);
    const Eigen::MatrixXd h = filter::reference_filter(own.taps, shells);
    own.product = h * x;
    own.transposed = h.transpose() * x;
  }
  return cases;
}

template <typename Real>
void expect_near(const SignalsOf<Real>& found, const Eigen::MatrixXd& expected) {
  const double tolerance = std::is_same_v<Real, float> ? 1e-5 : 1e-10;
  const Eigen::MatrixXd error = found.template cast<double>() - expected;
  EXPECT_LE(error.norm(), tolerance * (1 + expected.norm()));
}

/// The gradients by the taps are <G, A_k X>, of the last columns of X.
void expect_tap_gradient(const std::vector<double>& found, const Case& own, const Matrix& g,
                         double tolerance) {
  ASSERT_EQ(found.size(), tap_count);
  for (std::size_t k = 0; k < tap_count; ++k) {
    const Eigen::MatrixXd product = own.parts[k].rightCols(g.cols());
    EXPECT_NEAR(found[k], product.cwiseProduct(g).sum(),
                tolerance * (1 + product.norm() * g.norm()));
  }
}

/// Whether the form takes signals of this width; if so, everything that it computes is compared.
template <typename Real>
bool check_form(const NeighborhoodFilter& filter, ProductForm form, const Case& own,
                const Matrix& all, Eigen::Index width) {
  try {
    EXPECT_EQ(filter.form<Real>(width), form);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(form_name(form)), std::string::npos);
    const SignalsOf<Real> x = all.leftCols(width).cast<Real>();
    EXPECT_THROW(filter.apply(x), Error);
    return false;
  }
  SCOPED_TRACE(fmt::format("{}, {}, {} columns of {} bytes", form_name(form),
                           normalization_name(own.normalization), width, sizeof(Real)));
  const Matrix some = all.leftCols(width);
  const SignalsOf<Real> x = some.cast<Real>();
  const SignalsOf<Real> g = all.rightCols(width).cast<Real>();
  expect_near<Real>(filter.apply(x), own.product.leftCols(width));
  // The transpose of a filter whose factors differ by row has factors that differ by column.
  if (own.taps.node_variant() || own.normalization == Normalization::row) return true;
  expect_near<Real>(filter.apply_transpose(x), own.transposed.leftCols(width));
  const auto gradients = filter.gradients(g, x);
  expect_near<Real>(gradients.input, own.transposed.leftCols(width));
  expect_tap_gradient(gradients.taps, own, some, std::is_same_v<Real, float> ? 1e-5 : 1e-10);
  return true;
}

Shells build(const Graph& graph, Storage storage) {
  ShellOptions options{.hops = tap_count - 1, .storage = storage};
  options.transposed = true;
  options.threads = 1;
  return build_shells(graph, options);
}

class Forms : public testing::TestWithParam<NodeId> {
 protected:
  ~Forms() override { kernels::use_target(before_); }

 private:
  std::string before_ = kernels::current_target();
};

TEST_P(Forms, EqualTheReferenceOnEveryInstructionSet) {
  const NodeId nodes = GetParam();
  for (const bool directed : {false, true}) {
    const Graph graph = build_graph(nodes, test::random_edges(nodes, nodes * std::size_t{3} / 2, 1),
                                    {.directed = directed});
    const Matrix x = random_signals(nodes, 3);
    const std::vector<Case> cases = make_cases(graph, x);
    for (const std::string& target : kernels::available_targets()) {
      kernels::use_target(target);
      SCOPED_TRACE(target + (directed ? ", directed" : ", undirected"));
      std::set<ProductForm> seen;
      for (const ProductForm form : all_forms) {
        const Shells shells = build(graph, filter::storage_of(form));
        for (const Case& own : cases) {
          const NeighborhoodFilter filter(shells, own.taps, own.normalization, form);
          for (const Eigen::Index width : {Eigen::Index{1}, Eigen::Index{5}, widest}) {
            bool ran = check_form<float>(filter, form, own, x, width);
            ran = check_form<double>(filter, form, own, x, width) || ran;
            if (ran) seen.insert(form);
          }
        }
      }
      std::set<ProductForm> expected(all_forms.begin(), all_forms.end());
      if (!filter::table_in_registers(tap_count, true)) {
        for (const ProductForm form :
             {ProductForm::hop_sum, ProductForm::hop_lookup, ProductForm::hop_blocks}) {
          expected.erase(form);
        }
      }
      if (directed || !filter::table_in_registers(tap_count, true)) {
        expected.erase(ProductForm::hop_half);
      }
      EXPECT_EQ(seen, expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Forms, testing::Values(1, 7, 8, 9, 63, 64, 65, 511, 512, 513));

TEST(ProductForms, HaveNames) {
  std::set<std::string_view> names;
  for (const ProductForm form : all_forms) names.insert(form_name(form));
  EXPECT_EQ(names.size(), all_forms.size());
  EXPECT_EQ(form_name(ProductForm::automatic), "auto");
}

TEST(ProductForms, NeedTheirStorage) {
  const Graph graph = build_graph(20, test::random_edges(20, 30, 1));
  FilterOptions options;
  options.form = ProductForm::hop_tiles;
  EXPECT_EQ(plan_filter(graph, {1, 1}, options).shells.storage, Storage::dense);
  options.shells.storage = Storage::sparse;
  const auto plan = [&] { plan_filter(graph, {1, 1}, options); };
  EXPECT_NE(test::error_of<Error>(plan).find("hop-tiles"), std::string::npos);
  EXPECT_NE(test::error_of<Error>(plan).find("dense"), std::string::npos);
}

TEST(ProductForms, ThePlanNamesTheFormThatRuns) {
  const Graph graph = build_graph(300, test::random_edges(300, 500, 1));
  for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
    for (const Merging merging : {Merging::never, Merging::always}) {
      for (const bool in_double : {false, true}) {
        for (const std::int64_t width : {1, 7, 64}) {
          FilterOptions options;
          options.shells.storage = storage;
          options.merging = merging;
          options.width = width;
          options.in_double = in_double;
          const Taps taps{1, 0.5, 0.25, 2};
          const FilterPlan plan = plan_filter(graph, taps, options);
          const NeighborhoodFilter filter(build_shells(graph, plan.shells), taps, plan);
          EXPECT_EQ(in_double ? filter.form<double>(width) : filter.form<float>(width), plan.form)
              << form_name(plan.form) << ", " << width << " columns";
        }
      }
    }
  }
}

}  // namespace
}  // namespace ngf
