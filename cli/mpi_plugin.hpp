#pragma once

#include <memory>

#include "mpi/session.hpp"

namespace ngf::cli {

/// Whether mpirun, or an equivalent, has started this process beside others.
bool launched_by_mpi();

/// Loads the plug-in that knows MPI, from the folder of the program or from where `make install`
/// puts it, and starts MPI. Throws Error where this program was built without it.
std::unique_ptr<mpi::Session> start_mpi();

}  // namespace ngf::cli
