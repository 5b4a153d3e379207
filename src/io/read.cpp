#include "ngf/io/read.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"

namespace ngf::io {

namespace {

constexpr std::string_view planetoid_prefix = "planetoid:";

ReadResult read_adjacency_npy(const Input& input, const ReadOptions& options) {
  const NpyMatrixReader reader(input);
  if (reader.rows() != reader.cols()) {
    fail("{}: {} x {}; the adjacency table of a graph is square", input.name(), reader.rows(),
         reader.cols());
  }
  const auto nodes = static_cast<std::uint64_t>(reader.rows());
  check_node_count(nodes, input, input.name());
  std::vector<EdgeBlock> blocks;
  reader.for_each_block([&](const Matrix& lines, Eigen::Index first, bool transposed) {
    throw_if_stopped(options.progress);
    EdgeBlock& block = blocks.emplace_back();
    for (Eigen::Index i = 0; i < lines.rows(); ++i) {
      for (Eigen::Index j = 0; j < lines.cols(); ++j) {
        const double weight = lines(i, j);
        if (weight == 0) continue;
        const auto line = static_cast<NodeId>(first + i);
        const auto place = static_cast<NodeId>(j);
        const Edge edge = transposed ? Edge{place, line} : Edge{line, place};
        if (!std::isfinite(weight)) {
          fail("{}: entry ({}, {}) is {}; expected a finite weight", input.name(), edge.from,
               edge.to, weight);
        }
        block.edges.push_back(edge);
        block.weights.push_back(weight);
      }
    }
    check_growth(static_cast<std::uint64_t>(first + lines.rows()), nodes, options.memory,
                 input.name());
  });
  ReadResult result;
  result.format = Format::adjacency_npy;
  assemble(input, result, static_cast<NodeId>(nodes), std::move(blocks), options,
           Entries::whole_matrix);
  return result;
}

ReadResult read_planetoid_of(const std::filesystem::path& path, const ReadOptions& options) {
  const auto name = planetoid_name(path.string());
  if (!name) {
    fail("{}: is not called like a file of a Planetoid data set, ind.NAME.graph", path.string());
  }
  return read_planetoid(path.parent_path(), *name, options);
}

ReadResult read_any(const Input& input, const std::filesystem::path& path,
                    const ReadOptions& options) {
  switch (options.format ? *options.format : detect_format(input)) {
    case Format::edge_list:
      return read_edge_list(input, options);
    case Format::matrix_market:
      return read_matrix_market(input, options);
    case Format::metis:
      return read_metis(input, options);
    case Format::adjacency_csv:
      return read_adjacency_csv(input, options);
    case Format::adjacency_npy:
      return read_adjacency_npy(input, options);
    case Format::npz_scipy:
    case Format::npz_edges:
    case Format::npz_csr:
    case Format::npz_ppnp:
      return read_npz(input, options);
    case Format::planetoid:
      return read_planetoid_of(path, options);
  }
  fail("{}: no such format", path.string());
}

Table read_any_table(const std::filesystem::path& path, const MatrixReadOptions& options,
                     bool find_labels) {
  const Input input(path, options.memory);
  if (is_npy(input)) return {read_npy_matrix(input, options), {}};
  if (is_zip(input)) fail("{}: is a ZIP archive; expected .npy or .csv", input.name());
  refuse_foreign(input);
  return read_csv_table(input, options, find_labels);
}

}  // namespace

ReadResult read_graph(const std::filesystem::path& path, const ReadOptions& options) {
  const Input input(path, options.memory);
  ReadResult result = read_any(input, path, options);
  // Readers know the content alone; here each line gets the name of the file, as errors have it.
  for (auto* const texts : {&result.warnings, &result.notes}) {
    for (std::string& text : *texts) text.insert(0, input.name() + ": ");
  }
  return result;
}

Table read_table(const std::filesystem::path& path, const MatrixReadOptions& options) {
  return read_any_table(path, options, true);
}

Matrix read_matrix(const std::filesystem::path& path, const MatrixReadOptions& options) {
  return read_any_table(path, options, false).numbers;
}

ReadResult read_named_dataset(const std::string& name, const std::filesystem::path& folder,
                              const ReadOptions& options) {
  const auto wrong = find_wrong_file(name, folder, options.progress);
  if (wrong && !options.lenient) {
    Advice advice = read_anyway();
    advice.text =
        fmt::format("remove it and run: ngf data get {} (your own data are read by their path; {})",
                    name, advice.text);
    throw Error(
        fmt::format("{}: is not the file of {}: its SHA-256 differs", wrong->string(), name),
        std::move(advice));
  }
  ReadResult result = read_planetoid(folder, name.substr(planetoid_prefix.size()), options);
  if (wrong) {
    result.warnings.push_back(
        fmt::format("{}: is not the file of {}: its SHA-256 differs", wrong->string(), name));
  }
  return result;
}

ReadResult load(const std::string& name, const ReadOptions& options,
                std::span<const std::filesystem::path> folders, std::uint64_t seed) {
  if (auto made = generate_from_spec(
          name, seed,
          {.threads = options.threads, .memory = options.memory, .progress = options.progress})) {
    ReadResult result;
    result.dataset = std::move(*made);
    if (options.directed) result.dataset.graph = as_directed(std::move(result.dataset.graph));
    return result;
  }
  if (name.starts_with(planetoid_prefix)) {
    return read_named_dataset(name, find_dataset(name, folders), options);
  }
  return read_graph(name, options);
}

}  // namespace ngf::io
