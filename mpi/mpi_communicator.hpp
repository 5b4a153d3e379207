#pragma once

#include <mpi.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/partition.hpp"

namespace ngf::io {
class AtomicFile;
}

/// The communicator of processes that MPI has started.
namespace ngf::mpi {

/// The processes of a communicator, by MPI's own collectives. To be called from one thread.
class MpiCommunicator : public Communicator {
 public:
  /// Works on a duplicate of `communicator`, which stays the caller's.
  explicit MpiCommunicator(MPI_Comm communicator);
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  /// Frees what MPI holds for the ranks; all processes do so at the same place, before MPI ends.
  ~MpiCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Pending> begin_gather(std::byte* all, std::size_t row_bytes,
                                        std::span<const NodeId> begins) override;
  void exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) override;
  void broadcast(std::span<std::byte> bytes) override;

  MPI_Comm communicator() const { return communicator_; }
  /// How many threads this process may use so that those of this machine together have as many as
  /// it has processors: those that it is bound to, or its share.
  int threads() const;

  /// The graph that rank 0 has, in memory that processes on one machine share. It stays there as
  /// long as the communicator does.
  Graph share(const Graph& of_first);

  /// `bytes` of memory that all processes on this machine share, zero at first.
  std::byte* shared_memory(std::uint64_t bytes);

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;  // the processes of this machine
  MPI_Comm firsts_ = MPI_COMM_NULL;   // the first process of each machine; null for the others
  std::vector<MPI_Win> windows_;
  int rank_ = 0;
  int size_ = 1;
};

/// A file of a header and rows of one size, which all ranks write together, each its own: it
/// appears whole or not at all, as an io::AtomicFile does.
class RowFile {
 public:
  /// `header` is that of rank 0.
  RowFile(MpiCommunicator& ranks, const std::filesystem::path& target, const std::string& header,
          std::size_t row_bytes);
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;
  ~RowFile();

  /// Writes the rows `numbers` of the file, increasing: fill(number, to) gives the bytes of one.
  void write(const std::vector<std::uint64_t>& numbers,
             const std::function<void(std::uint64_t number, std::byte* to)>& fill);
  /// Makes the file appear under its own name.
  void commit();

 private:
  MpiCommunicator& communicator_;
  std::unique_ptr<io::AtomicFile> passing_;  // of rank 0, who names the file
  MPI_File file_ = MPI_FILE_NULL;
  std::uint64_t header_bytes_ = 0;
  std::size_t row_bytes_;
};

}  // namespace ngf::mpi
