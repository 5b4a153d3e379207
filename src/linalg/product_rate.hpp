#pragma once

namespace ngf::detail {

/// Multiplications and additions of floats a second that all threads together reach on tiles that
/// stay in the nearest caches: the best of so many seconds.
double product_rate(int threads, double seconds);

}  // namespace ngf::detail
