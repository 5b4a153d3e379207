#include "ngf/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/fail.hpp"

namespace ngf {

Summary summarize(const std::vector<double>& values) {
  Summary result;
  result.median = quantile(values, 0.5);
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  for (const double value : values) result.std += (value - result.mean) * (value - result.mean);
  result.std = values.size() > 1 ? std::sqrt(result.std / (count - 1)) : 0;
  return result;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) detail::fail("there is no result to summarise");
  if (!(share >= 0 && share <= 1)) detail::fail("{} is no share; expected 0 to 1", share);
  // Numbers that are none come last.
  std::ranges::sort(values, [](double a, double b) { return std::is_lt(std::weak_order(a, b)); });
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

}  // namespace ngf
