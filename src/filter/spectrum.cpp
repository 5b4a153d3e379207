#include "ngf/spectrum.hpp"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "ngf/random.hpp"

namespace ngf {

namespace {

/// What Spectra asks of an operator.
class CountedOperator {
 public:
  using Scalar = double;

  CountedOperator(NodeId nodes, const Operator& apply) : nodes_(nodes), apply_(apply) {}

  Eigen::Index rows() const { return nodes_; }
  Eigen::Index cols() const { return nodes_; }
  void perform_op(const double* in, double* out) const {
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(in, nodes_);
    Eigen::VectorXd y(nodes_);
    apply_(x, y);
    Eigen::Map<Eigen::VectorXd>(out, nodes_) = y;
    ++applications_;
  }
  int applications() const { return applications_; }

 private:
  Eigen::Index nodes_;
  const Operator& apply_;
  mutable int applications_ = 0;
};

}  // namespace

LargestValue largest_eigenvalue(NodeId nodes, const Operator& apply, std::uint64_t seed) {
  if (nodes == 0) return {};
  // Vectors with entries > 0 lean towards the eigenvector of a matrix with entries >= 0.
  Random random(seed);
  Eigen::VectorXd start(nodes);
  for (double& value : start) value = 1 + random.uniform();
  CountedOperator op(nodes, apply);
  Eigen::VectorXd image(nodes);
  apply(start, image);
  if (image.cwiseAbs().maxCoeff() == 0) return {.value = 0, .applications = 1};
  constexpr Eigen::Index fewest = 3;
  if (nodes < fewest) {
    // Too small for the method: the matrix itself.
    Eigen::MatrixXd matrix(nodes, nodes);
    for (NodeId u = 0; u < nodes; ++u) {
      Eigen::VectorXd column(nodes);
      apply(Eigen::VectorXd::Unit(nodes, u), column);
      matrix.col(u) = column;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
    return {.value = solver.eigenvalues().maxCoeff(), .applications = static_cast<int>(nodes) + 1};
  }
  constexpr Eigen::Index basis = 24;
  constexpr Eigen::Index most_restarts = 300;
  constexpr double precision = 1e-7;
  Spectra::SymEigsSolver solver(op, 1, std::min<Eigen::Index>(basis, nodes));
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestAlge, most_restarts, precision);
  if (solver.info() != Spectra::CompInfo::Successful) {
    fail("the largest eigenvalue of a matrix of {} nodes was not found in {} steps", nodes,
         op.applications());
  }
  return {.value = solver.eigenvalues()[0], .applications = op.applications() + 1};
}

LargestValue largest_singular_value(NodeId nodes, const Operator& apply,
                                    const Operator& apply_transpose, std::uint64_t seed) {
  const Operator gram = [&](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
    Eigen::VectorXd image(x.size());
    apply(x, image);
    apply_transpose(image, y);
  };
  LargestValue squared = largest_eigenvalue(nodes, gram, seed);
  return {.value = std::sqrt(std::max(0.0, squared.value)),
          .applications = 2 * squared.applications};
}

}  // namespace ngf
