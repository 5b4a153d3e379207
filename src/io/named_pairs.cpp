// Each piece of the file numbers its own names as they appear, in parallel. Then the pieces are
// joined in their order: a name that no earlier piece has gets the next number, so that all names
// are numbered in the order of the file.

#include "io/named_pairs.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "graph/name_index.hpp"

namespace ngf::io {

namespace {

using detail::NameIndex;

/// The edges of a piece, between the names of the piece.
struct NamedPiece {
  EdgeBlock edges;
  NodeNames names;
  bool further_columns = false;
};

NamedPiece parse_named_piece(std::string_view text, const PairRules& rules, char separator) {
  NamedPiece piece;
  NameIndex names;
  Word word;
  for_each_data_line(text, [&](const char* at) {
    Edge edge{};
    at = parse_node_name(at, separator, word);
    edge.from = names.add(word.text);
    at = parse_node_name(skip_word_separator(at, separator), separator, word);
    edge.to = names.add(word.text);
    double weight = 0;
    at = parse_after_ids(skip_separator(at), rules, &weight, piece.further_columns);
    piece.edges.edges.push_back(edge);
    if (rules.weighted) piece.edges.weights.push_back(weight);
    return at;
  });
  piece.names = std::move(names).take();
  return piece;
}

/// Renames the nodes of a piece to those of the file.
void join(NamedPiece& piece, NameIndex& names) {
  std::vector<NodeId> number(piece.names.size());
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = names.add(piece.names[i]);
  for (Edge& edge : piece.edges.edges) edge = {number[edge.from], number[edge.to]};
}

/// Throws Error unless the next piece can be joined to names of this many bytes. The table and the
/// names move to twice their room when they grow. The error asks for what all pieces may need.
void check_names(const Input& input, const PieceOptions& options, std::uint64_t bytes,
                 std::span<const NamedPiece> pieces) {
  if (2 * (bytes + pieces.front().names.bytes()) <= memory_left(options.memory)) return;
  for (const NamedPiece& piece : pieces) bytes += piece.names.bytes();
  check_budget(2 * bytes, options.memory, fmt::format("{}: the names of its nodes", input.name()));
}

}  // namespace

NamedPairs read_named_pairs(const Input& input, const PieceOptions& options, const PairRules& rules,
                            char separator, const NodeNames& known) {
  check_memory_of_pairs(input, options, rules);
  std::vector<NamedPiece> pieces(count_pieces(input, options));
  for_each_piece(input, options, [&](std::size_t i, std::string_view text) {
    pieces[i] = parse_named_piece(text, rules, separator);
  });
  NamedPairs pairs;
  NameIndex names;
  for (std::size_t i = 0; i < known.size(); ++i) names.add(known[i]);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    throw_if_stopped(options.progress);
    check_names(input, options, names.bytes(), std::span(pieces).subspan(i));
    NamedPiece piece = std::exchange(pieces[i], {});
    join(piece, names);
    if (names.names().size() > largest_id) {
      fail("{}: more than {} nodes", input.name(), largest_id);
    }
    pairs.count += piece.edges.edges.size();
    pairs.further_columns |= piece.further_columns;
    pairs.blocks.push_back(std::move(piece.edges));
    check_growth(i + 1, pieces.size(), options.memory, input.name());
  }
  pairs.names = std::move(names).take();
  return pairs;
}

const char* parse_node_name(const char* at, char separator, Word& word) {
  if (at_line_end(at) || (is_comment(*at) && separator == ' ')) {
    throw LineError{at, "ends too early; expected the names of two nodes"};
  }
  const char* const end = parse_word(at, separator, word);
  if (word.text.empty()) throw LineError{at, "the name of a node is empty"};
  return end;
}

}  // namespace ngf::io
