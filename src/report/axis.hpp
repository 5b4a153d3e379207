#pragma once

#include <string>
#include <vector>

namespace ngf::report {

struct Tick {
  double value;
  std::string label;
};

/// What an axis shows: a range of values, and the marks on it.
class Axis {
 public:
  enum class Ends {
    tight,  ///< at the smallest and the largest value
    round,  ///< at round numbers around them
  };

  /// For the values that `shows` admits; others are ignored. At most about `most` ticks.
  Axis(const std::vector<double>& values, bool logarithmic, Ends ends, int most);

  /// Whether a value has a place on an axis of that kind.
  static bool shows(double value, bool logarithmic);

  double low() const { return low_; }
  /// 0 at the low end, 1 at the high one. Values beyond an end are put there.
  double place(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void choose_linear_ticks(Ends ends, int most);
  void choose_log_ticks(int most);

  bool logarithmic_;
  double low_ = 0;
  double high_ = 1;
  std::vector<Tick> ticks_;
};

/// A finite number as people write it: 0.05, 1200, 3×10⁻⁷.
std::string human_number(double value, int significant = 4);

}  // namespace ngf::report
