#pragma once

#include <Eigen/Core>
#include <functional>

#include "ngf/node.hpp"

namespace ngf {

struct LargestValue {
  double value = 0;
  int applications = 0;  ///< of the operator
};

/// y = A x for vectors.
using Operator = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& y)>;

/// The largest eigenvalue of a symmetric matrix with entries >= 0, by Lanczos' method on the
/// operator itself. It is also its largest singular value. Throws Error when it does not converge.
LargestValue largest_eigenvalue(NodeId nodes, const Operator& apply, std::uint64_t seed = 1);

/// The largest singular value of any matrix, from it and its transpose.
LargestValue largest_singular_value(NodeId nodes, const Operator& apply,
                                    const Operator& apply_transpose, std::uint64_t seed = 1);

}  // namespace ngf
