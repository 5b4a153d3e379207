#pragma once

#include <vector>

namespace ngf {

/// What many results come to.
struct Summary {
  double mean = 0;
  double median = 0;
  double std = 0;  ///< with n - 1; 0 for a single result
};

/// Throws Error where there is no result.
Summary summarize(const std::vector<double>& values);

/// The value below which that share of the values lies, interpolated between neighbours. Throws
/// Error where there is no value, and for a share outside 0..1.
double quantile(std::vector<double> values, double share);

}  // namespace ngf
