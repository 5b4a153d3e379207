// Nearest neighbours by a k-d tree (Bentley 1975). Each inner node splits its points at the median
// of the coordinate with the largest spread. A query descends into the half that holds the query
// point first, and into the other one unless the distance to the splitting plane rules it out.
//
// Rounding is monotonic, so the rounded distance to a point behind a plane is never below the
// rounded distance to the plane: results equal those of comparing all pairs.
//
// Written by hand, since nanoflann 1.4 drops points as far as the k-th that have smaller numbers,
// bounds distances by sums of another rounding, and looks at all pairs where points are equal.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "graph/build_rows.hpp"
#include "ngf/generate.hpp"

namespace ngf {

namespace {

using detail::fail;

/// A candidate; ordered by distance, then by number.
using Candidate = std::pair<double, NodeId>;

class KdTree {
 public:
  explicit KdTree(const Matrix& points)
      : points_(points), order_(static_cast<std::size_t>(points.rows())) {
    std::iota(order_.begin(), order_.end(), NodeId{0});
    build(0, order_.size());
  }

  /// The k nearest points of point u, without u.
  void search(NodeId u, std::size_t k, std::vector<Candidate>& heap) const {
    heap.clear();
    search(0, u, k, heap);
  }

 private:
  static constexpr std::size_t leaf_points = 16;

  struct Node {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t right = 0;       ///< the left child follows its parent; 0: a leaf
    Eigen::Index dimension = 0;  ///< of the split
    double split = 0;            ///< left points are at most this, right ones at least
    NodeId smallest = 0;         ///< number among the points
  };

  double at(NodeId u, Eigen::Index dimension) const {
    return points_(static_cast<Eigen::Index>(u), dimension);
  }

  /// The coordinate in which these points are spread the most.
  Eigen::Index widest(std::size_t begin, std::size_t end) const {
    Eigen::Index result = 0;
    double extent = 0;
    for (Eigen::Index d = 0; d < points_.cols(); ++d) {
      double low = at(order_[begin], d);
      double high = low;
      for (std::size_t i = begin; i < end; ++i) {
        low = std::min(low, at(order_[i], d));
        high = std::max(high, at(order_[i], d));
      }
      if (high - low <= extent) continue;
      extent = high - low;
      result = d;
    }
    return result;
  }

  std::size_t build(std::size_t begin, std::size_t end) {
    const std::size_t index = nodes_.size();
    const auto first = order_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = order_.begin() + static_cast<std::ptrdiff_t>(end);
    nodes_.push_back({.begin = begin, .end = end, .smallest = *std::min_element(first, last)});
    if (end - begin <= leaf_points) return index;
    const Eigen::Index dimension = widest(begin, end);
    const std::size_t middle = begin + (end - begin) / 2;
    const auto median = order_.begin() + static_cast<std::ptrdiff_t>(middle);
    std::nth_element(first, median, last, [&](NodeId a, NodeId b) {
      return Candidate(at(a, dimension), a) < Candidate(at(b, dimension), b);
    });
    nodes_[index].dimension = dimension;
    nodes_[index].split = at(*median, dimension);
    build(begin, middle);
    nodes_[index].right = build(middle, end);
    return index;
  }

  void search(std::size_t index, NodeId u, std::size_t k, std::vector<Candidate>& heap) const {
    const Node& node = nodes_[index];
    if (node.right == 0) {
      for (std::size_t i = node.begin; i < node.end; ++i) offer(u, order_[i], k, heap);
      return;
    }
    const double side = at(u, node.dimension) - node.split;
    std::array<std::size_t, 2> children{index + 1, node.right};
    if (side > 0) std::swap(children[0], children[1]);
    if (may_improve(0, children[0], k, heap)) search(children[0], u, k, heap);
    if (may_improve(side * side, children[1], k, heap)) search(children[1], u, k, heap);
  }

  /// Whether a subtree at this distance or more can hold a better candidate than the worst one.
  bool may_improve(double distance, std::size_t index, std::size_t k,
                   const std::vector<Candidate>& heap) const {
    return heap.size() < k || Candidate(distance, nodes_[index].smallest) < heap.front();
  }

  void offer(NodeId u, NodeId v, std::size_t k, std::vector<Candidate>& heap) const {
    if (u == v) return;
    double distance = 0;
    for (Eigen::Index d = 0; d < points_.cols(); ++d) {
      const double difference = at(u, d) - at(v, d);
      distance += difference * difference;
    }
    const Candidate candidate(distance, v);
    if (heap.size() == k) {
      if (candidate >= heap.front()) return;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end());
  }

  const Matrix& points_;
  std::vector<NodeId> order_;
  std::vector<Node> nodes_;
};

void check_points(const Matrix& points, std::uint64_t k) {
  const auto count = static_cast<std::uint64_t>(points.rows());
  if (points.cols() == 0) fail("knn: the points have no coordinates");
  if (k < 1 || k >= count) {
    fail("knn: k={} of {} points; k must be at least 1 and less than the number of points", k,
         count);
  }
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index d = 0; d < points.cols(); ++d) {
      if (std::isfinite(points(i, d))) continue;
      fail("knn: point {}, coordinate {} is {}; expected a finite number", i, d, points(i, d));
    }
  }
  const auto extent = points.colwise().maxCoeff() - points.colwise().minCoeff();
  if (!std::isfinite(extent.squaredNorm())) {
    fail("knn: squared distances exceed the range of double precision; scale the coordinates");
  }
}

}  // namespace

Graph knn_graph(const Matrix& points, std::uint64_t k, const GenerateOptions& options) {
  check_points(points, k);
  const auto count = static_cast<std::uint64_t>(points.rows());
  const NodeId nodes = detail::checked_nodes(count, static_cast<double>(k * count), options);
  const KdTree tree(points);
  constexpr std::size_t step = 256;
  std::vector<EdgeBlock> blocks((nodes + step - 1) / step);
  std::atomic<std::uint64_t> done{0};
  detail::parallel_for(blocks.size(), options.threads, [&](std::size_t block) {
    throw_if_stopped(options.progress);
    std::vector<Candidate> heap;
    const auto end = static_cast<NodeId>(std::min<std::size_t>(nodes, (block + 1) * step));
    for (auto u = static_cast<NodeId>(block * step); u < end; ++u) {
      tree.search(u, k, heap);
      for (const auto& [distance, v] : heap) blocks[block].edges.push_back({u, v});
    }
    if (options.progress != nullptr) options.progress->report(++done, blocks.size());
  });
  return build_graph(
      nodes, std::move(blocks),
      {.threads = options.threads, .memory = options.memory, .progress = options.progress});
}

}  // namespace ngf
