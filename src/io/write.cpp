#include "ngf/io/write.hpp"

#include <algorithm>
#include <array>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"

namespace ngf::io {

namespace {

/// Throws Error when a table of N x N numbers cannot hold the graph, or should not.
void check_table(const std::filesystem::path& path, const Graph& graph) {
  constexpr NodeId most_nodes = 20000;
  if (graph.nodes() > most_nodes) {
    fail("{}: a table of {} x {} numbers is too large (at most {} nodes); write .mtx or .npz",
         path.string(), graph.nodes(), graph.nodes(), most_nodes);
  }
  const auto weights = graph.weights();
  if (std::find(weights.begin(), weights.end(), 0.0) != weights.end()) {
    fail("{}: an edge has weight 0, which a table cannot tell from no edge; write .mtx or .npz",
         path.string());
  }
}

template <typename Number>
void write_table(AtomicFile& file, const Graph& graph, std::string_view dtype, Progress* progress) {
  const std::array<std::uint64_t, 2> shape{graph.nodes(), graph.nodes()};
  file.write(npy_header(dtype, shape));
  std::vector<Number> numbers(graph.nodes());
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    throw_if_stopped(progress);
    std::fill(numbers.begin(), numbers.end(), Number{0});
    const auto row = graph.neighbors(u);
    const auto weights = graph.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      numbers[row[i]] = graph.weighted() ? static_cast<Number>(weights[i]) : Number{1};
    }
    file.write({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
  }
}

bool is_npz(Format format) { return format_name(format).starts_with("npz-"); }

std::string ending_of(const std::filesystem::path& path) {
  return lower_case(path.extension().string());
}

void write_file(const std::filesystem::path& path, const Dataset& dataset, Format format,
                Progress* progress) {
  const Graph& graph = dataset.graph;
  AtomicFile file(path);
  if (format == Format::edge_list) {
    write_edge_list(file, graph, dataset.names, ending_of(path) == ".csv" ? ',' : ' ', progress);
  } else if (format == Format::matrix_market) {
    write_matrix_market(file, graph, progress);
  } else if (format == Format::metis) {
    write_metis(file, graph, progress);
  } else if (format == Format::adjacency_csv) {
    check_table(path, graph);
    write_adjacency_csv(file, graph, progress);
  } else if (format == Format::adjacency_npy) {
    check_table(path, graph);
    graph.weighted() ? write_table<double>(file, graph, "<f8", progress)
                     : write_table<std::uint8_t>(file, graph, "|u1", progress);
  } else {
    fail("{}: {} is read, not written; write .npz", path.string(), format_name(format));
  }
  file.commit();
}

}  // namespace

Format format_for_name(const std::filesystem::path& path, const Dataset& dataset) {
  const std::string ending = ending_of(path);
  if (ending == ".mtx") return Format::matrix_market;
  if (ending == ".graph" || ending == ".metis") return Format::metis;
  if (ending == ".npy") return Format::adjacency_npy;
  if (ending == ".npz") return dataset.has_node_data() ? Format::npz_edges : Format::npz_scipy;
  return Format::edge_list;
}

WriteResult write_graph(const std::filesystem::path& path, const Dataset& dataset,
                        std::optional<Format> format, Progress* progress) {
  WriteResult result;
  result.format = format ? *format : format_for_name(path, dataset);
  if (is_npz(result.format)) {
    write_npz(path, dataset, result.format);
  } else {
    write_file(path, dataset, result.format, progress);
  }
  const bool holds_node_data = is_npz(result.format) && result.format != Format::npz_scipy;
  if (dataset.has_node_data() && !holds_node_data) {
    result.warnings.push_back(
        fmt::format("{}: features, labels and splits are not written: {} has no room for them",
                    path.string(), format_name(result.format)));
  }
  if (!dataset.names.empty() && result.format != Format::edge_list) {
    result.warnings.push_back(
        fmt::format("{}: the names of the nodes are not written: {} has no room for them",
                    path.string(), format_name(result.format)));
  }
  return result;
}

void check_matrix_name(const std::filesystem::path& path) {
  const std::string ending = ending_of(path);
  if (ending != ".npy" && ending != ".csv") {
    fail("{}: matrices are written as .npy or .csv", path.string());
  }
}

void write_matrix(const std::filesystem::path& path, const Matrix& matrix, const TableText& text) {
  check_matrix_name(path);
  AtomicFile file(path);
  if (ending_of(path) == ".npy") {
    write_npy(file, matrix);
  } else {
    write_csv_table(file, matrix, text);
  }
  file.commit();
}

}  // namespace ngf::io
