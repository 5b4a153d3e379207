// A Planetoid data set is eight files ind.NAME.*, seven of them pickles. With n = rows(allx):
//
//   x, tx, allx   features of the training, the test and all non-test nodes, csr_matrix of float32
//   y, ty, ally   their labels, one-hot rows of int32
//   graph         a dictionary: node -> list of its neighbours
//   test.index    text: line k is the node that row k of tx and ty belongs to
//
// Node i < n has row i of allx and ally. Ids from n on that test.index does not list are nodes
// without features or label. Training nodes are 0..rows(x)-1, validation the next 500.

#include "io/planetoid.hpp"

#include <charconv>
#include <deque>
#include <optional>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/pickle.hpp"

namespace ngf::io {

namespace {

Pickle::Sparse read_features(const Input& input) {
  const Pickle pickle(input);
  return pickle.sparse(pickle.root(), "the pickle");
}

struct Labels {
  std::vector<std::int32_t> of_row;  // -1 where a row has no 1
  std::uint64_t classes = 0;
};

Labels read_labels(const Input& input) {
  const Pickle pickle(input);
  const Pickle::Array array = pickle.array(pickle.root(), 'i', "the pickle");
  if (array.shape.size() != 2) {
    fail("{}: an array of {} dimensions; expected rows and classes", input.name(),
         array.shape.size());
  }
  Labels labels;
  labels.classes = array.shape[1];
  const auto one_hot = array.ints();
  if (labels.classes == 0) fail("{}: has no class", input.name());
  labels.of_row.assign(array.shape[0], -1);
  for (std::size_t k = 0; k < one_hot.size(); ++k) {
    if (one_hot[k] == 0) continue;
    std::int32_t& label = labels.of_row[k / labels.classes];
    if (one_hot[k] != 1 || label != -1) {
      fail("{}: row {} is not one-hot", input.name(), k / labels.classes);
    }
    label = static_cast<std::int32_t>(k % labels.classes);
  }
  return labels;
}

std::vector<NodeId> read_test_index(const Input& input) {
  const std::string text = input.read_all();
  std::vector<NodeId> nodes;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t line = 1;
  const auto skip = [&](std::string_view blanks) {
    while (at != end && blanks.find(*at) != std::string_view::npos) line += *at++ == '\n' ? 1 : 0;
  };
  for (skip(" \t\r\n"); at != end; skip(" \t\r\n")) {
    NodeId node = 0;
    const auto [after, status] = std::from_chars(at, end, node);
    if (status != std::errc() || (after != end && *after > ' ')) {
      fail("{}: line {}: {} is no node", input.name(), line,
           quoted({at, static_cast<std::size_t>(std::find(at, end, '\n') - at)}));
    }
    nodes.push_back(node);
    at = after;
  }
  return nodes;
}

std::vector<EdgeBlock> read_edges(const Input& input, NodeId nodes) {
  const Pickle pickle(input);
  const auto node_of = [&](Pickle::Ref value) {
    const std::int64_t node = pickle.integer(value, "a node");
    if (node < 0 || node >= nodes) {
      fail("{}: names the node {}; expected 0..{}", input.name(), node,
           static_cast<std::int64_t>(nodes) - 1);
    }
    return static_cast<NodeId>(node);
  };
  const auto items = pickle.items(pickle.root(), Pickle::Kind::dict, "the pickle");
  std::vector<bool> seen(nodes);
  std::vector<EdgeBlock> blocks(1);
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const NodeId node = node_of(items[i]);
    if (seen[node]) fail("{}: lists the neighbours of node {} twice", input.name(), node);
    seen[node] = true;
    for (const auto neighbor :
         pickle.items(items[i + 1], Pickle::Kind::list, "a dictionary's value")) {
      blocks[0].edges.push_back({node, node_of(neighbor)});
    }
    // A list that the pickle uses for many nodes would make edges without bytes.
    if (blocks[0].edges.size() > input.size()) {
      fail("{}: lists more neighbours than it has bytes", input.name());
    }
  }
  return blocks;
}

void need_equal(const Input& input, std::uint64_t count, const Input& other, std::uint64_t expected,
                std::string_view what = "rows") {
  if (count != expected) {
    fail("{}: has {} {}, but {} has {}", input.name(), count, what, other.name(), expected);
  }
}

// The row of tx and ty for each node from `first` on, or nothing.
std::vector<std::optional<std::size_t>> test_rows(const Input& input,
                                                  const std::vector<NodeId>& test,
                                                  std::uint64_t first, NodeId nodes) {
  std::vector<std::optional<std::size_t>> rows(nodes - first);
  for (std::size_t k = 0; k < test.size(); ++k) {
    if (test[k] < first || rows[test[k] - first]) {
      fail("{}: entry {} is {}; expected test nodes, from {} on, each once", input.name(), k,
           test[k], first);
    }
    rows[test[k] - first] = k;
  }
  return rows;
}

void append_row(Pickle::Sparse& to, const Pickle::Sparse& from, std::size_t row) {
  const auto begin = static_cast<std::ptrdiff_t>(from.csr.indptr[row]);
  const auto end = static_cast<std::ptrdiff_t>(from.csr.indptr[row + 1]);
  to.csr.indices.insert(to.csr.indices.end(), from.csr.indices.begin() + begin,
                        from.csr.indices.begin() + end);
  to.values.insert(to.values.end(), from.values.begin() + begin, from.values.begin() + end);
}

Split public_split(std::size_t train, std::size_t known, std::vector<NodeId> test) {
  constexpr std::size_t validation = 500;
  Split split;
  for (std::size_t u = 0; u < std::min(train + validation, known); ++u) {
    (u < train ? split.train : split.validation).push_back(static_cast<NodeId>(u));
  }
  split.test = std::move(test);
  std::sort(split.test.begin(), split.test.end());
  return split;
}

/// Throws MemoryExceeded when the data set will not fit into the budget.
void check_memory(const PlanetoidFiles& files, const ReadOptions& options) {
  constexpr std::uint64_t copies = 6;  // a pickle and its objects, features twice, the graph
  std::uint64_t total = 0;
  for (const Input* file : {&files.x, &files.tx, &files.allx, &files.y, &files.ty, &files.ally,
                            &files.graph, &files.test_index}) {
    total += file->size();
  }
  check_budget(copies * total, options.memory, files.allx.name() + ": the data set");
}

}  // namespace

ReadResult read_planetoid(const PlanetoidFiles& files, const ReadOptions& options) {
  check_memory(files, options);
  const Pickle::Sparse x = read_features(files.x);
  const Pickle::Sparse tx = read_features(files.tx);
  Pickle::Sparse features = read_features(files.allx);
  const Labels y = read_labels(files.y);
  const Labels ty = read_labels(files.ty);
  Labels labels = read_labels(files.ally);
  const std::vector<NodeId> test = read_test_index(files.test_index);
  const std::uint64_t known = features.csr.rows;
  need_equal(files.y, y.of_row.size(), files.x, x.csr.rows);
  need_equal(files.ty, ty.of_row.size(), files.tx, tx.csr.rows);
  need_equal(files.test_index, test.size(), files.tx, tx.csr.rows);
  need_equal(files.ally, labels.of_row.size(), files.allx, known);
  need_equal(files.x, x.csr.cols, files.allx, features.csr.cols, "columns");
  need_equal(files.tx, tx.csr.cols, files.allx, features.csr.cols, "columns");
  need_equal(files.y, y.classes, files.ally, labels.classes, "columns");
  need_equal(files.ty, ty.classes, files.ally, labels.classes, "columns");
  if (x.csr.rows > known) {
    fail("{}: has {} rows, more than the {} of {}", files.x.name(), x.csr.rows, known,
         files.allx.name());
  }
  std::uint64_t nodes = known;
  for (const NodeId node : test) nodes = std::max(nodes, std::uint64_t{node} + 1);
  check_node_count(nodes, files.test_index, files.test_index.name());

  for (const auto& row : test_rows(files.test_index, test, known, static_cast<NodeId>(nodes))) {
    if (row) append_row(features, tx, *row);
    features.csr.indptr.push_back(static_cast<std::int64_t>(features.csr.indices.size()));
    labels.of_row.push_back(row ? ty.of_row[*row] : -1);
  }
  features.csr.rows = nodes;

  ReadResult result;
  result.format = Format::planetoid;
  Dataset& dataset = result.dataset;
  dataset.features = to_sparse(features.csr, features.values, files.allx.name());
  dataset.labels = std::move(labels.of_row);
  dataset.splits = {public_split(y.of_row.size(), known, test)};
  assemble(files.graph, result, static_cast<NodeId>(nodes),
           read_edges(files.graph, static_cast<NodeId>(nodes)), options, Entries::whole_matrix);
  return result;
}

ReadResult read_planetoid(const std::filesystem::path& folder, const std::string& name,
                          const ReadOptions& options) {
  std::deque<Input> inputs;
  for (const std::string_view ending : planetoid_endings) {
    const std::string file = planetoid_file(name, ending);
    if (!std::filesystem::exists(folder / file)) {
      fail("{}: has no file {}, which a Planetoid data set needs", folder.string(), file);
    }
    inputs.emplace_back(folder / file);
  }
  return read_planetoid(
      {inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5], inputs[6], inputs[7]},
      options);
}

}  // namespace ngf::io
