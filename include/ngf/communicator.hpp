#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ngf/node.hpp"

namespace ngf {

/// The ranks of a job. All ranks call the same functions in the same order.
class Communicator {
 public:
  /// An operation in progress, which is complete after `wait`.
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

  /// Gathers rows: rank q has the rows begins[q]..begins[q + 1] - 1 of `all`, `row_bytes` bytes
  /// each. After `wait`, every rank has all rows.
  virtual std::unique_ptr<Pending> begin_gather(std::byte* all, std::size_t row_bytes,
                                                std::span<const NodeId> begins) = 0;
  /// All-to-all: block q of `from`, of `piece_bytes` bytes, becomes block `rank()` of `to` on rank
  /// q.
  virtual void exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) = 0;
  /// Broadcasts the bytes of rank 0.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  /// Replaces the values by their sums over the ranks.
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
  /// The strings of all ranks, in the order of the ranks.
  std::vector<std::string> gather(const std::string& text);
};

}  // namespace ngf
