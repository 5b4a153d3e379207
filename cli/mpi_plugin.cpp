#include "mpi_plugin.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/fail.hpp"

namespace ngf::cli {

namespace {

/// Whether Open MPI or MPICH have started this process with others, by their environment variables.
bool has_other_ranks() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    int ranks = 0;
    std::from_chars(text.data(), text.data() + text.size(), ranks);
    if (ranks > 1) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<mpi::Session> start_mpi() {
  // Slurm sets variables for a single rank, too, and so does a parent that has used MPI; MPI itself
  // knows the number of ranks.
  if (!has_other_ranks() && std::getenv("PMIX_RANK") == nullptr) return nullptr;
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const fs::path& path : {folder / "ngf_mpi.so", folder / NGF_PLUGIN_FOLDER / "ngf_mpi.so"}) {
    if (!fs::exists(path, unknown)) continue;
    // MPI's own plug-ins look for its symbols among those of the whole process.
    void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (plugin == nullptr) detail::fail("{}: {}", path.string(), ::dlerror());
    void* const start = ::dlsym(plugin, mpi::start_session_name);
    if (start == nullptr) detail::fail("{}: {}", path.string(), ::dlerror());
    return std::unique_ptr<mpi::Session>(reinterpret_cast<mpi::StartSession*>(start)());
  }
  if (!has_other_ranks()) return nullptr;
  detail::fail(
      "started by mpirun, but built without MPI; install an MPI for developers (Debian: "
      "libopenmpi-dev), then run `make build` again");
}

}  // namespace ngf::cli
