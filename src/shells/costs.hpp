#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers that choose how shells are found and held. Nanoseconds were measured on one core of an
/// AMD EPYC (Zen 4), and `ngf bench costs` measures them again, but `bits_ns_once`, which counts on
/// graphs of few nodes alone. `ngf bench shells` times what depends on the others.
namespace ngf::shells::costs {

/// Automatic storage holds hops where a larger share of all pairs is in a shell, and lists where
/// not: at that density both take the same time in a filter (share of N^2).
inline constexpr double dense_above = 0.25;

/// The queue search: nanoseconds per arc that it looks at, per pair that it lists, per row.
inline constexpr double queue_ns_per_arc = 1.5;
inline constexpr double queue_ns_per_pair = 7;
inline constexpr double queue_ns_per_row = 60;

/// The bit-parallel walk, for lists: nanoseconds per line of 512 bits that it reads, per pair that
/// it lists, per node, and once; per entry of the N^2 that are expanded, for one level and for each
/// more.
inline constexpr double bits_ns_per_line = 3;
inline constexpr double bits_ns_per_pair = 1.8;
inline constexpr double bits_ns_per_node = 60;
inline constexpr double bits_ns_once = 20'000;
inline constexpr double bits_ns_per_entry = 0.08;
inline constexpr double bits_ns_per_entry_and_level = 0.025;

/// A quick estimate searches from one of this number of rows, and from no more than the second;
/// or until it has looked at this many times the arcs of the graph, and this number besides.
inline constexpr std::uint64_t rows_per_search = 64;
inline constexpr std::uint64_t most_searches = 64;
inline constexpr std::uint64_t searches_of_graph = 4;
inline constexpr std::uint64_t arcs_besides = 100'000;

/// Streamed rows are handed over when they have this number of columns, which fit into the second
/// cache of a core (1 MB).
inline constexpr std::size_t columns_in_stream = std::size_t{1} << 18;

/// Rows that a thread searches by queue before it hands them over.
inline constexpr std::size_t queue_rows = 256;

/// Hops for which the columns of a row are listed hop by hop, a vector at a time; for more, one
/// pass sorts them.
inline constexpr std::uint32_t hops_by_vector = 16;

/// Lists of up to these lengths are sorted by insertion and by counting smaller ones; those with a
/// node of this many of the graph's, or more, by marking bits.
inline constexpr std::size_t sorted_by_insertion = 12;
inline constexpr std::size_t sorted_by_ranks = 32;
inline constexpr std::size_t nodes_per_bit_sorted = 256;

/// Lines of the walk, and bytes of a matrix, above which lines are fetched ahead, and rows written
/// past the caches. (Up to some 16 MB, what was written is still there when it is read next.)
inline constexpr std::size_t lines_in_caches = std::size_t{1} << 15;
inline constexpr std::uint64_t bytes_in_caches = std::uint64_t{1} << 24;

/// Rows whose pairs are counted together, sixteen hops in each pass (bytes): they fit into the
/// second cache of a core.
inline constexpr std::size_t bytes_counted = std::size_t{1} << 18;

/// Sources are grouped by halving, which takes a search from each landmark, from these numbers of
/// hops and groups on: it then saves visits.
inline constexpr std::uint32_t halved_hops = 32;
inline constexpr std::size_t halved_groups = 16;
inline constexpr std::size_t landmarks = 8;

/// The share of free memory that shells may take where no budget is given.
inline constexpr double share_of_free_memory = 0.8;

}  // namespace ngf::shells::costs
