#pragma once

#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "ngf/nn/network.hpp"
#include "nn/views.hpp"

namespace ngf::nn {

/// What all kinds of networks have: parameters of a batch of runs, with their gradient.
template <typename Real>
class NetworkState {
 public:
  NetworkState(ModelSettings of_model, LayerFilter h, ParameterLayout of_parameters,
               int thread_count)
      : settings(std::move(of_model)),
        filter(std::move(h)),
        layout(std::move(of_parameters)),
        threads(thread_count),
        parameters(layout.size(), Real{0}),
        gradient(layout.size(), Real{0}) {}
  virtual ~NetworkState() = default;
  NetworkState(const NetworkState&) = delete;
  NetworkState& operator=(const NetworkState&) = delete;

  /// As those of Network.
  virtual FirstLayer first_layer() const = 0;
  virtual double flops() const = 0;
  virtual const SignalsOf<Real>& forward(const Dropout* dropout) = 0;
  virtual void backward(const SignalsOf<Real>& by_logits) = 0;

  ModelSettings settings;
  LayerFilter filter;
  ParameterLayout layout;
  int threads;
  AlignedVector<Real> parameters;
  AlignedVector<Real> gradient;

 protected:
  /// The columns of some runs of what all have side by side.
  template <typename View>
  View of(View all, const Runs& runs) const {
    const Eigen::Index width = all.cols / static_cast<Eigen::Index>(layout.runs());
    all.cols = width * static_cast<Eigen::Index>(runs.count);
    all.data += width * static_cast<Eigen::Index>(runs.first);
    return all;
  }
  detail::ConstView<Real> value(const ParameterBlock& at, const Runs& runs) const {
    const auto cols = static_cast<Eigen::Index>(at.cols * layout.runs());
    return of(detail::ConstView<Real>{parameters.data() + at.offset,
                                      static_cast<Eigen::Index>(at.rows), cols, cols},
              runs);
  }
  detail::MutableView<Real> gradient_of(const ParameterBlock& at, const Runs& runs) {
    const auto cols = static_cast<Eigen::Index>(at.cols * layout.runs());
    return of(detail::MutableView<Real>{gradient.data() + at.offset,
                                        static_cast<Eigen::Index>(at.rows), cols, cols},
              runs);
  }

  /// Gradients are sums over nodes; those of the taps have been added up already.
  void add_up_ranks() {
    if (filter.partition() == nullptr) return;
    for (const ParameterBlock& block : layout.blocks()) {
      if (block.kind == ParameterBlock::Kind::taps) continue;
      filter.partition()->communicator().sum(
          std::span(gradient).subspan(block.offset, block.rows * block.cols * layout.runs()));
    }
  }
};

template <typename Real>
std::unique_ptr<NetworkState<Real>> make_filter_network(const ModelSettings& settings,
                                                        LayerFilter filter,
                                                        FeaturesOf<Real> features,
                                                        std::int64_t classes,
                                                        const NetworkOptions& options);
template <typename Real>
std::unique_ptr<NetworkState<Real>> make_bank_network(const ModelSettings& settings,
                                                      LayerFilter filter, FeaturesOf<Real> features,
                                                      std::int64_t classes,
                                                      const NetworkOptions& options);

}  // namespace ngf::nn
