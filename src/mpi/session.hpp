#pragma once

#include <memory>

#include "mpi/mpi_team.hpp"

namespace ngf::mpi {

/// Whether mpirun, or what stands for it, has started this process beside others.
bool launched();

/// MPI, from here to the end of the program.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const std::shared_ptr<MpiTeam>& team() const { return team_; }
  /// True for the first process on this machine that asks, and for no other: one line is told where
  /// all fail. May be called by a signal handler.
  bool first_to_tell() noexcept;
  /// Ends all processes.
  [[noreturn]] void abort(int exit_code);

 private:
  std::shared_ptr<MpiTeam> team_;
  int* told_ = nullptr;  // on memory that processes share
};

}  // namespace ngf::mpi
