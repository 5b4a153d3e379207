#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/dataset.hpp"
#include "ngf/partition.hpp"

/// The role of this process in a job of several ranks (mpirun).
namespace ngf::cli {

/// Exists from here to the end of the program.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  /// Compares the arguments and the version of all processes. Where they differ, all end with one
  /// line.
  static void agree_on(std::span<char* const> arguments);
  /// Whether this rank takes part in a verb; some run on rank 0 only.
  static bool take_part_in(const std::string& verb);
  /// Prints the line of an error, once for all, and returns the code to end with, or ends all
  /// processes with it.
  static int fail(int exit_code, const std::string& line);
};

/// The communicator; null for a single process.
std::shared_ptr<Communicator> communicator();

/// Whether this process prints and writes: rank 0, or the only process.
bool speaks();
/// Whether what it prints on stderr ends up on a terminal, by way of mpirun or not.
bool on_terminal();
/// Default of `--threads`; 0: all.
int usual_threads();

/// A data set as the ranks store it: each process knows all of it, in the order of the partition.
struct ShardedDataset {
  Dataset dataset;
  std::shared_ptr<const Partition> partition;
};

/// Distributes what rank 0 has read; work is estimated for this number of hops.
ShardedDataset distribute(const Dataset& of_first, std::uint32_t hops);
/// The same for a graph alone.
ShardedDataset distribute_graph(const Graph& of_first, std::uint32_t hops);

/// Broadcasts the graph of rank 0.
Graph share_graph(const Graph& of_first);

/// A matrix that each rank reads, keeping its own rows.
Matrix own_rows(const Matrix& all, const Partition& partition);

/// The groups of nodes, or of none, in the order of the partition.
std::vector<std::uint32_t> sharded_groups(const std::vector<std::uint32_t>& group_of,
                                          const Partition& partition);

/// Writes a file of a header and rows: each rank writes the rows of its own nodes, in the original
/// order. fill(node, to) writes the bytes of a row.
void write_rows(const std::filesystem::path& path, const std::string& header, std::size_t row_bytes,
                const Partition& partition,
                const std::function<void(NodeId node, std::byte* to)>& fill);

/// The same for a .npy file of the matrix with each rank's own rows.
template <typename Real>
void write_npy_rows(const std::filesystem::path& path, const SignalsOf<Real>& own,
                    const Partition& partition);
/// The matrix of all rows in the original order, on every rank.
template <typename Real>
SignalsOf<Real> all_rows(const SignalsOf<Real>& own, const Partition& partition);

/// Per rank: nodes, pairs of its shells, their bytes, and peak memory.
Json by_rank(const Partition& partition, std::uint64_t pairs, std::uint64_t bytes);

}  // namespace ngf::cli
