#include "ngf/generate.hpp"

#include <array>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "graph/build_rows.hpp"

namespace ngf {

using detail::checked_nodes;

namespace detail {

NodeId checked_nodes(std::uint64_t nodes, double edges, const GenerateOptions& options) {
  constexpr std::uint64_t limit = std::numeric_limits<NodeId>::max();
  if (nodes >= limit) fail("a graph of {} nodes: at most {} are possible", nodes, limit - 1);
  // A node takes an offset and a cursor, an edge a place in a list that grows and one in two rows.
  const double bytes = 16 * static_cast<double>(nodes) + 24 * edges;
  check_budget(bytes < 0x1p63 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63,
               options.memory, fmt::format("a graph of {} nodes and {:.0f} edges", nodes, edges));
  return static_cast<NodeId>(nodes);
}

}  // namespace detail

namespace {

void check_probability(std::string_view model, std::string_view name, double value) {
  if (!(value >= 0 && value <= 1)) {
    fail("{}: {}={} is not a probability: it must be from 0 to 1", model, name, value);
  }
}

double pairs(double nodes) { return nodes * (nodes - 1) / 2; }

Graph finish(NodeId nodes, std::vector<EdgeBlock> blocks, const GenerateOptions& options) {
  return build_graph(
      nodes, std::move(blocks),
      {.threads = options.threads, .memory = options.memory, .progress = options.progress});
}

/// Calls add(i, edges) for the items 0..count-1 on all threads, and builds what they add.
template <typename Add>
Graph from_items(NodeId nodes, std::uint64_t count, const GenerateOptions& options,
                 const Add& add) {
  const std::uint64_t step = std::max<std::uint64_t>(64, count / 4096);
  std::vector<EdgeBlock> blocks((count + step - 1) / step);
  std::atomic<std::uint64_t> done{0};
  parallel_for(blocks.size(), options.threads, [&](std::size_t block) {
    throw_if_stopped(options.progress);
    const std::uint64_t end = std::min(count, (block + 1) * step);
    for (std::uint64_t i = block * step; i < end; ++i) add(i, blocks[block].edges);
    if (options.progress != nullptr) options.progress->report(++done, blocks.size());
  });
  return finish(nodes, std::move(blocks), options);
}

/// Joins u to each node of [begin, end) with probability p, at the cost of the edges alone.
void join_at_random(NodeId u, NodeId begin, NodeId end, double p, Random& random,
                    std::vector<Edge>& edges) {
  if (p <= 0) return;
  std::uint64_t v = begin;
  for (;;) {
    const std::uint64_t skip = random.geometric(p);
    if (v >= end || skip >= end - v) return;
    v += skip;
    edges.push_back({u, static_cast<NodeId>(v)});
    ++v;
  }
}

}  // namespace

Graph erdos_renyi(std::uint64_t nodes, double p, std::uint64_t seed,
                  const GenerateOptions& options) {
  check_probability("er", "p", p);
  const NodeId N = checked_nodes(nodes, p * pairs(static_cast<double>(nodes)), options);
  return from_items(N, N, options, [&](std::uint64_t i, std::vector<Edge>& edges) {
    const auto u = static_cast<NodeId>(i);
    Random random = random_for(seed, Use::erdos_renyi, u);
    join_at_random(u, u + 1, N, p, random, edges);
  });
}

Graph stochastic_block_model(std::uint64_t nodes, std::uint64_t blocks, double p, double q,
                             std::uint64_t seed, const GenerateOptions& options) {
  check_probability("sbm", "p", p);
  check_probability("sbm", "q", q);
  if (blocks < 1 || blocks > std::max<std::uint64_t>(nodes, 1)) {
    fail("sbm: blocks={} must be from 1 to the number of nodes, {}", blocks, nodes);
  }
  const auto B = static_cast<double>(blocks);
  const double inside = B * pairs(static_cast<double>(nodes) / B);
  const double across = pairs(static_cast<double>(nodes)) - inside;
  const NodeId N = checked_nodes(nodes, p * std::max(inside, 0.0) + q * across, options);
  return from_items(N, N, options, [&](std::uint64_t u, std::vector<Edge>& edges) {
    const std::uint64_t block = u * blocks / N;
    // The first node of the next block: the smallest v with v * blocks >= (block + 1) * N.
    const auto block_end = static_cast<NodeId>(((block + 1) * N + blocks - 1) / blocks);
    Random random = random_for(seed, Use::block_model, u);
    const auto from = static_cast<NodeId>(u);
    join_at_random(from, from + 1, block_end, p, random, edges);
    join_at_random(from, block_end, N, q, random, edges);
  });
}

// One edge is moved after another, because each draw must know all neighbours of the moment. Edge
// (u, j) begins at u and its far end is far[u * half + j - 1]; hence u and w are joined if w is
// among the far ends of u, or u among those of w.
Graph watts_strogatz(std::uint64_t nodes, std::uint64_t k, double beta, std::uint64_t seed,
                     const GenerateOptions& options) {
  check_probability("ws", "beta", beta);
  if (k % 2 != 0 || k >= std::max<std::uint64_t>(nodes, 1)) {
    fail("ws: k={} must be even and less than the number of nodes, {}", k, nodes);
  }
  const std::uint64_t half = k / 2;
  const NodeId N =
      checked_nodes(nodes, static_cast<double>(nodes) * static_cast<double>(half), options);
  std::vector<NodeId> far(std::size_t{N} * half);
  for (std::uint64_t u = 0; u < N; ++u) {
    for (std::uint64_t j = 1; j <= half; ++j)
      far[u * half + j - 1] = static_cast<NodeId>((u + j) % N);
  }
  std::vector<NodeId> degree(N, static_cast<NodeId>(k));
  const auto points_to = [&](std::uint64_t u, NodeId w) {
    const auto begin = far.begin() + static_cast<std::ptrdiff_t>(u * half);
    const auto end = begin + static_cast<std::ptrdiff_t>(half);
    return std::find(begin, end, w) != end;
  };
  for (std::uint64_t j = 1; j <= half; ++j) {
    for (NodeId u = 0; u < N; ++u) {
      if (u % 4096 == 0) throw_if_stopped(options.progress);
      Random random = random_for(seed, Use::watts_strogatz, (j - 1) * N + u);
      if (!random.chance(beta) || degree[u] >= N - 1) continue;
      NodeId w = u;
      while (w == u || points_to(u, w) || points_to(w, u)) w = static_cast<NodeId>(random.below(N));
      NodeId& end = far[u * half + j - 1];
      --degree[end];
      ++degree[w];
      end = w;
    }
    if (options.progress != nullptr) options.progress->report(j, half);
  }
  std::vector<EdgeBlock> blocks(1);
  blocks[0].edges.reserve(far.size());
  for (std::uint64_t i = 0; i < far.size(); ++i) {
    blocks[0].edges.push_back({static_cast<NodeId>(i / half), far[i]});
  }
  return finish(N, std::move(blocks), options);
}

// A node occurs among the ends of all edges as often as its degree says, so an end drawn evenly is
// a node drawn in proportion to its degree.
Graph barabasi_albert(std::uint64_t nodes, std::uint64_t m, std::uint64_t seed,
                      const GenerateOptions& options) {
  if (m < 1 || m >= nodes) fail("ba: m={} must be from 1 to nodes-1, where nodes={}", m, nodes);
  const double edge_count = static_cast<double>(m) * static_cast<double>(nodes - m);
  const NodeId N = checked_nodes(nodes, edge_count, options);
  std::vector<EdgeBlock> blocks(1);
  auto& edges = blocks[0].edges;
  edges.reserve(m * (N - m));
  for (NodeId u = 1; u <= m; ++u) edges.push_back({u, 0});
  std::vector<NodeId> last_joined_by(N, 0);
  for (auto u = static_cast<NodeId>(m + 1); u < N; ++u) {
    if (u % 4096 == 0) throw_if_stopped(options.progress);
    Random random = random_for(seed, Use::barabasi_albert, u);
    const std::uint64_t ends = 2 * edges.size();
    for (std::uint64_t joined = 0; joined < m;) {
      const std::uint64_t end = random.below(ends);
      const NodeId v = end % 2 == 0 ? edges[end / 2].from : edges[end / 2].to;
      if (last_joined_by[v] == u) continue;
      last_joined_by[v] = u;
      edges.push_back({u, v});
      ++joined;
    }
  }
  return finish(N, std::move(blocks), options);
}

Graph grid(std::uint64_t rows, std::uint64_t cols, const GenerateOptions& options) {
  const double area = static_cast<double>(rows) * static_cast<double>(cols);
  if (area >= 0x1p32)
    fail("grid: rows={} times cols={} is more nodes than are possible", rows, cols);
  const NodeId N = checked_nodes(rows * cols, 2 * area, options);
  return from_items(N, N, options, [&](std::uint64_t u, std::vector<Edge>& edges) {
    const auto from = static_cast<NodeId>(u);
    if ((u + 1) % cols != 0) edges.push_back({from, static_cast<NodeId>(u + 1)});
    if (u + cols < N) edges.push_back({from, static_cast<NodeId>(u + cols)});
  });
}

namespace {

/// A permutation of the numbers of `bits` bits, drawn by the seed. Each step (times an odd number,
/// plus any number, xor its own high part) can be undone, so the whole can be.
class Renumbering {
 public:
  Renumbering(std::uint64_t bits, std::uint64_t seed)
      : mask_((std::uint64_t{1} << bits) - 1), shift_(bits / 2 + 1) {
    Random random = random_for(seed, Use::rmat_numbers, 0);
    for (auto& round : rounds_) round = {random.bits64() | 1, random.bits64()};
  }

  NodeId operator()(std::uint64_t x) const {
    for (const auto& [factor, summand] : rounds_) {
      x = (x * factor + summand) & mask_;
      x ^= x >> shift_;
    }
    return static_cast<NodeId>(x);
  }

 private:
  std::uint64_t mask_;
  std::uint64_t shift_;
  std::array<std::pair<std::uint64_t, std::uint64_t>, 4> rounds_;
};

}  // namespace

Graph rmat(std::uint64_t scale, std::uint64_t edge_factor, std::uint64_t seed,
           const GenerateOptions& options) {
  if (scale > 31) fail("rmat: scale={} must be at most 31", scale);
  const double draws = static_cast<double>(edge_factor) * static_cast<double>(1ULL << scale);
  if (draws >= 0x1p56) fail("rmat: edge_factor={} is too large for scale={}", edge_factor, scale);
  const NodeId N = checked_nodes(1ULL << scale, draws, options);
  const Renumbering renumber(scale, seed);
  // A random word below the first is in the quadrant top left, below the second top right, below
  // the third bottom left.
  constexpr std::array bounds{static_cast<std::uint32_t>(0.57 * 0x1p32),
                              static_cast<std::uint32_t>((0.57 + 0.19) * 0x1p32),
                              static_cast<std::uint32_t>((0.57 + 0.19 + 0.19) * 0x1p32)};
  const auto draw = [&](std::uint64_t i, std::vector<Edge>& edges) {
    Random random = random_for(seed, Use::rmat, i);
    std::uint64_t u = 0;
    std::uint64_t v = 0;
    for (std::uint64_t level = 0; level < scale; ++level) {
      // Arithmetic on comparisons, because a branch would be mispredicted every other time.
      const std::uint32_t word = random.bits32();
      const std::uint64_t quadrant = std::uint64_t{word >= bounds[0]} +
                                     std::uint64_t{word >= bounds[1]} +
                                     std::uint64_t{word >= bounds[2]};
      u = u << 1 | quadrant >> 1;
      v = v << 1 | (quadrant & 1);
    }
    if (u != v) edges.push_back({renumber(u), renumber(v)});
  };
  return from_items(N, edge_factor << scale, options, draw);
}

Dataset karate_club() {
  constexpr std::array<Edge, 78> friends{
      {{0, 1},   {0, 2},   {0, 3},   {0, 4},   {0, 5},   {0, 6},   {0, 7},   {0, 8},   {0, 10},
       {0, 11},  {0, 12},  {0, 13},  {0, 17},  {0, 19},  {0, 21},  {0, 31},  {1, 2},   {1, 3},
       {1, 7},   {1, 13},  {1, 17},  {1, 19},  {1, 21},  {1, 30},  {2, 3},   {2, 7},   {2, 8},
       {2, 9},   {2, 13},  {2, 27},  {2, 28},  {2, 32},  {3, 7},   {3, 12},  {3, 13},  {4, 6},
       {4, 10},  {5, 6},   {5, 10},  {5, 16},  {6, 16},  {8, 30},  {8, 32},  {8, 33},  {9, 33},
       {13, 33}, {14, 32}, {14, 33}, {15, 32}, {15, 33}, {18, 32}, {18, 33}, {19, 33}, {20, 32},
       {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 29}, {23, 32}, {23, 33}, {24, 25},
       {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31}, {28, 33}, {29, 32},
       {29, 33}, {30, 32}, {30, 33}, {31, 32}, {31, 33}, {32, 33}}};
  Dataset dataset;
  dataset.graph = build_graph(34, friends);
  dataset.labels = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0,
                    0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return dataset;
}

}  // namespace ngf
