#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace ngf::report {

namespace {

// Whatever is larger is drawn as if it were this, so that no difference overflows.
constexpr double largest_value = 1e280;
// Ranges that are narrower, relative to their ends, are taken for a point.
constexpr double narrowest = 1e-9;

std::string superscript(int number) {
  constexpr std::array<std::string_view, 10> digits{"⁰", "¹", "²", "³", "⁴",
                                                    "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number)) {
    text += c == '-' ? "⁻" : digits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

/// The number without zeros at the end of its fraction.
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

/// 1, 2 or 5 times a power of ten, the least that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // A hair of rounding must not ask for the next step.
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// How many decades lie between labelled ones.
int decade_step(int decades, int most) {
  for (const int step : {1, 2, 3, 5, 10, 20, 50}) {
    if (decades <= step * most) return step;
  }
  return 100;
}

}  // namespace

std::string human_number(double value, int significant) {
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e6) {
    const int decimals = significant - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
    return without_zeros(fmt::format("{:.{}f}", value, std::max(decimals, 0)));
  }
  const std::string text = fmt::format("{:.{}e}", value, significant - 1);
  const std::size_t e = text.find('e');
  const std::string mantissa = without_zeros(text.substr(0, e));
  std::string power = "10" + superscript(std::stoi(text.substr(e + 1)));
  if (mantissa == "1") return power;
  return mantissa == "-1" ? "-" + power : mantissa + "×" + power;
}

bool Axis::shows(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0);
}

Axis::Axis(const std::vector<double>& values, bool logarithmic, Ends ends, int most)
    : logarithmic_(logarithmic) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const double value : values) {
    if (!shows(value, logarithmic)) continue;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  if (low_ > high_) {
    low_ = logarithmic ? 1 : 0;
    high_ = logarithmic ? 10 : 1;
  }
  low_ = std::clamp(low_, logarithmic ? 1 / largest_value : -largest_value, largest_value);
  high_ = std::clamp(high_, low_, largest_value);
  if (high_ - low_ <= narrowest * std::max(std::abs(low_), std::abs(high_)) ||
      high_ - low_ < 1 / largest_value) {
    // A single value stands in the middle.
    const double around = std::abs(low_) < 1 / largest_value ? 1 : std::abs(low_) / 2;
    low_ -= around;
    high_ += around;
  }
  if (logarithmic) {
    // Round ends would be far off; a little room does as well.
    const double room =
        ends == Ends::round ? std::pow(10, 0.04 * (std::log10(high_) - std::log10(low_))) : 1;
    low_ /= room;
    high_ *= room;
    choose_log_ticks(most);
  } else {
    choose_linear_ticks(ends, most);
  }
}

void Axis::choose_linear_ticks(Ends ends, int most) {
  const double step = round_step((high_ - low_) / most);
  if (ends == Ends::round) {
    low_ = std::floor(low_ / step + 1e-9) * step;
    high_ = std::ceil(high_ / step - 1e-9) * step;
  }
  // Counted, not added up, so that no tick is a hair beside its number.
  const double first = std::ceil(low_ / step - 1e-9);
  const auto count = static_cast<int>(std::floor(high_ / step + 1e-9) - first) + 1;
  const double extent = std::max(std::abs(low_), std::abs(high_));
  const int digits =
      1 + std::max(0, static_cast<int>(std::floor(std::log10(extent / step) + 1e-9)));
  for (int i = 0; i < count; ++i) {
    const double value = (first + i) * step;
    ticks_.push_back({value, human_number(value, digits + 1)});
  }
}

void Axis::choose_log_ticks(int most) {
  const double from = std::log10(low_);
  const double to = std::log10(high_);
  const auto inside = [&](double value) {
    return value >= low_ * (1 - narrowest) && value <= high_ * (1 + narrowest);
  };
  const bool decades = to - from >= 2;
  const int step = decades ? decade_step(static_cast<int>(to - from), most) : 1;
  for (int i = static_cast<int>(std::floor(from)); i <= static_cast<int>(std::ceil(to)); ++i) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, i);
      if (i % step != 0 || (decades && factor > 1)) continue;
      if (inside(value)) ticks_.push_back({value, human_number(value)});
    }
  }
  if (decades || ticks_.size() >= 3) return;
  ticks_.clear();
  choose_linear_ticks(Ends::tight, most);
}

double Axis::place(double value) const {
  const double held = std::clamp(value, low_, high_);
  if (!logarithmic_) return (held - low_) / (high_ - low_);
  return (std::log10(held) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

}  // namespace ngf::report
