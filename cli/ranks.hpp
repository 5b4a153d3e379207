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

/// Where mpirun has started several processes: who does what.
namespace ngf::cli {

/// From here to the end of the program.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  /// Compares the arguments and the version of all processes. Where they differ, all end with one
  /// line.
  static void agree_on(std::span<char* const> arguments);
  /// Whether this process has a part in a verb; some are for the first alone.
  static bool take_part_in(const std::string& verb);
  /// Prints the line of an error, once for all, and returns the code to end with, or ends all
  /// processes with it.
  static int fail(int exit_code, const std::string& line);
};

/// The processes that work together; null where this one works alone.
std::shared_ptr<Communicator> communicator();

/// Whether this process prints and writes: the only one, or the first.
bool speaks();
/// Whether what it prints on stderr ends up on a terminal, by way of mpirun or not.
bool on_terminal();
/// What `--threads` is where it is not given; 0: all.
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

/// The graph of the first process, for all.
Graph share_graph(const Graph& of_first);

/// A matrix that each process reads, and keeps its own rows of.
Matrix own_rows(const Matrix& all, const Partition& partition);

/// The groups of nodes, or of none, in the order of the partition.
std::vector<std::uint32_t> sharded_groups(const std::vector<std::uint32_t>& group_of,
                                          const Partition& partition);

/// Writes a file of a header and rows together: each process those of its own nodes, by the numbers
/// that they had. fill(node, to) gives the bytes of a row.
void write_rows(const std::filesystem::path& path, const std::string& header, std::size_t row_bytes,
                const Partition& partition,
                const std::function<void(NodeId node, std::byte* to)>& fill);

/// What each process has: nodes, pairs of the shells that it found, their bytes, and the most
/// memory that it took.
Json by_rank(const Partition& partition, std::uint64_t pairs, std::uint64_t bytes);

}  // namespace ngf::cli
