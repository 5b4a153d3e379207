#include <cmath>
#include <set>
#include <tuple>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/csr.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz_layout.hpp"
#include "io/zip.hpp"

namespace ngf::io {

namespace {

/// Names that the collections give to nodes, classes and attributes: nothing that a graph needs.
bool is_only_a_name(std::string_view member) {
  return member == "node_names.npy" || member == "class_names.npy" || member == "attr_names.npy" ||
         member.starts_with("idx_to_");
}

class Reader {
 public:
  Reader(const Input& input, const ReadOptions& options)
      : input_(input), options_(options), archive_(input) {}

  ReadResult read() {
    const Layout& layout = find_layout();
    check_total();
    ReadResult result;
    result.format = layout.format;
    Dataset& dataset = result.dataset;
    if (layout.format != Format::npz_scipy) {
      read_features(layout, dataset);
      read_labels(layout, dataset);
      read_splits(dataset);
    }
    const bool edges = layout.format == Format::npz_edges;
    std::vector<EdgeBlock> blocks(1);
    blocks[0] = edges ? read_edges() : read_adjacency(layout);
    assemble(input_, result, static_cast<NodeId>(*nodes_), std::move(blocks), options_,
             edges ? Entries::pairs : Entries::whole_matrix);
    if (const std::string unused = member_names(true); !unused.empty()) {
      result.warnings.push_back("members that hold no part of a graph are left out: " + unused);
    }
    return result;
  }

 private:
  // Enough for the header and the few entries of what is no real array.
  static constexpr std::uint64_t few_bytes = 65536;

  bool has(std::string_view name) const { return archive_.contains(joined(name, ".npy")); }

  NpyArray array(std::string_view name,
                 std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
    throw_if_stopped(options_.progress);
    const std::string member = joined(name, ".npy");
    if (!archive_.contains(member)) {
      fail("{}: lacks the member {}; it holds {}", input_.name(), member, member_names());
    }
    used_.insert(member);
    const std::string place = input_.name() + ": " + member;
    ask(archive_.members().find(member)->second.bytes, place);
    return {archive_.read(member, limit), place};
  }

  // At most 20 of the members: all, or those that were not used.
  std::string member_names(bool unused = false) const {
    constexpr std::size_t most = 20;
    std::string names;
    std::size_t count = 0;
    for (const auto& [name, member] : archive_.members()) {
      if (unused && (used_.contains(name) || is_only_a_name(name))) continue;
      if (++count > most) return names + ", ...";
      names += (names.empty() ? "" : ", ") + quoted(name);
    }
    return names;
  }

  const Layout& find_layout() const {
    if (archive_.members().empty()) fail("{}: an archive without members", input_.name());
    for (const Layout& layout : layouts) {
      if (options_.format ? layout.format == *options_.format : has(layout.told_by)) return layout;
    }
    fail(
        "{}: holds {}; expected a graph as scipy.sparse.save_npz writes it (format, shape, data, "
        "...), as an edge list (edges, node_features, ...), or as compressed rows (adj_data, ... "
        "or adj_matrix.data, ...)",
        input_.name(), member_names());
  }

  // Every part of a file says how many nodes there are, and all must say the same.
  void agree_on_nodes(std::uint64_t nodes, const std::string& place) {
    check_node_count(nodes, input_, place);
    if (nodes_ && *nodes_ != nodes) {
      fail("{}: is for {} nodes, but {} is for {}", place, nodes, nodes_from_, *nodes_);
    }
    nodes_ = nodes;
    nodes_from_ = place;
  }

  // An array that was unpacked is converted, and edges become rows of a graph.
  void check_total() const {
    constexpr std::uint64_t copies = 3;
    std::uint64_t total = 0;
    for (const auto& [name, member] : archive_.members()) total += member.bytes;
    ask(copies * total, input_.name() + ": reading it");
  }

  // Checks the budget before a copy of an array is made.
  void ask(std::uint64_t bytes, const std::string& place) const {
    check_budget(bytes, options_.memory, place);
  }

  // An array of one dimension, of this length where it is known.
  NpyArray list(std::string_view name, std::optional<std::uint64_t> length = {},
                std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
    NpyArray result = array(name, limit);
    const std::uint64_t expected = length.value_or(result.count());
    if (result.shape().size() != 1 || result.count() != expected) {
      fail("{}: has the shape ({}); expected ({},)", result.place(),
           fmt::join(result.shape(), ", "), expected);
    }
    return result;
  }

  std::pair<std::uint64_t, std::uint64_t> read_shape(std::string_view prefix) {
    const NpyArray shape = list(joined(prefix, "shape"), 2, few_bytes);
    const auto sizes = shape.to_int64s();
    if (sizes[0] < 0 || sizes[1] < 0) {
      fail("{}: {} x {} is no size", shape.place(), sizes[0], sizes[1]);
    }
    return {static_cast<std::uint64_t>(sizes[0]), static_cast<std::uint64_t>(sizes[1])};
  }

  // With `by_columns`, rows and columns change their roles.
  Csr read_csr(std::string_view prefix, bool by_columns) {
    Csr csr;
    std::tie(csr.rows, csr.cols) = read_shape(prefix);
    if (by_columns) std::swap(csr.rows, csr.cols);
    const NpyArray indptr = list(joined(prefix, "indptr"));
    ask(indptr.count() * sizeof(std::int64_t), indptr.place());
    csr.indptr = indptr.to_int64s();
    const NpyArray indices = list(joined(prefix, "indices"));
    ask(indices.count() * sizeof(NodeId), indices.place());
    csr.indices = indices.to_indices(csr.cols);
    check_csr(csr, indptr.place());
    return csr;
  }

  // Empty when the file only says where the entries are.
  std::vector<double> read_weights(std::string_view name, std::uint64_t count) {
    const NpyArray data = list(name, count);
    if (data.header().kind == 'b') return {};
    ask(count * sizeof(double), data.place());
    auto weights = data.to_doubles();
    const auto bad = std::find_if_not(weights.begin(), weights.end(),
                                      [](double weight) { return std::isfinite(weight); });
    if (bad != weights.end()) {
      fail("{}: entry {} is {}; expected a finite weight", data.place(), bad - weights.begin(),
           *bad);
    }
    return weights;
  }

  void need_square(std::uint64_t rows, std::uint64_t cols, std::string_view prefix) {
    const std::string place = fmt::format("{}: {}shape.npy", input_.name(), prefix);
    if (rows != cols) fail("{}: {} x {}; the matrix of a graph is square", place, rows, cols);
    agree_on_nodes(rows, place);
  }

  EdgeBlock read_adjacency(const Layout& layout) {
    std::string format = "csr";
    if (layout.format == Format::npz_scipy) {
      format = array("format", few_bytes).to_text();
      if (has("_is_array")) used_.insert("_is_array.npy");
    }
    EdgeBlock block;
    if (format == "coo") {
      block = read_coordinates();
    } else if (format == "csr" || format == "csc") {
      block = read_compressed(layout.adjacency, format == "csc");
    } else {
      fail("{}: a sparse matrix in the format {}; save it with .tocsr()", input_.name(),
           quoted(format));
    }
    block.weights = read_weights(joined(layout.adjacency, "data"), block.edges.size());
    return block;
  }

  EdgeBlock read_compressed(std::string_view prefix, bool by_columns) {
    const Csr csr = read_csr(prefix, by_columns);
    need_square(csr.rows, csr.cols, prefix);
    ask(csr.indices.size() * sizeof(Edge), input_.name());
    EdgeBlock block;
    block.edges.reserve(csr.indices.size());
    for (std::size_t row = 0; row < csr.rows; ++row) {
      for (auto k = static_cast<std::size_t>(csr.indptr[row]);
           k < static_cast<std::size_t>(csr.indptr[row + 1]); ++k) {
        const auto u = static_cast<NodeId>(row);
        const NodeId v = csr.indices[k];
        block.edges.push_back(by_columns ? Edge{v, u} : Edge{u, v});
      }
    }
    return block;
  }

  EdgeBlock read_coordinates() {
    const auto [rows, cols] = read_shape("");
    need_square(rows, cols, "");
    const NpyArray row = list("row");
    const NpyArray col = list("col", row.count());
    ask(row.count() * (2 * sizeof(NodeId) + sizeof(Edge)), input_.name());
    const auto from = row.to_indices(rows);
    const auto to = col.to_indices(cols);
    EdgeBlock block;
    block.edges.reserve(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) block.edges.push_back({from[k], to[k]});
    return block;
  }

  EdgeBlock read_edges() {
    if (has("num_nodes")) {
      const NpyArray count = array("num_nodes", few_bytes);
      if (count.count() != 1) fail("{}: expected a single number", count.place());
      agree_on_nodes(count.to_indices(std::numeric_limits<NodeId>::max())[0], count.place());
    }
    const NpyArray edges = array("edges");
    if (edges.shape().size() != 2 || edges.shape()[1] != 2) {
      fail("{}: has the shape ({}); expected (M, 2), a row an edge", edges.place(),
           fmt::join(edges.shape(), ", "));
    }
    ask(edges.count() * (sizeof(NodeId) + sizeof(Edge) / 2), edges.place());
    const auto ids = edges.to_indices(nodes_.value_or(std::numeric_limits<NodeId>::max()));
    if (!nodes_) {
      const auto largest = std::max_element(ids.begin(), ids.end());
      agree_on_nodes(ids.empty() ? 0 : std::uint64_t{*largest} + 1, edges.place());
    }
    EdgeBlock block;
    block.edges.reserve(ids.size() / 2);
    for (std::size_t k = 0; k < ids.size(); k += 2) block.edges.push_back({ids[k], ids[k + 1]});
    if (has("edge_weights")) block.weights = read_weights("edge_weights", block.edges.size());
    return block;
  }

  void read_features(const Layout& layout, Dataset& dataset) {
    const std::string values = joined(layout.sparse_features, "data");
    if (has(layout.dense_features)) {
      const NpyArray dense = array(layout.dense_features);
      if (!dense.shape().empty()) agree_on_nodes(dense.shape()[0], dense.place());
      ask(dense.count() * sizeof(float), dense.place());
      dataset.features = dense.to_matrix();
    } else if (has(values)) {
      const Csr csr = read_csr(layout.sparse_features, false);
      const NpyArray data = list(values, csr.indices.size());
      agree_on_nodes(csr.rows, data.place());
      ask(data.count() * (2 * sizeof(float) + sizeof(int)), data.place());
      dataset.features = to_sparse(csr, data.to_floats(), data.place());
    }
  }

  void read_labels(const Layout& layout, Dataset& dataset) {
    if (!has(layout.labels)) return;
    const NpyArray labels = list(layout.labels);
    agree_on_nodes(labels.count(), labels.place());
    const std::int64_t largest = largest_label(labels.count());
    for (const std::int64_t label : labels.to_int64s()) {
      if (label < -1 || label > largest) {
        fail("{}: entry {} is {}; expected a class from 0 to {}, or -1 for none", labels.place(),
             dataset.labels.size(), label, largest);
      }
      dataset.labels.push_back(static_cast<std::int32_t>(label));
    }
  }

  void read_splits(Dataset& dataset) {
    for (const auto& [kind, nodes] : mask_kinds) {
      const bool one = has(kind);
      const std::string name = one ? std::string(kind) : joined(kind, "s");
      if (!has(name)) continue;
      const NpyArray masks = array(name);
      const auto shape = masks.shape();
      if (shape.size() != (one ? 1 : 2)) {
        fail("{}: has the shape ({}); expected a row of N bools a split", masks.place(),
             fmt::join(shape, ", "));
      }
      const std::uint64_t splits = one ? 1 : shape[0];
      agree_on_nodes(shape.back(), masks.place());
      // A mask of no nodes takes no bytes, so any number of them could be claimed.
      if (splits > std::max<std::uint64_t>(input_.size(), 1024)) {
        fail("{}: {} splits in a file of {} bytes: the number is not credible", masks.place(),
             splits, input_.size());
      }
      if (!dataset.splits.empty() && dataset.splits.size() != splits) {
        fail("{}: has {} splits, but the other masks have {}", masks.place(), splits,
             dataset.splits.size());
      }
      dataset.splits.resize(splits);
      const auto bits = masks.to_bools();
      for (std::size_t k = 0; k < bits.size(); ++k) {
        if (bits[k] == 0) continue;
        (dataset.splits[k / *nodes_].*nodes).push_back(static_cast<NodeId>(k % *nodes_));
      }
    }
  }

  const Input& input_;
  const ReadOptions& options_;
  ZipArchive archive_;
  std::set<std::string> used_;
  std::optional<std::uint64_t> nodes_;
  std::string nodes_from_;
};

}  // namespace

ReadResult read_npz(const Input& input, const ReadOptions& options) {
  return Reader(input, options).read();
}

}  // namespace ngf::io
