#include "ngf/nn/optimizer.hpp"

#include "base/fail.hpp"
#include "kernels/adam.hpp"
#include "nn/views.hpp"

namespace ngf {

template <typename Real>
Optimizer<Real>::Optimizer(OptimizerKind kind, const ParameterLayout& layout,
                           std::vector<StepSettings> runs, bool decay_all_layers, int threads)
    : kind_(kind),
      layout_(layout),
      runs_(std::move(runs)),
      decay_all_layers_(decay_all_layers),
      threads_(threads) {
  if (runs_.size() != layout.runs()) {
    fail("settings of {} runs for a batch of {}", runs_.size(), layout.runs());
  }
  if (kind == OptimizerKind::adam) {
    mean_.assign(layout.size(), Real{0});
    square_.assign(layout.size(), Real{0});
  }
}

template <typename Real>
void Optimizer<Real>::step(std::span<Real> parameters, std::span<const Real> gradient) {
  ++steps_;
  std::vector<kernels::AdamStep<Real>> of_run(runs_.size());
  for (const ParameterBlock& block : layout_.blocks()) {
    const bool weights =
        block.kind == ParameterBlock::Kind::weight || block.kind == ParameterBlock::Kind::skip;
    const bool decays = weights && (decay_all_layers_ || block.layer == 0);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      of_run[r] = kernels::adam_step<Real>(steps_, runs_[r].lr, decays ? runs_[r].weight_decay : 0);
    }
    // A piece is one row of all runs.
    constexpr std::size_t rows_at_once = 16;
    nn::for_each_rows(block.rows, rows_at_once, threads_,
                      [&](std::size_t, std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin * runs_.size(); i < end * runs_.size(); ++i) {
                          const kernels::AdamStep<Real>& own = of_run[i % runs_.size()];
                          const std::size_t at = block.offset + i * block.cols;
                          if (kind_ == OptimizerKind::adam) {
                            kernels::adam(own, gradient.data() + at, block.cols, mean_.data() + at,
                                          square_.data() + at, parameters.data() + at);
                          } else {
                            const auto lr = static_cast<Real>(runs_[i % runs_.size()].lr);
                            for (std::size_t f = at; f < at + block.cols; ++f) {
                              parameters[f] -= lr * (gradient[f] + own.decay * parameters[f]);
                            }
                          }
                        }
                      });
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace ngf
