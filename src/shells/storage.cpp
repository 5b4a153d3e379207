// What holds shells: lists of columns, and matrices of hops.

#include <array>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/names.hpp"
#include "base/parallel.hpp"
#include "kernels/walk_rows.hpp"
#include "ngf/shells.hpp"
#include "shells/costs.hpp"
#include "shells/plan.hpp"
#include "shells/twins.hpp"

namespace ngf {

template <typename Hop>
HopMatrix<Hop>::HopMatrix(NodeId nodes, const RowRange& rows)
    : nodes_(nodes),
      rows_(rows.within(nodes)),
      stride_((nodes + kernels::column_step - 1) / kernels::column_step * kernels::column_step),
      values_(static_cast<Hop*>(detail::allocate_aligned(rows_.count() * stride_ * sizeof(Hop)))) {}

template <typename Hop>
void HopMatrix<Hop>::Free::operator()(Hop* values) const noexcept {
  std::free(values);
}

template class HopMatrix<std::uint8_t>;
template class HopMatrix<std::uint16_t>;

template <typename Column>
std::uint64_t ColumnLists<Column>::columns_held() const {
  const std::size_t row_places = hops_ + std::size_t{1};
  std::uint64_t columns = 0;
  for (std::size_t begin = 0; begin < places_.size(); begin += row_places) {
    columns += places_[begin + hops_] - places_[begin];
  }
  return columns;
}

template <typename Column>
std::uint64_t ColumnLists<Column>::bytes() const {
  return (block_.size() + columns_held()) * sizeof(Column) + places_.size() * sizeof(places_[0]);
}

template <typename Column>
void ColumnLists<Column>::add(std::size_t block, const ShellRows<Column>& rows) {
  const auto& columns = rows.columns;
  if (columns.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail("lists of {} columns are too long for one block; ask for fewer hops", columns.size());
  }
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  blocks_[block] = std::make_unique_for_overwrite<Column[]>(columns.size());
  std::copy(columns.begin(), columns.end(), blocks_[block].get());
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::size_t row = rows.rows[i] - rows_.begin;
    block_[row] = static_cast<Column>(block);
    std::uint32_t* const places = places_.data() + row * (hops_ + std::size_t{1});
    places[0] = begin;
    for (std::uint32_t k = 1; k <= hops_; ++k) places[k] = begin + rows.ends[i * hops_ + k - 1];
    begin = places[hops_];
  }
}

template class ColumnLists<std::uint16_t>;
template class ColumnLists<std::uint32_t>;

namespace {

namespace costs = shells::costs;

void add(std::vector<std::uint64_t>& pairs, std::size_t hop, std::uint64_t count) {
  if (pairs.size() <= hop) pairs.resize(hop + 1, 0);
  pairs[hop] += count;
}

/// Some hops at a time until all of the rows are counted. Rows `begin` to `end` - 1 of those held,
/// and of each the columns beyond its own node where the matrix is symmetric.
void count_rows(const HopMatrix<std::uint8_t>& matrix, std::size_t begin, std::size_t end,
                std::uint32_t hops, bool symmetric, std::vector<std::uint64_t>& pairs) {
  kernels::HopRows rows{.values = nullptr,
                        .stride = matrix.stride(),
                        .count = 0,
                        .columns = matrix.nodes(),
                        .begin = 0,
                        .shift = symmetric ? 1U : 0U};
  // A pass reads the rows, which fit the nearest caches.
  const std::size_t together = std::max<std::size_t>(1, costs::bytes_counted / matrix.stride());
  for (; begin < end; begin += rows.count) {
    rows.values = matrix.row(matrix.rows().begin + static_cast<NodeId>(begin)).data();
    rows.count = std::min(together, end - begin);
    rows.begin = symmetric ? begin + 1 : 0;
    std::uint32_t beyond = 1;
    for (std::uint32_t first = 0; first < beyond; first += kernels::hops_together) {
      std::array<std::uint64_t, kernels::hops_together> found{};
      beyond =
          kernels::walk_rows().count_hops(rows, static_cast<std::uint8_t>(first), found.data());
      for (std::uint32_t i = 0; i < found.size() && first + i <= hops; ++i) {
        if (found[i] > 0) add(pairs, first + i, found[i]);
      }
    }
  }
}

void count_rows(const HopMatrix<std::uint16_t>& matrix, std::size_t begin, std::size_t end,
                std::uint32_t hops, bool symmetric, std::vector<std::uint64_t>& pairs) {
  for (std::size_t row = begin; row < end; ++row) {
    const auto all = matrix.row(matrix.rows().begin + static_cast<NodeId>(row));
    for (const std::uint16_t hop : all.subspan(symmetric ? row + 1 : 0)) {
      if (hop != HopMatrix<std::uint16_t>::farther && hop <= hops) add(pairs, hop, 1);
    }
  }
}

/// Pairs by hop. Of hops that are the same both ways, half are counted.
template <typename Hop>
std::vector<std::uint64_t> count_hops(const HopMatrix<Hop>& matrix, std::uint32_t hops,
                                      bool symmetric, int threads) {
  const RowRange rows = matrix.rows();
  std::vector<std::uint64_t> result;
  std::mutex mutex;
  parallel_ranges(rows.count(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> own;
    count_rows(matrix, begin, end, hops, symmetric, own);
    const std::lock_guard lock(mutex);
    for (std::size_t hop = 0; hop < own.size(); ++hop) add(result, hop, own[hop]);
  });
  if (!symmetric) return result;
  for (std::uint64_t& count : result) count *= 2;
  if (rows.count() > 0) add(result, 0, rows.count());
  return result;
}

}  // namespace

std::string_view storage_name(Storage storage) {
  return detail::name_in({"auto", "sparse", "dense", "stream"}, storage);
}

std::string_view engine_name(Engine engine) {
  return detail::name_in({"auto", "bits", "queue"}, engine);
}

std::uint64_t ShellPlan::bytes_of(Storage kind) const {
  if (kind == Storage::sparse) return sparse_bytes;
  return kind == Storage::dense ? dense_bytes : stream_bytes;
}

Shells::Shells(const Graph& graph, ShellPlan plan, Held held,
               std::shared_ptr<const Shells> transposed)
    : nodes_(graph.nodes()),
      directed_(graph.directed()),
      graph_(plan.storage == Storage::stream ? graph : Graph()),
      plan_(std::make_shared<const ShellPlan>(std::move(plan))),
      held_(std::make_shared<const Held>(std::move(held))),
      transposed_(std::move(transposed)) {}

NodeId Shells::graph_nodes() const {
  return twins() == nullptr ? nodes_ : static_cast<NodeId>(twins()->class_of.size());
}

RowRange Shells::graph_rows() const {
  return twins() == nullptr ? rows() : twins()->members_of(rows());
}

const Shells* Shells::transposed() const { return directed_ ? transposed_.get() : this; }

std::uint64_t Shells::bytes() const {
  std::uint64_t total = transposed_ == nullptr ? 0 : transposed_->bytes();
  const auto add = [&](const auto& held) {
    if constexpr (requires { held.bytes(); }) total += held.bytes();
  };
  std::visit(add, *held_);
  return total;
}

std::vector<std::uint64_t> Shells::pairs() const {
  ++shells::pair_scans;
  std::vector<std::uint64_t> result;
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.stride(); }) {
          const bool symmetric = !directed_ && rows().count() == nodes_;
          result = count_hops(held, hops(), symmetric, plan_->options.threads);
        } else if constexpr (requires { held.places(0); }) {
          result.assign(held.hops() + std::size_t{1}, 0);
          result[0] = rows().count();
          for (NodeId u = rows().begin; u < rows().end; ++u) {
            for (std::uint32_t k = 1; k <= held.hops(); ++k) result[k] += held.columns(u, k).size();
          }
        }
      },
      *held_);
  while (!result.empty() && result.back() == 0) result.pop_back();
  return result;
}

std::vector<NodeId> Shells::columns(NodeId u, std::uint32_t hop) const {
  std::vector<NodeId> result;
  const auto collect = [&](const auto& held) {
    if constexpr (requires { held.stride(); }) {
      for (NodeId v = 0; v < nodes_; ++v) {
        if (held(u, v) == hop) result.push_back(v);
      }
    } else if constexpr (requires { held.places(0); }) {
      if (hop == 0) {
        result.push_back(u);
      } else if (hop <= held.hops()) {
        const auto found = held.columns(u, hop);
        result.assign(found.begin(), found.end());
      }
    }
  };
  std::visit(collect, *held_);
  return result;
}

}  // namespace ngf
