#include "filter/list_layout.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "filter/costs.hpp"
#include "filter/forms.hpp"

namespace ngf::filter {

namespace {

/// The rows in breadth-first order; where a search ends, the next starts at the smallest row that
/// is left.
template <typename Column>
std::vector<NodeId> search_order(const ColumnLists<Column>& lists) {
  const RowRange& rows = lists.rows();
  std::vector<NodeId> order;
  order.reserve(rows.count());
  std::vector<char> seen(rows.count(), 0);
  const auto visit = [&](NodeId v) {
    if (!rows.contains(v) || seen[v - rows.begin] != 0) return;
    order.push_back(v);
    seen[v - rows.begin] = 1;
  };
  for (NodeId start = rows.begin; start < rows.end; ++start) {
    std::size_t next = order.size();
    visit(start);
    for (; next < order.size(); ++next) {
      for (const NodeId v : lists.columns(order[next], 1)) visit(v);
    }
  }
  return order;
}

/// Tiles so small that one fits into the caches, unless rows would have too few columns in each:
/// then beginning with them takes too long.
std::size_t count_tiles(const ShellPlan& plan, double pairs) {
  const std::size_t bytes = plan.nodes * costs::panel_lines * 64;
  const std::uint64_t rows_and_hops = std::max<std::uint64_t>(plan.options.hops, 1) *
                                      std::max<std::uint64_t>(plan.options.rows.count(), 1);
  const double per_tile = costs::fewest_tile_columns * static_cast<double>(rows_and_hops);
  const auto most = static_cast<std::size_t>(pairs / per_tile);
  const std::size_t wanted = (bytes + costs::panel_tile_bytes - 1) / costs::panel_tile_bytes;
  return std::clamp<std::size_t>(wanted, 1, std::clamp<std::size_t>(most, 1, costs::most_tiles));
}

/// Whether there is memory for paired lists.
bool pairs_fit(const ShellPlan& plan, double pairs) {
  const std::uint64_t bytes = most_paired_bytes(
      plan.options.rows.count(), static_cast<std::uint64_t>(pairs), plan.options.hops,
      count_tiles(plan, pairs), plan.nodes <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4);
  return plan.sparse_bytes + bytes <= plan.budget;
}

}  // namespace

ProductForm layout_form(const ShellPlan& plan, double pairs) {
  const double rows = plan.options.rows.count();
  if (pairs <= rows) return ProductForm::lists;
  if (pairs < costs::short_row * rows) return ProductForm::short_lists;
  const bool paired = plan.options.hops <= kernels::most_paired_hops && pairs_fit(plan, pairs);
  return paired ? ProductForm::paired_lists : ProductForm::lists;
}

double pairs_held(const Shells& shells) {
  double pairs = 0;
  on_lists(shells, [&](const auto& held) {
    pairs = static_cast<double>(held.columns_held() + held.rows().count());
  });
  return pairs;
}

ListLayout::ListLayout(const Shells& shells, ProductForm wanted) {
  on_lists(shells, [&]<typename Column>(const ColumnLists<Column>& held) {
    form = wanted;
    if (form != ProductForm::lists) order = search_order(held);
    if (form != ProductForm::paired_lists) return;
    const ShellPlan& plan = shells.plan();
    pairs.emplace<PairedLists<Column>>(held, shells.nodes(), order,
                                       count_tiles(plan, pairs_held(shells)), plan.options.threads);
    order.clear();
  });
}

Layouts::Layouts(const Shells& shells, ProductForm form) : forward(shells, form) {
  const Shells* const transposed = shells.transposed();
  if (transposed == nullptr || transposed == &shells) return;
  back = std::make_unique<const ListLayout>(*transposed, form);
}

std::shared_ptr<const Layouts> make_layouts(const Shells& shells, ProductForm form) {
  if (form == ProductForm::automatic || storage_of(form) != Storage::sparse) {
    form = layout_form(shells.plan(), pairs_held(shells));
  } else if (form == ProductForm::paired_lists &&
             shells.plan().options.hops > kernels::most_paired_hops) {
    fail("the product form {} is for at most {} hops, not {}", form_name(form),
         kernels::most_paired_hops, shells.plan().options.hops);
  }
  return std::make_shared<const Layouts>(shells, form);
}

}  // namespace ngf::filter
