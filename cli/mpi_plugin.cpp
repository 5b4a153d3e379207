#include "mpi_plugin.hpp"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "detail/fail.hpp"

namespace ngf::cli {

bool launched_by_mpi() {
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

std::unique_ptr<mpi::Session> start_mpi() {
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
  detail::fail(
      "started by mpirun, but built without MPI; install an MPI for developers (Debian: "
      "libopenmpi-dev), then run `make build` again");
}

}  // namespace ngf::cli
