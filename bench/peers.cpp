#include "peers.hpp"

#include <stdexcept>

#include "measure.hpp"

#ifdef NGF_WITH_IGRAPH
#include <igraph/igraph.h>
#endif
#ifdef NGF_WITH_GRAPHBLAS
// Its header does not say that its functions are C's; what it includes itself must not become so.
#include <cmath>
#include <complex>
#include <cstring>
extern "C" {
#include <GraphBLAS.h>
}
#endif

namespace ngf::bench {

namespace {

[[maybe_unused]] void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string(what) + " failed");
}

#ifdef NGF_WITH_IGRAPH
std::vector<std::uint16_t> igraph_hops(const Graph& graph, NodeId count, double& seconds) {
  igraph_vector_int_t edges;
  igraph_vector_int_init(&edges, 0);
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (v < u) continue;
      igraph_vector_int_push_back(&edges, u);
      igraph_vector_int_push_back(&edges, v);
    }
  }
  igraph_t theirs;
  expect(igraph_create(&theirs, &edges, graph.nodes(), IGRAPH_UNDIRECTED) == IGRAPH_SUCCESS,
         "igraph_create");
  igraph_matrix_t hops;
  igraph_matrix_init(&hops, 0, 0);
  igraph_vs_t sources;
  igraph_vs_range(&sources, 0, count);
  seconds = best_seconds({[&] {
                           expect(igraph_distances(&theirs, &hops, sources, igraph_vss_all(),
                                                   IGRAPH_OUT) == IGRAPH_SUCCESS,
                                  "igraph_distances");
                         }},
                         2)
                .front();
  std::vector<std::uint16_t> result;
  result.reserve(std::size_t{count} * graph.nodes());
  for (NodeId u = 0; u < count; ++u) {
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      const double hop = MATRIX(hops, u, v);
      result.push_back(hop < unreachable ? static_cast<std::uint16_t>(hop) : unreachable);
    }
  }
  igraph_vs_destroy(&sources);
  igraph_matrix_destroy(&hops);
  igraph_destroy(&theirs);
  igraph_vector_int_destroy(&edges);
  return result;
}
#endif

#ifdef NGF_WITH_GRAPHBLAS
/// One level after another, for a batch of sources: the frontier times the adjacency matrix, where
/// nothing was reached before.
void graphblas_walk(GrB_Matrix adjacency, NodeId nodes, NodeId first, NodeId last,
                    GrB_Matrix hops) {
  const NodeId batch = last - first;
  GrB_Matrix frontier = nullptr;
  expect(GrB_Matrix_new(&frontier, GrB_BOOL, batch, nodes) == GrB_SUCCESS, "GrB_Matrix_new");
  for (NodeId i = 0; i < batch; ++i) {
    GrB_Matrix_setElement_BOOL(frontier, true, i, first + i);
    GrB_Matrix_setElement_UINT16(hops, 0, i, first + i);
  }
  for (std::uint16_t level = 1;; ++level) {
    expect(GrB_mxm(frontier, hops, nullptr, GxB_ANY_PAIR_BOOL, frontier, adjacency, GrB_DESC_RSC) ==
               GrB_SUCCESS,
           "GrB_mxm");
    GrB_Index reached = 0;
    GrB_Matrix_nvals(&reached, frontier);
    if (reached == 0) break;
    expect(GrB_Matrix_assign_UINT16(hops, frontier, nullptr, level, GrB_ALL, batch, GrB_ALL, nodes,
                                    GrB_DESC_S) == GrB_SUCCESS,
           "GrB_Matrix_assign");
  }
  GrB_Matrix_free(&frontier);
}

std::vector<std::uint16_t> graphblas_hops(const Graph& graph, NodeId count, double& seconds) {
  static const bool ready = GrB_init(GrB_NONBLOCKING) == GrB_SUCCESS;
  expect(ready, "GrB_init");
  const NodeId nodes = graph.nodes();
  GrB_Matrix adjacency = nullptr;
  GrB_Matrix_new(&adjacency, GrB_BOOL, nodes, nodes);
  for (NodeId u = 0; u < nodes; ++u) {
    for (const NodeId v : graph.neighbors(u)) GrB_Matrix_setElement_BOOL(adjacency, true, u, v);
  }
  GrB_Matrix_wait(adjacency, GrB_MATERIALIZE);
  constexpr NodeId batch = 2048;
  std::vector<GrB_Matrix> hops;
  const auto free_hops = [&] {
    for (GrB_Matrix& part : hops) GrB_Matrix_free(&part);
    hops.clear();
  };
  seconds = best_seconds({[&] {
                           free_hops();
                           for (NodeId first = 0; first < count; first += batch) {
                             const NodeId last = std::min(count, first + batch);
                             GrB_Matrix part = nullptr;
                             GrB_Matrix_new(&part, GrB_UINT16, last - first, nodes);
                             graphblas_walk(adjacency, nodes, first, last, part);
                             hops.push_back(part);
                           }
                         }},
                         2)
                .front();
  std::vector<std::uint16_t> result(std::size_t{count} * nodes, unreachable);
  for (std::size_t p = 0; p < hops.size(); ++p) {
    GrB_Index size = 0;
    GrB_Matrix_nvals(&size, hops[p]);
    std::vector<GrB_Index> rows(size);
    std::vector<GrB_Index> columns(size);
    std::vector<std::uint16_t> values(size);
    GrB_Matrix_extractTuples_UINT16(rows.data(), columns.data(), values.data(), &size, hops[p]);
    for (std::size_t i = 0; i < size; ++i) {
      result[(p * batch + rows[i]) * nodes + columns[i]] = values[i];
    }
  }
  free_hops();
  GrB_Matrix_free(&adjacency);
  return result;
}
#endif

}  // namespace

std::vector<Peer> peers() {
  std::vector<Peer> result;
#ifdef NGF_WITH_IGRAPH
  result.push_back({"igraph (C)", igraph_hops});
#endif
#ifdef NGF_WITH_GRAPHBLAS
  result.push_back({"SuiteSparse GraphBLAS", graphblas_hops});
#endif
  return result;
}

}  // namespace ngf::bench
