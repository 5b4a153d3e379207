#include "ngf/nn/network.hpp"

#include "base/fail.hpp"
#include "nn/first_layer.hpp"
#include "nn/network_state.hpp"

namespace ngf {

namespace {

template <typename Real>
void check(const ModelSettings& settings, const LayerFilter& filter,
           const FeaturesOf<Real>& features, std::int64_t classes, const NetworkOptions& options) {
  check_settings(settings);
  const auto [rows, cols] = nn::shape_of(features);
  if (cols < 1) fail("a network needs nodes with features");
  if (classes < 1) fail("a network needs at least one output");
  if (options.runs < 1) fail("a batch needs at least one run");
  if (!filter.identity() && filter.rows() != static_cast<NodeId>(rows)) {
    fail("features of {} nodes on a graph of {}", rows, filter.rows());
  }
}

}  // namespace

template <typename Real>
Network<Real>::Network(const ModelSettings& settings, LayerFilter filter, FeaturesOf<Real> features,
                       std::int64_t classes, const NetworkOptions& options) {
  check(settings, filter, features, classes, options);
  const auto make = settings.bank ? nn::make_bank_network<Real> : nn::make_filter_network<Real>;
  state_ = make(settings, std::move(filter), std::move(features), classes, options);
}
template <typename Real>
Network<Real>::Network(Network&&) noexcept = default;
template <typename Real>
Network<Real>& Network<Real>::operator=(Network&&) noexcept = default;
template <typename Real>
Network<Real>::~Network() = default;

template <typename Real>
const ParameterLayout& Network<Real>::layout() const {
  return state_->layout;
}
template <typename Real>
FirstLayer Network<Real>::first_layer() const {
  return state_->first_layer();
}
template <typename Real>
double Network<Real>::flops() const {
  return state_->flops();
}
template <typename Real>
std::span<Real> Network<Real>::parameters() {
  return state_->parameters;
}
template <typename Real>
std::span<const Real> Network<Real>::gradient() const {
  return state_->gradient;
}
template <typename Real>
const SignalsOf<Real>& Network<Real>::forward(const Dropout* dropout) {
  return state_->forward(dropout);
}
template <typename Real>
void Network<Real>::backward(const SignalsOf<Real>& by_logits) {
  state_->backward(by_logits);
}

template class Network<float>;
template class Network<double>;

}  // namespace ngf
