#pragma once

#include <cmath>
#include <vector>

#include "ngf/filter.hpp"
#include "ngf/nn/model.hpp"

/// Networks with banks by their definition, on dense matrices.
namespace ngf::test {

/// B_0, B_1, ..., B_hops.
inline std::vector<Matrix> bank_matrices(const ModelSettings& settings, const Graph& graph) {
  const Matrix one = Matrix::Identity(graph.nodes(), graph.nodes());
  std::vector<Matrix> result{one};
  const std::vector<double> taps(settings.hops + std::size_t{1}, 1);
  for (std::size_t k = 1; k <= settings.hops; ++k) {
    if (settings.model == ModelKind::gcnn) {
      const ShiftOperator shift(graph, settings.shift, 1);
      result.emplace_back(shift.apply<double>(result.back()));
    } else {
      FilterOptions options;
      options.normalization = settings.normalization;
      result.emplace_back(NeighborhoodFilter(graph, taps, options).apply_shell<double>(k, one));
    }
  }
  return result;
}

inline Matrix plain_norm(const Matrix& x, const Matrix& scale, const Matrix& shift) {
  Matrix result = x;
  for (Eigen::Index u = 0; u < x.rows(); ++u) {
    const double mean = x.row(u).mean();
    const double variance = (x.row(u).array() - mean).square().mean();
    result.row(u) = (x.row(u).array() - mean) / std::sqrt(variance + 1e-5) * scale.row(0).array() +
                    shift.row(0).array();
  }
  return result;
}

/// Logits of the parameters of one run, in the order of the layout.
inline Matrix plain_bank_logits(const ModelSettings& settings, const Graph& graph, const Matrix& x,
                                Eigen::Index classes, const std::vector<double>& parameters) {
  const std::vector<Matrix> bank = bank_matrices(settings, graph);
  const double* at = parameters.data();
  const auto take = [&](Eigen::Index rows, Eigen::Index cols) {
    const Matrix result = Eigen::Map<const Matrix>(at, rows, cols);
    at += rows * cols;
    return result;
  };
  const std::int64_t layers = layer_count(settings);
  std::vector<Matrix> states;
  Matrix state = x;
  for (std::int64_t l = 0; l < layers; ++l) {
    const bool last = l + 1 == layers;
    const bool plain = (settings.pre && l == 0) || (settings.post && last);
    Matrix input = state;
    if (last && settings.jump) {
      input.resize(x.rows(), 0);
      for (const Matrix& each : states) {
        Matrix wider(x.rows(), input.cols() + each.cols());
        wider << input, each;
        input = wider;
      }
    }
    const auto matrices = static_cast<Eigen::Index>(plain ? 1 : settings.hops + 1);
    const Eigen::Index outputs = last ? classes : settings.hidden;
    const Matrix weight = take(matrices * input.cols(), outputs);
    const Matrix bias = settings.bias ? take(1, outputs) : Matrix::Zero(1, outputs);
    if (settings.residual && l > 0) {
      const Matrix scale = take(1, input.cols());
      input = plain_norm(input, scale, take(1, input.cols()));
    }
    Matrix z = Matrix::Zero(x.rows(), outputs);
    for (Eigen::Index k = 0; k < matrices; ++k) {
      z += bank[static_cast<std::size_t>(k)] * input *
           weight.middleRows(k * input.cols(), input.cols());
    }
    z.rowwise() += bias.row(0);
    if (!last) z = z.cwiseMax(0);
    state = settings.residual && !plain ? Matrix(state + z) : z;
    states.push_back(state);
  }
  return state;
}

}  // namespace ngf::test
