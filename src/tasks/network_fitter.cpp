#include <cmath>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "ngf/nn/network.hpp"
#include "tasks/costs.hpp"
#include "tasks/fitter.hpp"

namespace ngf::tasks {

namespace {

using Kind = ParameterBlock::Kind;

ModelSettings model_of(const DenoiseSettings& settings) {
  ModelSettings model;
  model.hidden = settings.hidden;
  model.layers = settings.layers;
  switch (settings.arch) {
    case DenoiseArch::ngf:
    case DenoiseArch::gf:
      model.model = settings.arch == DenoiseArch::ngf ? ModelKind::ngcnn : ModelKind::gcnn;
      model.hops = static_cast<std::uint32_t>(settings.taps.size() - 1);
      model.taps = settings.taps;
      model.normalization = settings.normalization;
      model.shift = settings.shift;
      model.bias = false;
      model.linear_output = true;
      break;
    case DenoiseArch::gcn:
      model.model = ModelKind::gcn;
      break;
    default:
      // sgc: each layer propagates twice, where the model of that name has one layer.
      model.model = ModelKind::gcnn;
      model.shift = Shift::gcn;
      model.hops = 2;
      model.taps = {0, 0, 1};
  }
  return model;
}

/// One weight of a layer with `in` inputs and `out` outputs.
double draw_weight(DenoiseArch arch, double in, double out, Random& random) {
  if (arch == DenoiseArch::gcn) return (2 * random.uniform() - 1) * std::sqrt(6 / (in + out));
  if (arch == DenoiseArch::sgc) return (2 * random.uniform() - 1) / std::sqrt(in);
  return 0.1 / std::sqrt(in) * random.normal();
}

class NetworkFitter : public Fitter {
 public:
  NetworkFitter(const Graph& graph, const DenoiseSettings& settings, Progress* progress)
      : settings_(settings),
        model_(model_of(settings)),
        nodes_(graph.nodes()),
        filter_(make_in_half(settings.memory, [&](std::uint64_t memory) {
          return LayerFilter(
              model_, graph,
              {.storage = settings.storage, .threads = settings.threads, .memory = memory},
              progress);
        })) {
    const std::int64_t inputs = input_width(graph, settings);
    const double deviation = settings.input_deviation > 0
                                 ? settings.input_deviation
                                 : 0.1 / std::sqrt(static_cast<double>(nodes_));
    Random random = random_for(settings.seed, Use::denoise_inputs, 0);
    input_.resize(static_cast<Eigen::Index>(nodes_), inputs);
    for (Eigen::Index i = 0; i < input_.size(); ++i) {
      input_.data()[i] = static_cast<float>(deviation * random.normal());
    }
    bytes_ = run_bytes(model_, !filter_.identity(), nodes_, inputs, 1);
    check_budget(2 * bytes_, settings.memory, "fitting one signal");
    budget_ = memory_left(settings.memory) / 2;
    const auto threads = static_cast<std::uint64_t>(thread_count(settings.threads));
    memory_for_products_ = share_of_left(settings.memory, 4 * threads);
  }

  double signal_size() const override { return 1; }

  void fit(const FitTask& task, const FitWatch& watch, Meter& meter) override {
    const auto columns = static_cast<std::size_t>(task.targets.cols());
    const auto threads = static_cast<std::size_t>(thread_count(settings_.threads));
    const std::size_t at_once = std::max<std::size_t>(1, budget_ / bytes_);
    // Signals need nothing of each other, while threads that share one wait for the slowest.
    const bool side_by_side = columns >= threads && at_once >= threads;
    const std::size_t workers = side_by_side ? threads : 1;
    constexpr std::uint64_t widest = costs::batch_runs;
    const std::size_t batch =
        std::clamp<std::size_t>(side_by_side ? costs::signal_batch_bytes / bytes_ : widest, 1,
                                std::min<std::size_t>(widest, at_once / workers));
    const std::size_t wanted = (columns + batch - 1) / batch;
    const std::size_t batches = (wanted + workers - 1) / workers * workers;
    const int within = side_by_side ? 1 : static_cast<int>(threads);
    parallel_for(batches, static_cast<int>(workers), [&](std::size_t b) {
      const std::size_t begin = columns * b / batches;
      const std::size_t end = columns * (b + 1) / batches;
      if (begin < end) fit_batch(task, begin, end - begin, within, watch, meter);
    });
  }

 private:
  /// All runs begin with the same weights: a signal has no number of its own.
  void draw_weights(Network<float>& network) const {
    const ParameterLayout& layout = network.layout();
    for (const ParameterBlock& block : layout.blocks()) {
      const std::uint64_t item = 1 + 2 * block.layer + (block.kind == Kind::bias ? 1 : 0);
      Random random = random_for(settings_.seed, Use::denoise_weights, item);
      const auto in = static_cast<double>(layout.find(Kind::weight, block.layer)->rows);
      const bool zero = block.kind == Kind::bias && settings_.arch == DenoiseArch::gcn;
      for (std::size_t i = 0; i < block.rows; ++i) {
        const std::size_t first = block.offset + i * layout.runs() * block.cols;
        for (std::size_t f = 0; f < block.cols; ++f) {
          const auto value = static_cast<float>(
              zero ? 0 : draw_weight(settings_.arch, in, static_cast<double>(block.cols), random));
          for (std::size_t r = 0; r < layout.runs(); ++r) {
            network.parameters()[first + r * block.cols + f] = value;
          }
        }
      }
    }
  }

  void fit_batch(const FitTask& task, std::size_t begin, std::size_t runs, int threads,
                 const FitWatch& watch, Meter& meter) const {
    Network<float> network(model_, filter_, input_, 1,
                           NetworkOptions{.runs = runs,
                                          .passes = static_cast<double>(settings_.epochs),
                                          .threads = threads,
                                          .memory = memory_for_products_});
    draw_weights(network);
    Optimizer<float> optimizer(settings_.optimizer, network.layout(),
                               std::vector<StepSettings>(runs, {.lr = settings_.lr}), false,
                               threads);
    SignalsOf<float> gradients(static_cast<Eigen::Index>(nodes_), static_cast<Eigen::Index>(runs));
    std::vector<float> gradient(nodes_);
    std::vector<bool> done(runs, false);
    Eigen::MatrixXf outputs = network.forward();
    for (std::uint32_t epoch = 1; epoch <= task.epochs; ++epoch) {
      for (std::size_t r = 0; r < runs; ++r) {
        const auto at = static_cast<Eigen::Index>(begin + r);
        const auto run = static_cast<Eigen::Index>(r);
        squared_error_gradient({outputs.col(run).data(), nodes_}, task.targets.col(at).data(),
                               task.weights.col(at).data(), gradient.data());
        gradients.col(run) = Eigen::Map<const Eigen::VectorXf>(gradient.data(), gradients.rows());
      }
      network.backward(gradients);
      optimizer.step(network.parameters(), network.gradient());
      outputs = network.forward();
      for (std::size_t r = 0; r < runs; ++r) {
        if (done[r]) continue;
        const float* const own = outputs.col(static_cast<Eigen::Index>(r)).data();
        done[r] = !watch(begin + r, epoch, {own, nodes_});
      }
      const bool over = std::all_of(done.begin(), done.end(), [](bool d) { return d; });
      meter.add(runs * (over ? task.epochs - epoch + 1 : 1));
      if (over) break;
    }
  }

  DenoiseSettings settings_;
  ModelSettings model_;
  std::size_t nodes_;
  LayerFilter filter_;
  SignalsOf<float> input_;
  std::uint64_t bytes_ = 0;                // of one signal
  std::uint64_t budget_ = 0;               // of those at once
  std::uint64_t memory_for_products_ = 0;  // of H X, as in NetworkOptions
};

}  // namespace

std::int64_t input_width(const Graph& graph, const DenoiseSettings& settings) {
  constexpr std::int64_t most = 256;
  return settings.inputs > 0 ? settings.inputs : std::min<std::int64_t>(most, graph.nodes());
}

std::unique_ptr<Fitter> make_network_fitter(const Graph& graph, const DenoiseSettings& settings,
                                            Progress* progress) {
  return std::make_unique<NetworkFitter>(graph, settings, progress);
}

}  // namespace ngf::tasks
