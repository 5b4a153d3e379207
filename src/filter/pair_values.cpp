// A weight for each pair of the shells: max(0, cosine)^p, normalised.

#include "filter/pair_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "filter/costs.hpp"
#include "filter/list_layout.hpp"
#include "filter/pair_rows.hpp"

namespace ngf::filter {

namespace {

/// Calls body(u, thread) for each row, in parallel.
template <typename Body>
void for_each_listed_row(NodeId rows, int threads, const Progress* progress, const Body& body) {
  constexpr std::size_t step = costs::pair_rows_at_once;
  parallel_for((rows + step - 1) / step, threads, [&](std::size_t block, std::size_t thread) {
    throw_if_stopped(progress);
    const std::size_t end = std::min<std::size_t>(rows, (block + 1) * step);
    for (std::size_t u = block * step; u < end; ++u) body(static_cast<NodeId>(u), thread);
  });
}

/// Weights that are not normalised.
PairValues find_weights(const Shells& shells, const ListLayout& layout, const UnitRows& rows,
                        double power, const Progress* progress) {
  const std::vector<NodeId>& order = layout.order;
  PairValues result;
  const NodeId nodes = shells.nodes();
  const int threads = shells.plan().options.threads;
  on_lists(shells, [&]<typename Column>(const ColumnLists<Column>& lists) {
    result.begins.reserve(nodes + std::size_t{1});
    result.begins.push_back(0);
    for (NodeId u = 0; u < nodes; ++u) {
      const auto places = lists.places(u);
      result.begins.push_back(result.begins.back() + places.back() - places.front());
    }
    result.values.resize(result.begins.back());
    std::vector<std::unique_ptr<RowWeights>> of_threads(
        static_cast<std::size_t>(thread_count(threads)));
    for_each_listed_row(nodes, threads, progress, [&](NodeId place, std::size_t thread) {
      const NodeId u = order.empty() ? place : order[place];
      auto& own = of_threads[thread];
      if (own == nullptr) own = std::make_unique<RowWeights>(rows, power);
      const std::size_t count = result.begins[u + std::size_t{1}] - result.begins[u];
      const std::span<const Column> columns(lists.block(u) + lists.places(u).front(), count);
      own->find(u, columns, result.values.data() + result.begins[u]);
    });
  });
  return result;
}

/// The sum of the weights of each row (row) and hop (column).
Matrix sum_weights(const Shells& shells, const PairValues& weights) {
  const std::size_t count = shells.hops() + std::size_t{1};
  Matrix sums(shells.nodes(), static_cast<Eigen::Index>(count));
  on_lists(shells, [&](const auto& lists) {
    const auto sum_row = [&](NodeId u, std::size_t /*thread*/) {
      const auto places = lists.places(u);
      const float* const row = weights.row(u);
      double* const to = sums.row(u).data();
      to[0] = 1;
      for (std::size_t k = 1; k < count; ++k) {
        to[k] =
            std::accumulate(row + (places[k - 1] - places[0]), row + (places[k] - places[0]), 0.0);
      }
    };
    for_each_listed_row(shells.nodes(), shells.plan().options.threads, nullptr, sum_row);
  });
  return sums;
}

/// The same of rows that are found on the way.
Matrix sum_found_weights(const Shells& shells, const PairStream& stream, Progress* progress) {
  const std::size_t hops = shells.hops();
  Matrix sums(shells.nodes(), static_cast<Eigen::Index>(hops + 1));
  const auto take = [&](const ShellRows<NodeId>& rows) {
    FoundWeights weights(stream);
    const NodeId* columns = rows.columns.data();
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const std::uint32_t* const ends = rows.ends.data() + i * hops;
      const std::size_t count = hops == 0 ? 0 : ends[hops - 1];
      const float* from = weights.of(rows.rows[i], {columns, count});
      double* const to = sums.row(rows.rows[i]).data();
      to[0] = 1;
      const float* const begin = from;
      for (std::size_t k = 1; k <= hops; ++k) {
        to[k] = std::accumulate(from, begin + ends[k - 1], 0.0);
        from = begin + ends[k - 1];
      }
      columns += count;
    }
  };
  stream_shells(shells.graph(), shells.plan(), take, progress);
  return sums;
}

/// Multiplies weights by the factors of their rows and columns.
void multiply_weights(const Shells& shells, const std::vector<std::vector<double>>& of_rows,
                      const std::vector<std::vector<double>>& of_columns, PairValues& weights) {
  on_lists(shells, [&](const auto& lists) {
    const auto multiply_row = [&](NodeId u, std::size_t /*thread*/) {
      float* to = weights.values.data() + weights.begins[u];
      for (std::uint32_t k = 1; k < of_rows.size(); ++k) {
        for (const std::size_t v : lists.columns(u, k)) {
          *to = static_cast<float>(static_cast<double>(*to) * (of_rows[k][u] * of_columns[k][v]));
          ++to;
        }
      }
    };
    for_each_listed_row(shells.nodes(), shells.plan().options.threads, nullptr, multiply_row);
  });
}

}  // namespace

std::uint64_t PairTables::bytes() const {
  const auto of = [](const PairValues& table) {
    return table.values.size() * sizeof(float) + table.begins.size() * sizeof(table.begins[0]);
  };
  std::uint64_t factors = 0;
  if (scales != nullptr) {
    for (const auto* const side : {&scales->left, &scales->right}) {
      for (const auto& of_hop : *side) factors += of_hop.size() * sizeof(double);
    }
  }
  return of(forward) + (back == nullptr ? 0 : of(*back)) + factors;
}

void check_held(const Shells& shells) {
  if (shells.storage() != Storage::sparse) fail("the weights of streamed shells are not held");
}

std::uint64_t pair_table_bytes(NodeId nodes, std::uint32_t hops, bool directed, double pairs) {
  const std::uint64_t factors = (hops + std::uint64_t{1}) * sizeof(double);
  const std::uint64_t ways = directed ? 2 : 1;
  return ways * (static_cast<std::uint64_t>(pairs) * sizeof(float) +
                 nodes * (2 * factors + sizeof(std::uint64_t)));
}

PairTables make_pair_tables(const Shells& shells, const Layouts& layouts,
                            const Embeddings& embeddings, double power, Normalization normalization,
                            Progress* progress) {
  PairTables tables;
  const Shells* const transposed = shells.transposed();
  const bool directed = transposed != nullptr && transposed != &shells;
  const bool streamed = shells.storage() == Storage::stream;
  if (streamed) {
    tables.stream = std::make_unique<const PairStream>(PairStream{embeddings, power});
  } else {
    const UnitRows& rows = embeddings.rows();
    tables.forward = find_weights(shells, layouts.forward, rows, power, progress);
    if (directed) {
      tables.back = std::make_unique<PairValues>(
          find_weights(*transposed, *layouts.back, rows, power, progress));
    }
  }
  if (normalization == Normalization::none) return tables;
  const auto sums = [&](bool back) {
    const Shells& own = back ? *transposed : shells;
    if (streamed) return sum_found_weights(own, *tables.stream, progress);
    return sum_weights(own, back && directed ? *tables.back : tables.forward);
  };
  tables.scales = std::make_unique<const ShellScales>(make_scales(
      normalization, shells.hops() + std::size_t{1}, {.degrees = sums, .largest = nullptr}));
  tables.scaled = !streamed && normalization == Normalization::symmetric;
  if (tables.scaled) {
    const auto& [factor, left, right, largest] = *tables.scales;
    multiply_weights(shells, left, right, tables.forward);
    if (directed) multiply_weights(*transposed, right, left, *tables.back);
  }
  return tables;
}

}  // namespace ngf::filter
