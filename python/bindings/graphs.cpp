#include <algorithm>

#include "arrays.hpp"
#include "base/fail.hpp"
#include "bindings.hpp"
#include "ngf/graph.hpp"
#include "ngf/perturb.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

NodeId node_of(std::int64_t id, NodeId nodes) {
  if (id < 0 || id >= std::int64_t{nodes}) {
    detail::fail("an edge names node {}, and there are {}, from 0 on", id, nodes);
  }
  return static_cast<NodeId>(id);
}

bool is_symmetric(const Graph& graph) {
  const Graph back = transpose(graph);
  return std::ranges::equal(graph.offsets(), back.offsets()) &&
         std::ranges::equal(graph.targets(), back.targets()) &&
         std::ranges::equal(graph.weights(), back.weights());
}

/// From the entries of a matrix. Without a word on direction, arcs that are all there in both
/// directions make an undirected graph.
template <typename Index>
Graph graph_from_entries(std::uint64_t nodes, const List<Index>& rows, const List<Index>& columns,
                         const std::optional<List<double>>& weights, std::optional<bool> directed,
                         bool keep_self_loops) {
  constexpr std::uint64_t most = std::numeric_limits<NodeId>::max();
  if (nodes > most) detail::fail("{} nodes; a graph has {} at most", nodes, most);
  if (rows.size() != columns.size() || (weights && weights->size() != rows.size())) {
    detail::fail("{} rows, {} columns and {} weights do not make edges", rows.size(),
                 columns.size(), weights ? weights->size() : rows.size());
  }
  const auto count = static_cast<NodeId>(nodes);
  return without_gil([&](Progress* progress) {
    std::vector<EdgeBlock> blocks(1);
    blocks[0].edges.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      blocks[0].edges.push_back(
          {node_of(rows.data()[i], count), node_of(columns.data()[i], count)});
    }
    if (weights) blocks[0].weights = vector_of(*weights);
    BuildOptions options;
    options.directed = directed.value_or(true);
    options.keep_self_loops = keep_self_loops;
    options.entries_of_matrix = true;
    options.progress = progress;
    Graph graph = build_graph(count, std::move(blocks), options);
    if (directed || !is_symmetric(graph)) return graph;
    const auto copy = [](const auto& values) { return std::vector(values.begin(), values.end()); };
    return Graph(copy(graph.offsets()), copy(graph.targets()), copy(graph.weights()), false);
  });
}

Graph graph_from_arrays(const List<std::uint64_t>& offsets, const List<NodeId>& targets,
                        const List<double>& weights, bool directed) {
  return {vector_of(offsets), vector_of(targets), vector_of(weights), directed};
}

template <typename T>
auto getter(std::span<const T> (Graph::*member)() const) {
  return [member](nb::handle self) {
    return view_into((nb::cast<const Graph&>(self).*member)(), self);
  };
}

}  // namespace

void bind_graphs(nb::module_& m) {
  nb::class_<Graph>(m, "Graph", nb::dynamic_attr(),
                    "An immutable graph in compressed sparse row (CSR) format.")
      .def_prop_ro("nodes", &Graph::nodes, "Number of nodes.")
      .def_prop_ro("edges", &Graph::edges, "Number of edges without self-loops; arcs if directed.")
      .def_prop_ro("arcs", &Graph::arcs, "Number of CSR entries; an undirected edge counts twice.")
      .def_prop_ro("directed", &Graph::directed, "Whether arcs have a direction.")
      .def_prop_ro("weighted", &Graph::weighted, "Whether edges have weights.")
      .def_prop_ro("offsets", getter(&Graph::offsets),
                   "Row offsets (CSR indptr), a read-only view.")
      .def_prop_ro("targets", getter(&Graph::targets),
                   "Column indices (CSR indices), a read-only view.")
      .def_prop_ro("weights", getter(&Graph::weights),
                   "Weights of the arcs, or empty if unweighted.")
      .def("__eq__", [](const Graph& a, nb::handle b) {
        return nb::isinstance<Graph>(b) && a == nb::cast<const Graph&>(b);
      });
  m.def("graph_from_arrays", &graph_from_arrays);

  const auto entries = [&](auto function) {
    m.def("graph_from_entries", function, nb::arg("nodes"), nb::arg("rows").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("weights").none().noconvert(),
          nb::arg("directed").none(), nb::arg("keep_self_loops"));
  };
  entries(&graph_from_entries<std::int32_t>);
  entries(&graph_from_entries<std::int64_t>);

  m.def(
      "as_directed", [](const Graph& graph) { return as_directed(graph); },
      "The same arcs as a directed graph, which shares the memory of this one.");
  m.def(
      "symmetrize",
      [](const Graph& graph) { return without_gil([&](Progress*) { return symmetrize(graph); }); },
      "The undirected graph with an edge where there is an arc either way; the larger weight is "
      "kept.");

  m.def("perturb", [](const Graph& graph, double create, double destroy, bool as_probability,
                      std::uint64_t seed) {
    return without_gil([&](Progress* progress) {
      PerturbOptions options;
      options.create = create;
      options.destroy = destroy;
      options.as_probability = as_probability;
      options.seed = seed;
      options.progress = progress;
      return perturb(graph, options).graph;
    });
  });
}

}  // namespace ngf::python
