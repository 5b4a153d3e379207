#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "detail/aligned.hpp"

namespace ngf::detail {

/// Memory that a thread gave back, kept for the next who wants as much: the system clears each page
/// that it hands out, which takes longer than the copy of signals that is put there.
class KeptMemory {
 public:
  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() {
    for (const Block& block : blocks_) std::free(block.memory);
  }

  /// Null where none of that size is kept.
  void* take(std::size_t bytes) {
    for (Block& block : blocks_) {
      if (block.memory != nullptr && block.bytes == bytes) return std::exchange(block, {}).memory;
    }
    return nullptr;
  }

  void keep(void* memory, std::size_t bytes) {
    if (bytes > most_bytes) return std::free(memory);
    std::free(blocks_[oldest_].memory);
    blocks_[oldest_] = {memory, bytes};
    oldest_ = (oldest_ + 1) % blocks_.size();
  }

  static KeptMemory& of_thread() {
    thread_local KeptMemory kept;
    return kept;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  std::array<Block, 4> blocks_;
  std::size_t oldest_ = 0;
};

/// As AlignedAllocator, of memory that is kept.
template <typename T>
struct ScratchAllocator : AlignedAllocator<T> {
  using value_type = T;

  ScratchAllocator() = default;
  template <typename U>
  explicit ScratchAllocator(const ScratchAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) {
    void* const kept = KeptMemory::of_thread().take(count * sizeof(T));
    return kept != nullptr ? static_cast<T*>(kept) : AlignedAllocator<T>::allocate(count);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    KeptMemory::of_thread().keep(memory, count * sizeof(T));
  }
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace ngf::detail
