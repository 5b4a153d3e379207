#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace ngf::detail {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Asks for huge pages for memory that is not touched yet. What is read or written in no order
/// would cost a look-up for each small page. Without them it is only slower.
inline void prefer_huge_pages(void* memory, std::size_t bytes) {
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(memory) % huge_page;
  const std::size_t skipped = into_page == 0 ? 0 : huge_page - into_page;
  if (bytes < skipped + huge_page) return;
  const std::size_t whole = (bytes - skipped) / huge_page * huge_page;
  ::madvise(static_cast<char*>(memory) + skipped, whole, MADV_HUGEPAGE);
}

/// Memory for kernels: aligned to cache lines, and, with `huge`, on huge pages where it is large.
/// Free with std::free.
inline void* allocate_aligned(std::size_t bytes, bool huge = true) {
  constexpr std::size_t line = 64;
  const std::size_t alignment = huge && bytes >= huge_page ? huge_page : line;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) prefer_huge_pages(memory, rounded);
  return memory;
}

/// An allocator of such memory that leaves numbers unset, so that `resize` costs nothing and pages
/// come into being where they are first written.
template <typename T, bool huge = true>
struct AlignedAllocator {
  using value_type = T;
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = AlignedAllocator<U, huge>;
  };

  AlignedAllocator() = default;
  template <typename U>
  explicit AlignedAllocator(const AlignedAllocator<U, huge>& /*other*/) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_aligned(count * sizeof(T), huge));
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { std::free(memory); }

  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }

  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;
/// For what is freed soon and wanted again: malloc keeps it for the next call, while huge pages
/// would come from the system, to be cleared, each time.
template <typename T>
using BriefVector = std::vector<T, AlignedAllocator<T, false>>;

}  // namespace ngf::detail

namespace ngf {

using detail::AlignedVector;
using detail::BriefVector;

}  // namespace ngf
