#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "ngf/partition.hpp"

namespace ngf::test {

/// A team of threads in one process.
class ThreadTeam : public Communicator {
 public:
  struct Shared {
    explicit Shared(int ranks) : barrier(ranks), lent(static_cast<std::size_t>(ranks)) {}
    std::barrier<> barrier;
    std::vector<const std::byte*> lent;  ///< by rank
  };

  ThreadTeam(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(shared_->lent.size()); }

  std::unique_ptr<Pending> begin_gather(std::byte* all, std::size_t row_bytes,
                                        std::span<const NodeId> begins) override {
    lend(all, [&](std::size_t q, const std::byte* from) {
      if (static_cast<int>(q) == rank_) return;
      std::memcpy(all + begins[q] * row_bytes, from + begins[q] * row_bytes,
                  (begins[q + 1] - begins[q]) * row_bytes);
    });
    return std::make_unique<Done>();
  }
  void exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) override {
    lend(from, [&](std::size_t q, const std::byte* other) {
      std::memcpy(to + q * piece_bytes, other + static_cast<std::size_t>(rank_) * piece_bytes,
                  piece_bytes);
    });
  }
  void broadcast(std::span<std::byte> bytes) override {
    lend(bytes.data(), [&](std::size_t q, const std::byte* from) {
      if (q == 0 && rank_ != 0 && !bytes.empty()) std::memcpy(bytes.data(), from, bytes.size());
    });
  }

 private:
  struct Done : Pending {
    void wait() override {}
  };

  /// Calls use(rank, what it lends) for each rank, before anybody goes on.
  template <typename Use>
  void lend(const std::byte* own, const Use& use) {
    shared_->lent[static_cast<std::size_t>(rank_)] = own;
    shared_->barrier.arrive_and_wait();
    for (std::size_t q = 0; q < shared_->lent.size(); ++q) use(q, shared_->lent[q]);
    shared_->barrier.arrive_and_wait();
  }

  std::shared_ptr<Shared> shared_;
  int rank_;
};

/// Calls body(team) on each of so many ranks, at the same time.
inline void run_team(int ranks,
                     const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
  const auto shared = std::make_shared<ThreadTeam::Shared>(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(std::make_shared<ThreadTeam>(shared, rank));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
        shared->barrier.arrive_and_drop();
      }
    });
  }
}

}  // namespace ngf::test
