#pragma once

#include <CLI/CLI.hpp>

#include "ngf/perturb.hpp"

namespace ngf::cli {

/// `--create`, `--destroy`, `--probability`.
void add_perturb_flags(CLI::App& verb, PerturbOptions& options);
/// Throws if they contradict each other.
void check_perturb_flags(const PerturbOptions& options);

}  // namespace ngf::cli
