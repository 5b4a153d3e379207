#include "filter/reference.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "shells/reference.hpp"

namespace ngf::filter {

namespace {

double inverse(double degree) { return degree > 0 ? 1 / degree : 0; }

void normalize(Normalization normalization, Eigen::MatrixXd& shell) {
  const Eigen::VectorXd rows = shell.rowwise().sum().unaryExpr(&inverse);
  const Eigen::VectorXd columns = shell.colwise().sum().transpose().unaryExpr(&inverse);
  if (normalization == Normalization::lmax && shell.sum() > 0) {
    shell /= reference_singular_value(shell);
  } else if (normalization == Normalization::row) {
    shell = rows.asDiagonal() * shell;
  } else if (normalization == Normalization::symmetric) {
    shell = rows.cwiseSqrt().asDiagonal() * shell * columns.cwiseSqrt().asDiagonal();
  }
}

}  // namespace

std::vector<Eigen::MatrixXd> reference_shells(const Graph& graph, std::size_t count,
                                              Normalization normalization,
                                              const Eigen::MatrixXd* weights) {
  const auto nodes = static_cast<Eigen::Index>(graph.nodes());
  std::vector<Eigen::MatrixXd> shells(count, Eigen::MatrixXd::Zero(nodes, nodes));
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto found = shells::plain_search(graph, u);
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      if (found.hops[v] < count) shells[found.hops[v]](u, v) = 1;
    }
  }
  for (std::size_t k = 1; weights != nullptr && k < count; ++k) {
    shells[k] = shells[k].cwiseProduct(*weights);
  }
  for (Eigen::MatrixXd& shell : shells) normalize(normalization, shell);
  return shells;
}

Eigen::MatrixXd reference_pair_weights(const Matrix& embeddings, double power) {
  const Eigen::VectorXd norms = embeddings.rowwise().norm();
  Eigen::MatrixXd weights(embeddings.rows(), embeddings.rows());
  for (Eigen::Index u = 0; u < weights.rows(); ++u) {
    for (Eigen::Index v = 0; v < weights.cols(); ++v) {
      const double norm = norms[u] * norms[v];
      const double cosine = norm > 0 ? embeddings.row(u).dot(embeddings.row(v)) / norm : 0;
      weights(u, v) = std::pow(std::max(0.0, cosine), power);
    }
  }
  return weights;
}

Eigen::MatrixXd reference_filter(const Taps& taps, const std::vector<Eigen::MatrixXd>& matrices) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(matrices[0].rows(), matrices[0].cols());
  for (std::size_t k = 0; k < taps.count(); ++k) {
    for (Eigen::Index u = 0; u < sum.rows(); ++u) {
      sum.row(u) += taps(static_cast<NodeId>(u), k) * matrices[k].row(u);
    }
  }
  return sum;
}

double reference_singular_value(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> gram(matrix.transpose() * matrix);
  return std::sqrt(gram.eigenvalues().maxCoeff());
}

}  // namespace ngf::filter
