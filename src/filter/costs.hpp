#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers that choose storage, merging and form of filters. They were measured on two cores of an
/// AMD EPYC (Zen 4). `ngf bench costs` measures shares of pairs, merging, short rows and blocks
/// again; the others follow the caches, and `ngf bench forms` times what depends on them.
namespace ngf::filter::costs {

/// Share of all pairs above which hops are multiplied faster than lists, on signals of one column
/// in float and in double: where hops fit the last cache, and where they come from memory.
inline constexpr double last_cache_bytes = 32e6;
inline constexpr double dense_above_one_column = 0.06;
inline constexpr double dense_above_one_column_double = 0.15;
inline constexpr double dense_above_one_column_memory = 0.08;
inline constexpr double dense_above_one_column_memory_double = 0.2;
/// The same for several columns: a share, and more for each column in float, since lists take as
/// long for any number of columns up to a cache line.
inline constexpr double dense_above_double = 0.6;
inline constexpr double dense_above_float = 0.1;
inline constexpr double dense_above_per_column = 0.055;
inline constexpr double dense_above_most = 0.95;

/// Adding up signals of twins, and products back, takes as long as this number of pairs per node:
/// of hops, for one column and for more; of lists, where rows are short and signals narrow, and
/// otherwise.
inline constexpr double merging_pairs_dense_one_column = 100;
inline constexpr double merging_pairs_dense = 200;
inline constexpr double merging_pairs_short = 40;
inline constexpr double merging_pairs_lists = 100;
inline constexpr std::int64_t narrow_columns = 16;

/// Rows with fewer columns than this, on average, do not pay for panels of signals.
inline constexpr double short_row = 64;

/// Bytes of a tile of signals that stays in the second cache of a core (1 MB).
inline constexpr std::size_t panel_tile_bytes = std::size_t{1} << 20;
/// Cache lines of a row of a panel that tiles are counted for.
inline constexpr std::size_t panel_lines = 4;
/// A row has at least this number of columns per hop in a tile, and there are no more tiles than
/// the second number: to begin a tile takes time.
inline constexpr double fewest_tile_columns = 64;
inline constexpr std::size_t most_tiles = 1000;
/// Up to this number of threads, each copies the panels of all rows that it reads.
inline constexpr std::size_t threads_with_panels = 4;
/// Rows that a thread takes at a time.
inline constexpr std::size_t rows_at_once = 64;

/// A column in blocks of 64 rows takes this many times as long as one in a full panel of tiles.
inline constexpr double block_column_per_tile_column = 1.25;
/// Groups of rows that a thread takes at a time from tiles; a group is what registers hold.
inline constexpr std::size_t tile_groups = 6;
/// Nodes whose blocks and signals stay in the nearest cache (32 KB), in products and in
/// correlations, and columns in those.
inline constexpr std::size_t block_nodes = 128;
inline constexpr std::size_t correlated_nodes = 48;
inline constexpr std::size_t block_columns = 64;

/// The shares that half of a matrix is cut into, on graphs below and above this number of nodes:
/// each has sums of its own for all nodes. The order of sums, and so every bit of the result,
/// depends on their number, which therefore follows the graph and not the machine.
inline constexpr std::size_t half_small_nodes = 8192;
inline constexpr std::size_t half_shares_small = 4;
inline constexpr std::size_t half_shares = 8;

/// Pairs of rows in one block of memory, and pieces of work per thread while they are merged.
inline constexpr std::size_t pairs_in_block = 32;
inline constexpr std::size_t merge_pieces_per_thread = 8;

/// Rows of a strided matrix that are fetched ahead of the one that is copied.
inline constexpr std::size_t rows_fetched_ahead = 12;

/// Rows of a shift that a thread takes at a time, and numbers that are computed between two
/// questions whether to stop: to ask takes longer than one narrow row.
inline constexpr std::size_t shift_rows_at_once = 64;
inline constexpr std::size_t values_between_questions = 65536;

/// Nodes that take longer than waking a thread, where little is done for each.
inline constexpr std::size_t nodes_per_wake = 8192;

/// Share of values that are not 0 above which embeddings are held as whole rows: their dots take
/// one instruction for 16 values, those of compressed rows two cycles for each value that is not 0.
inline constexpr double whole_embeddings_above = 0.2;
/// Rows whose weights a thread computes between two questions whether to stop.
inline constexpr std::size_t pair_rows_at_once = 64;

/// A node within this number of hops-1 neighbours of a hub is considered as a partner in a pair of
/// rows; those of larger hubs are too many to look at.
inline constexpr std::size_t most_pair_neighbors = 64;

}  // namespace ngf::filter::costs
