#pragma once

#include "ngf/progress.hpp"

namespace ngf::detail {

/// The progress of a part of a longer work, in units of the whole. `whole` may be null.
class PartOfProgress : public Progress {
 public:
  PartOfProgress(Progress* whole, std::uint64_t before, std::uint64_t total)
      : whole_(whole), before_(before), total_(total) {}

  void report(std::uint64_t done, std::uint64_t /*total*/) override {
    if (whole_ != nullptr) whole_->report(before_ + done, total_);
  }
  bool stop_requested() const override { return whole_ != nullptr && whole_->stop_requested(); }

 private:
  Progress* whole_;
  std::uint64_t before_;
  std::uint64_t total_;
};

}  // namespace ngf::detail
