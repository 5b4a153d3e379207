#include "mpi/session.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ngf::mpi {

bool launched() {
  // What Open MPI, MPICH and Slurm tell the processes that they start.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    int ranks = 0;
    std::from_chars(text.data(), text.data() + text.size(), ranks);
    if (ranks > 1 || std::string_view(name) == "PMIX_RANK") return true;
  }
  return false;
}

Session::Session() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  team_ = std::make_shared<MpiTeam>(MPI_COMM_WORLD);
  told_ = reinterpret_cast<int*>(team_->shared_memory(sizeof(int)));
  // MPI makes connections when they are first used; that belongs to the start, not to the work.
  team_->largest(0);
}

Session::~Session() {
  team_.reset();
  MPI_Finalize();
}

bool Session::first_to_tell() noexcept { return std::atomic_ref(*told_).exchange(1) == 0; }

void Session::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace ngf::mpi
