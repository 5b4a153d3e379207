
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "nn/decoder.hpp"
#include "tasks/costs.hpp"
#include "tasks/fitter.hpp"

namespace ngf::tasks {

void Meter::add(std::uint64_t epochs) {
  throw_if_stopped(progress_);
  if (progress_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  done_ += epochs;
  progress_->report(std::min(done_, total_), total_);
}

void squared_error_gradient(std::span<const float> outputs, const float* targets,
                            const float* weights, float* gradient) {
  float count = 0;
  for (std::size_t u = 0; u < outputs.size(); ++u) count += weights[u];
  const float scale = count > 0 ? 2 / count : 0;
  for (std::size_t u = 0; u < outputs.size(); ++u) {
    gradient[u] = scale * weights[u] * (outputs[u] - targets[u]);
  }
}

namespace {

LayerFilter filter_of(const Graph& graph, const DenoiseSettings& settings, Progress* progress) {
  if (settings.arch == DenoiseArch::gf) {
    return LayerFilter(PolynomialFilter(graph, settings.taps, settings.shift, settings.threads));
  }
  FilterOptions options;
  options.normalization = settings.normalization;
  options.shells.storage = settings.storage;
  options.shells.threads = settings.threads;
  return make_in_half(settings.memory, [&](std::uint64_t memory) {
    options.shells.memory = memory;
    return LayerFilter(NeighborhoodFilter(graph, settings.taps, options, progress));
  });
}

class DecoderFitter : public Fitter {
 public:
  DecoderFitter(const Graph& graph, const DenoiseSettings& settings, Progress* progress)
      : settings_(settings),
        nodes_(graph.nodes()),
        filter_(filter_of(graph, settings, progress), settings.hidden),
        start_(static_cast<std::size_t>(settings.hidden) * nodes_) {
    check_budget(nn::decoder_bytes(nodes_, settings.hidden), settings.memory, "fitting one signal");
    Random random = random_for(settings.seed, Use::denoise_weights, 0);
    const double deviation = 0.1 / std::sqrt(static_cast<double>(nodes_));
    for (float& value : start_) value = static_cast<float>(deviation * random.normal());
  }

  /// That of H b for white noise b.
  double signal_size() const override {
    constexpr Eigen::Index draws = 16;
    Random random = random_for(settings_.seed, Use::denoise_size, 0);
    Matrix b(static_cast<Eigen::Index>(nodes_), draws);
    for (Eigen::Index i = 0; i < b.size(); ++i) b.data()[i] = random.normal();
    return std::sqrt(filter_.filter().apply(b).squaredNorm() / static_cast<double>(b.size()));
  }

  void fit(const FitTask& task, const FitWatch& watch, Meter& meter) override {
    const auto columns = static_cast<std::size_t>(task.targets.cols());
    const auto threads = static_cast<std::size_t>(thread_count(settings_.threads));
    // Signals side by side need nothing of each other, while panels of one wait for the slowest.
    const bool side_by_side = filter_.by_panels() && costs::threads_per_decoder * columns > threads;
    const int across = side_by_side ? static_cast<int>(threads) : 1;
    const int within = side_by_side ? 1 : static_cast<int>(threads);
    parallel_for(columns, across,
                 [&](std::size_t column) { fit_one(task, column, within, watch, meter); });
  }

 private:
  void fit_one(const FitTask& task, std::size_t column, int threads, const FitWatch& watch,
               Meter& meter) const {
    constexpr std::uint32_t told_every = 50;
    nn::Decoder<float> decoder(filter_, settings_.hidden, threads);
    decoder.set_parameters(start_);
    std::vector<float> gradient(nodes_);
    std::span<const float> outputs = decoder.forward();
    const auto at = static_cast<Eigen::Index>(column);
    for (std::uint32_t epoch = 1; epoch <= task.epochs; ++epoch) {
      squared_error_gradient(outputs, task.targets.col(at).data(), task.weights.col(at).data(),
                             gradient.data());
      outputs = decoder.step(gradient, {settings_.optimizer, settings_.lr});
      const bool more = watch(column, epoch, outputs);
      if (epoch % told_every == 0) meter.add(told_every);
      if (more) continue;
      meter.add(task.epochs - epoch / told_every * told_every);
      break;
    }
  }

  DenoiseSettings settings_;
  std::size_t nodes_;
  nn::DecoderFilter<float> filter_;
  std::vector<float> start_;
};

}  // namespace

std::unique_ptr<Fitter> make_decoder_fitter(const Graph& graph, const DenoiseSettings& settings,
                                            Progress* progress) {
  return std::make_unique<DecoderFitter>(graph, settings, progress);
}

}  // namespace ngf::tasks
