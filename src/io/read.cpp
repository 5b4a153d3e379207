#include "ngf/io/read.hpp"

#include <cmath>
#include <utility>

#include "detail/fail.hpp"
#include "io/assemble.hpp"
#include "io/csv.hpp"
#include "io/detect.hpp"
#include "io/edge_list.hpp"
#include "io/limits.hpp"
#include "io/matrix_market.hpp"
#include "io/metis.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"

namespace ngf::io {

namespace {

using detail::fail;

ReadResult read_adjacency_npy(const Input& input, const ReadOptions& options) {
  const Matrix table = read_npy_matrix(input);
  if (table.rows() != table.cols()) {
    fail("{}: {} x {}; the table of a graph has as many rows as columns", input.name(),
         table.rows(), table.cols());
  }
  check_node_count(static_cast<std::uint64_t>(table.rows()), input, input.name());
  std::vector<EdgeBlock> blocks(1);
  for (Eigen::Index u = 0; u < table.rows(); ++u) {
    for (Eigen::Index v = 0; v < table.cols(); ++v) {
      const double weight = table(u, v);
      if (weight == 0) continue;
      if (!std::isfinite(weight)) {
        fail("{}: entry ({}, {}) is {}; expected a finite weight", input.name(), u, v, weight);
      }
      blocks.front().edges.push_back({static_cast<NodeId>(u), static_cast<NodeId>(v)});
      blocks.front().weights.push_back(weight);
    }
  }
  ReadResult result;
  result.format = Format::adjacency_npy;
  assemble(input, result, static_cast<NodeId>(table.rows()), std::move(blocks), options,
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

}  // namespace

ReadResult read_graph(const std::filesystem::path& path, const ReadOptions& options) {
  const Input input(path);
  ReadResult result = read_any(input, path, options);
  // Readers know the content alone; here each warning gets the name of the file, as errors have it.
  for (std::string& warning : result.warnings) warning.insert(0, input.name() + ": ");
  return result;
}

Matrix read_matrix(const std::filesystem::path& path) {
  const Input input(path);
  if (is_npy(input)) return read_npy_matrix(input);
  if (is_zip(input)) fail("{}: is a ZIP archive; expected .npy or .csv", input.name());
  refuse_foreign(input);
  return read_csv_matrix(input);
}

}  // namespace ngf::io
