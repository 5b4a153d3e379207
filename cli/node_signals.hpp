#pragma once

#include <filesystem>
#include <vector>

#include "common.hpp"
#include "ngf/io/read.hpp"

/// Tables of signals on the nodes of a graph: which of their rows or columns belongs to which node,
/// and results in the same shape.
namespace ngf::cli {

/// What the file of a graph calls its nodes.
struct NodeIds {
  NodeId nodes = 0;
  NodeNames names;                   ///< where ids are text
  std::vector<NodeId> original_ids;  ///< where they are numbers that were compacted
  NodeId first_id = 0;               ///< where they are row numbers
};

/// Takes the ids of a graph that was read.
NodeIds take_ids(io::ReadResult& read);
/// With several ranks, all of which call this: the ids of rank 0.
NodeIds share_ids(NodeIds ids);

/// How a file of signals is laid out.
struct SignalLayout {
  io::TableText text;
  bool columns_are_nodes = false;
  std::vector<NodeId> node_of;  ///< of each row, or column; empty: in the order of the nodes

  /// One row per node, in their order.
  bool is_plain() const { return !columns_are_nodes && node_of.empty(); }
};

/// One row per node and one column per signal.
struct NodeSignals {
  Matrix values;
  SignalLayout layout;
};

struct SignalRules {
  int copies = 1;         ///< as in io::MatrixReadOptions
  bool finite = false;    ///< missing and infinite values are errors
  bool by_shape = false;  ///< a table with one column per node is transposed without further signs
};

/// Reads signals from a file or standard input, on every rank. Rows that are times make columns
/// nodes. Rows, or columns, are matched with nodes by their names where both have some. Says on
/// standard error how the file is read unless it is one row per node in their order.
NodeSignals read_signals(const std::filesystem::path& path, const NodeIds& ids,
                         const Common& common, const SignalRules& rules);

/// The text around a result with one row per node in their order: what the signals' file, or else
/// the graph's, calls the nodes, and the names of `signals` signals. Empty if neither has names.
io::TableText text_by_node(const SignalLayout& layout, const NodeIds& ids, Eigen::Index signals);

/// Writes a result, one row per node, in the layout of the signals that it was computed from. A
/// table without text around it gets the names of the nodes where they have names.
void write_signals(const std::filesystem::path& out, const Matrix& values,
                   const SignalLayout& layout, const NodeIds& ids);

}  // namespace ngf::cli
