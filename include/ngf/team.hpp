#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ngf/shells.hpp"

/// Several processes that work on one graph together.
///
/// Its nodes are dealt to them: a process holds its own nodes' rows of the shells, of signals and
/// of what networks make of them. What others need of signals is gathered, and sums are added up in
/// the order of the ranks, so that a result is a function of the deal, and the same but for
/// rounding for every deal.

namespace ngf {

/// The processes of a job. All of them call the same functions, in the same order.
class Team {
 public:
  /// What has been begun, and is done after `wait`.
  class Pending {
   public:
    Pending() = default;
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };

  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Rank q has rows begins[q] up to begins[q + 1] - 1 of `all`, of so many bytes each; after
  /// `wait`, everybody has all.
  virtual std::unique_ptr<Pending> begin_gather(std::byte* all, std::size_t row_bytes,
                                                std::span<const NodeId> begins) = 0;
  /// Piece q of `from`, of so many bytes, goes to rank q, who finds it as piece `rank()` of `to`.
  virtual void exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) = 0;
  /// What rank 0 has goes to all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  /// Values become the sums over the ranks.
  template <typename Number>
  void sum(std::span<Number> values);
  /// The largest of the ranks' values.
  std::uint64_t largest(std::uint64_t value);
  /// The value of rank 0.
  template <typename Value>
  Value of_first(Value value) {
    broadcast(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  std::string of_first(std::string text);
  /// The texts of all ranks, by rank.
  std::vector<std::string> gather(const std::string& text);
};

/// Numbers for the nodes of a graph that suit a team: those of a rank follow each other, and nodes
/// that walk together, as twins and trees that hang on one node do, have one rank as far as that
/// leaves the ranks about as much work.
struct Arrangement {
  std::vector<NodeId> order;   ///< the old number of each new one
  std::vector<NodeId> begins;  ///< of the ranks, in new numbers
};

/// Work is what is reached within so many hops.
Arrangement arrange(const Graph& graph, int ranks, std::uint32_t hops);

/// The nodes of a graph, dealt to a team: rank r has begins[r] up to begins[r + 1] - 1.
class Deal {
 public:
  /// An empty order says that nodes have their old numbers.
  Deal(std::shared_ptr<Team> team, Arrangement arrangement);

  Team& team() const { return *team_; }
  std::span<const NodeId> begins() const { return arrangement_.begins; }
  NodeId nodes() const { return arrangement_.begins.back(); }
  RowRange own() const;
  /// The number that a node had before nodes were dealt.
  NodeId old_number(NodeId u) const {
    return arrangement_.order.empty() ? u : arrangement_.order[u];
  }
  /// The same for the classes of a partition, of which none has nodes of two ranks, numbered as
  /// their first nodes are.
  Deal of_classes(std::span<const NodeId> class_of) const;
  /// The rank of each node.
  std::vector<std::uint32_t> ranks() const;

 private:
  std::shared_ptr<Team> team_;
  Arrangement arrangement_;
};

}  // namespace ngf
