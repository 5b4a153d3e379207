#pragma once

#include <cstdint>

#include "ngf/error.hpp"

namespace ngf {

/// How a long computation reports to its caller. Both functions may be called from any thread.
/// The base class is silent and never stops the work.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  /// `done` of `total` units are finished; the unit is the worker's own.
  virtual void report(std::uint64_t /*done*/, std::uint64_t /*total*/) {}

  /// True if the computation should stop early, by throwing `Interrupted`.
  virtual bool stop_requested() const { return false; }
};

/// Throws Interrupted if the caller has requested a stop. A null `progress` never does.
inline void throw_if_stopped(const Progress* progress) {
  if (progress != nullptr && progress->stop_requested()) throw Interrupted();
}

}  // namespace ngf
