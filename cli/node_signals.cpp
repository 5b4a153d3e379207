#include "node_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "data_streams.hpp"
#include "graph/name_index.hpp"
#include "io/text.hpp"
#include "ngf/communicator.hpp"
#include "ngf/error.hpp"
#include "ranks.hpp"

namespace ngf::cli {

namespace {

constexpr NodeId no_node = std::numeric_limits<NodeId>::max();

/// A label that is a whole number.
std::optional<std::uint64_t> number_in(std::string_view label) {
  const std::string text = std::string(label) + '\n';
  std::uint64_t value = 0;
  const char* const end = io::parse_digits(text.data(), value);
  if (label.empty() || *end != '\n') return {};
  return value;
}

/// Finds nodes by what the graph's file calls them.
class NodeFinder {
 public:
  explicit NodeFinder(const NodeIds& ids) : ids_(ids) {
    for (std::size_t u = 0; u < ids.names.size(); ++u) index_.add(ids.names[u]);
  }

  /// The node, or `no_node`.
  NodeId find(std::string_view label) const {
    if (!ids_.names.empty()) return index_.find(label).value_or(no_node);
    const auto id = number_in(label);
    if (!id) return no_node;
    if (ids_.original_ids.empty()) {
      return *id >= ids_.first_id && *id - ids_.first_id < ids_.nodes
                 ? static_cast<NodeId>(*id - ids_.first_id)
                 : no_node;
    }
    const auto& all = ids_.original_ids;
    const auto place = std::lower_bound(all.begin(), all.end(), *id);
    return place != all.end() && *place == *id ? static_cast<NodeId>(place - all.begin()) : no_node;
  }

  bool any(const NodeNames& labels) const {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (find(labels[i]) != no_node) return true;
    }
    return false;
  }

 private:
  const NodeIds& ids_;
  detail::NameIndex index_;
};

/// Whether each node is in the list once.
bool is_permutation(const std::vector<NodeId>& node_of, NodeId nodes) {
  std::vector<bool> seen(nodes, false);
  for (const NodeId u : node_of) {
    if (u >= nodes || seen[u]) return false;
    seen[u] = true;
  }
  return node_of.size() == nodes;
}

/// How an error calls a node.
std::string name_of(const NodeIds& ids, NodeId u) {
  if (!ids.names.empty()) return std::string(ids.names[u]);
  return std::to_string(ids.original_ids.empty() ? u + ids.first_id : ids.original_ids[u]);
}

/// Throws Error that names a label without a node, a node without a label or one with two.
[[noreturn]] void refuse_labels(const std::string& place, std::string_view what,
                                const NodeNames& labels, const std::vector<NodeId>& node_of,
                                const NodeIds& ids) {
  std::vector<bool> seen(ids.nodes, false);
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    if (node_of[i] == no_node) {
      throw Error(fmt::format("{}: {} {} is {}, which is no node of the graph", place, what, i + 1,
                              io::quoted(labels[i])));
    }
    if (seen[node_of[i]]) {
      throw Error(fmt::format("{}: {} {}: a second one is called {}", place, what, i + 1,
                              io::quoted(labels[i])));
    }
    seen[node_of[i]] = true;
  }
  const auto missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
  throw Error(fmt::format("{}: has no {} for the node {}", place, what,
                          io::quoted(name_of(ids, static_cast<NodeId>(missing)))));
}

/// The node of each label; empty where they are in the order of the nodes. Row numbers are ids,
/// too. Labels of graphs whose nodes have no names of their own may be anything.
std::vector<NodeId> match(const std::string& place, std::string_view what, const NodeNames& labels,
                          const NodeIds& ids, const NodeFinder& finder) {
  std::vector<NodeId> node_of(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) node_of[i] = finder.find(labels[i]);
  if (!is_permutation(node_of, ids.nodes)) {
    std::vector<NodeId> by_number(labels.size(), no_node);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      by_number[i] = static_cast<NodeId>(
          std::min<std::uint64_t>(number_in(labels[i]).value_or(no_node), no_node));
    }
    const bool some = std::ranges::any_of(node_of, [](NodeId u) { return u != no_node; });
    const bool named = !ids.names.empty() || (!ids.original_ids.empty() && some);
    if (is_permutation(by_number, ids.nodes)) {
      node_of = std::move(by_number);
    } else if (named) {
      refuse_labels(place, what, labels, node_of, ids);
    } else {
      return {};
    }
  }
  return std::ranges::is_sorted(node_of) ? std::vector<NodeId>() : node_of;
}

/// Whether the columns of a table are nodes.
bool columns_are_nodes(const io::Table& table, const NodeIds& ids, const NodeFinder& finder,
                       bool by_shape) {
  if (table.text.times) return true;
  const bool named = !ids.names.empty() || !ids.original_ids.empty();
  if (named && finder.any(table.text.rows)) return false;
  if (named && finder.any(table.text.columns)) return true;
  const auto nodes = static_cast<Eigen::Index>(ids.nodes);
  return by_shape && table.numbers.rows() != nodes && table.numbers.cols() == nodes;
}

void check_shape(const std::string& place, const io::Table& table, const NodeIds& ids, bool columns,
                 bool by_shape) {
  const Matrix& numbers = table.numbers;
  if ((columns ? numbers.cols() : numbers.rows()) == static_cast<Eigen::Index>(ids.nodes)) return;
  if (table.text.times) {
    throw Error(
        fmt::format("{}: its {} rows are times and its {} columns are nodes; the graph has "
                    "{} nodes",
                    place, numbers.rows(), numbers.cols(), ids.nodes));
  }
  if (by_shape) {
    throw Error(
        fmt::format("{}: {} x {} numbers; the graph has {} nodes, so signals have {} rows "
                    "or {} columns",
                    place, numbers.rows(), numbers.cols(), ids.nodes, ids.nodes, ids.nodes));
  }
  throw Error(fmt::format("{}: {} rows; the graph has {} nodes, and each needs a row", place,
                          numbers.rows(), ids.nodes));
}

void check_finite(const std::string& place, const Matrix& numbers) {
  for (Eigen::Index i = 0; i < numbers.rows(); ++i) {
    for (Eigen::Index j = 0; j < numbers.cols(); ++j) {
      if (std::isfinite(numbers(i, j))) continue;
      throw Error(fmt::format("{}: row {}, column {} is {}; expected a finite number", place, i, j,
                              numbers(i, j)));
    }
  }
}

/// Says how a table is read.
void tell(const std::string& place, const io::Table& table, const SignalLayout& layout,
          const NodeIds& ids, const Common& common) {
  std::string text;
  if (layout.text.times) {
    text = fmt::format("{} rows are times, {} columns are nodes; transposed", table.numbers.rows(),
                       table.numbers.cols());
  } else if (layout.columns_are_nodes && !layout.text.columns.empty()) {
    text = fmt::format("{} columns are nodes; transposed", table.numbers.cols());
  }
  const bool labels = !(layout.columns_are_nodes ? layout.text.columns : layout.text.rows).empty();
  if (!ids.names.empty() && !labels) {
    text = fmt::format("{} have no names; they are taken in the order of the nodes",
                       layout.columns_are_nodes ? "columns" : "rows");
  }
  if (!layout.node_of.empty()) {
    text += fmt::format("{}{} are matched with nodes by their names", text.empty() ? "" : "; ",
                        layout.columns_are_nodes ? "columns" : "rows");
  }
  if (!text.empty()) note(common, fmt::format("{}: {}", place, text));
}

/// One row per node of a table.
Matrix by_node(Matrix numbers, const SignalLayout& layout) {
  const auto nodes = static_cast<Eigen::Index>(layout.node_of.size());
  if (!layout.columns_are_nodes && nodes == 0) return numbers;
  if (nodes == 0) return numbers.transpose();
  Matrix values(nodes, layout.columns_are_nodes ? numbers.rows() : numbers.cols());
  for (Eigen::Index i = 0; i < nodes; ++i) {
    auto row = values.row(layout.node_of[static_cast<std::size_t>(i)]);
    if (layout.columns_are_nodes) {
      row = numbers.col(i).transpose();
    } else {
      row = numbers.row(i);
    }
  }
  return values;
}

/// The inverse of `by_node`.
Matrix by_layout(const Matrix& values, const SignalLayout& layout) {
  const bool columns = layout.columns_are_nodes;
  Matrix numbers(columns ? values.cols() : values.rows(), columns ? values.rows() : values.cols());
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    const Eigen::Index u = layout.node_of.empty() ? i : layout.node_of[static_cast<std::size_t>(i)];
    if (columns) {
      numbers.col(i) = values.row(u).transpose();
    } else {
      numbers.row(i) = values.row(u);
    }
  }
  return numbers;
}

/// Makes a header where there is none.
void name_signals(io::TableText& text, Eigen::Index signals) {
  for (Eigen::Index j = 0; text.columns.size() < static_cast<std::size_t>(signals); ++j) {
    text.columns.push_back(signals == 1 ? "value" : fmt::format("value_{}", j + 1));
  }
}

/// Labels rows with the names of the nodes.
void name_rows(io::TableText& text, const NodeIds& ids, Eigen::Index signals) {
  text.rows = ids.names;
  text.corner = "node";
  name_signals(text, signals);
}

/// The text around a result: that of the signals, and the names of nodes where they have none.
io::TableText text_around(const Matrix& values, const SignalLayout& layout, const NodeIds& ids) {
  io::TableText text = layout.text;
  if (ids.names.empty()) return text;
  if (layout.columns_are_nodes) {
    if (text.columns.empty()) text.columns = ids.names;
  } else if (text.rows.empty()) {
    name_rows(text, ids, values.cols());
  }
  return text;
}

}  // namespace

NodeIds take_ids(io::ReadResult& read) {
  return {read.dataset.graph.nodes(), std::move(read.dataset.names), std::move(read.original_ids),
          read.first_id};
}

NodeIds share_ids(NodeIds ids) {
  if (communicator() == nullptr) return ids;
  // Names have no line ends.
  std::string names;
  for (std::size_t u = 0; u < ids.names.size(); ++u) names += std::string(ids.names[u]) + '\n';
  names = communicator()->of_first(std::move(names));
  if (!speaks()) {
    for (std::size_t at = 0; at < names.size(); at = names.find('\n', at) + 1) {
      ids.names.push_back(std::string_view(names).substr(at, names.find('\n', at) - at));
    }
  }
  ids.nodes = communicator()->of_first(ids.nodes);
  ids.first_id = communicator()->of_first(ids.first_id);
  ids.original_ids.resize(communicator()->of_first(ids.original_ids.size()));
  communicator()->broadcast(std::as_writable_bytes(std::span(ids.original_ids)));
  return ids;
}

NodeSignals read_signals(const std::filesystem::path& path, const NodeIds& ids,
                         const Common& common, const SignalRules& rules) {
  io::Table table = read_table_from(path, common, rules.copies);
  const std::string place = path.string();
  const NodeFinder finder(ids);
  SignalLayout layout;
  const bool columns = columns_are_nodes(table, ids, finder, rules.by_shape);
  layout.columns_are_nodes = columns;
  const NodeNames& labels = columns ? table.text.columns : table.text.rows;
  if (!labels.empty()) {
    layout.node_of = match(place, columns ? "column" : "row", labels, ids, finder);
  }
  check_shape(place, table, ids, columns, rules.by_shape);
  if (rules.finite) check_finite(place, table.numbers);
  layout.text = std::move(table.text);
  tell(place, table, layout, ids, common);
  Matrix values = by_node(std::move(table.numbers), layout);
  return {std::move(values), std::move(layout)};
}

io::TableText text_by_node(const SignalLayout& layout, const NodeIds& ids, Eigen::Index signals) {
  io::TableText text = layout.text;
  if (layout.columns_are_nodes) {
    std::swap(text.rows, text.columns);
    text.corner = "node";
    name_signals(text, signals);
  }
  if (!text.rows.empty() && !layout.node_of.empty()) {
    std::vector<std::size_t> row_of(layout.node_of.size());
    for (std::size_t i = 0; i < row_of.size(); ++i) row_of[layout.node_of[i]] = i;
    NodeNames labels;
    for (const std::size_t row : row_of) labels.push_back(text.rows[row]);
    text.rows = std::move(labels);
  }
  if (text.rows.empty() && !ids.names.empty()) name_rows(text, ids, signals);
  return text;
}

void write_signals(const std::filesystem::path& out, const Matrix& values,
                   const SignalLayout& layout, const NodeIds& ids) {
  const io::TableText text = text_around(values, layout, ids);
  if (layout.is_plain()) return write_data(out, values, text, true);
  write_data(out, by_layout(values, layout), text, !layout.columns_are_nodes);
}

}  // namespace ngf::cli
