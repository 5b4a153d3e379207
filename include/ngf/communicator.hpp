#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ngf/node.hpp"

namespace ngf {

/// The processes of a job. All of them call the same functions, in the same order.
class Communicator {
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

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

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

}  // namespace ngf
