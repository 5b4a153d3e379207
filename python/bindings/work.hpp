#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>

#include "ngf/progress.hpp"

namespace ngf::python {

namespace nb = nanobind;

/// Asks Python every 50 ms whether Ctrl-C was pressed. There is one instance for all calls, since
/// some objects keep a pointer to it; Ctrl-C stops the calls that run, on all threads.
class Signals : public Progress {
 public:
  static Signals& instance() {
    static Signals signals;
    return signals;
  }

  /// Resets the flag, once the interrupted call has returned.
  void forget() { stopped_ = false; }

  bool stop_requested() const override {
    if (stopped_) return true;
    // Threads of the engine's own are unknown to Python, which tells its main thread alone.
    if (PyGILState_GetThisThreadState() == nullptr) return false;
    constexpr std::chrono::milliseconds pause{50};
    thread_local std::chrono::steady_clock::time_point asked;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked < pause) return false;
    asked = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) stopped_ = true;
    return stopped_;
  }

 private:
  Signals() = default;
  mutable std::atomic<bool> stopped_ = false;
};

/// Calls work(progress) while other threads of Python go on. What Ctrl-C raised goes up.
template <typename Work>
auto without_gil(const Work& work) {
  const auto raise_if_pressed = [] {
    if (PyErr_Occurred() == nullptr) return;
    Signals::instance().forget();
    throw nb::python_error();
  };
  auto result = [&] {
    try {
      const nb::gil_scoped_release release;
      return work(&Signals::instance());
    } catch (...) {
      raise_if_pressed();
      throw;
    }
  }();
  raise_if_pressed();  // when all was done already
  return result;
}

}  // namespace ngf::python
