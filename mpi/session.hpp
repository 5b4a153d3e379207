#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/partition.hpp"

namespace ngf::mpi {

/// MPI, from its start to the end of the program, without MPI's own types: the program is compiled
/// without MPI, and loads this from a plug-in where mpirun has started it.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// All processes.
  virtual std::shared_ptr<Communicator> communicator() = 0;
  /// The number of threads that this process may use so that those of this machine together have as
  /// many as it has processors: those that it is bound to, or its share.
  virtual int threads() const = 0;
  /// The graph that rank 0 has, in memory that processes on one machine share. It stays there as
  /// long as the session does.
  virtual Graph share(const Graph& of_first) = 0;
  /// Writes a file of a header, that of rank 0, and rows of one size, each rank its own: it appears
  /// whole or not at all, as an io::AtomicFile does. fill(i, to) gives the bytes of row numbers[i];
  /// the numbers increase.
  virtual void write_rows(const std::filesystem::path& path, const std::string& header,
                          std::size_t row_bytes, const std::vector<std::uint64_t>& numbers,
                          const std::function<void(std::size_t i, std::byte* to)>& fill) = 0;
  /// True for the first process on this machine that asks, and for no other: one line is told where
  /// all fail. May be called by a signal handler.
  virtual bool first_to_tell() noexcept = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// The plug-in's function of this name starts MPI. The caller owns the session.
using StartSession = Session*();
inline constexpr const char* start_session_name = "ngf_start_mpi";

}  // namespace ngf::mpi
