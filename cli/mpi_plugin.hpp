#pragma once

#include <memory>

#include "../mpi/session.hpp"

namespace ngf::cli {

/// Where mpirun, or an equivalent, has started this process: loads the plug-in that knows MPI, from
/// the folder of the program or from where `make install` puts it, and starts MPI. Null for a
/// process that runs alone. Throws Error where there are others, but no plug-in was built.
std::unique_ptr<mpi::Session> start_mpi();

}  // namespace ngf::cli
