#include "ngf/tasks/denoise.hpp"

#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/names.hpp"
#include "tasks/baselines.hpp"
#include "tasks/fitter.hpp"
#include "tasks/stopping.hpp"

namespace ngf {

std::string_view arch_name(DenoiseArch arch) {
  return detail::name_in({"ngf", "gf", "gcn", "sgc", "tikhonov", "median"}, arch);
}

std::string_view stop_name(StopRule rule) {
  return detail::name_in({"blind", "sure", "variance", "epochs", "oracle"}, rule);
}

namespace {

bool is_baseline(DenoiseArch arch) {
  return arch == DenoiseArch::tikhonov || arch == DenoiseArch::median;
}

void check_signals(const Graph& graph, const Matrix& signals, std::string_view what) {
  if (signals.rows() != static_cast<Eigen::Index>(graph.nodes())) {
    fail("{} signals have {} values, and the graph has {} nodes", what, signals.rows(),
         graph.nodes());
  }
  for (Eigen::Index s = 0; s < signals.cols(); ++s) {
    bool any = false;
    for (Eigen::Index u = 0; u < signals.rows(); ++u) {
      if (std::isinf(signals(u, s))) {
        fail("{} signal {} is infinite at node {}; a missing value is NaN", what, s, u);
      }
      any = any || !std::isnan(signals(u, s));
    }
    if (!any) fail("{} signal {} has no value at all", what, s);
  }
}

void check(const Graph& graph, const Matrix& noisy, const Matrix* clean,
           const DenoiseSettings& settings) {
  if (graph.nodes() == 0) fail("the graph has no nodes");
  check_signals(graph, noisy, "noisy");
  if (clean != nullptr) {
    check_signals(graph, *clean, "clean");
    if (clean->cols() != noisy.cols()) {
      fail("{} clean signals for {} noisy ones", clean->cols(), noisy.cols());
    }
  }
  if (settings.stop == StopRule::oracle && clean == nullptr && !is_baseline(settings.arch)) {
    fail("the oracle needs the clean signal");
  }
  if (settings.epochs == 0) fail("a fit needs at least one epoch");
  if (settings.layers < 2) fail("denoising needs at least 2 layers");
  if (settings.hidden < 1) fail("hidden layers need a width of at least 1");
  if (settings.inputs < 0) fail("a network cannot have {} inputs", settings.inputs);
  if (!(settings.lr > 0) || !std::isfinite(settings.lr)) {
    fail("lr is {}; it must be above 0", settings.lr);
  }
  if (settings.folds < 2) fail("{} folds; at least 2 are needed", settings.folds);
  if (settings.probes < 1) fail("sure needs at least one probe");
  if (settings.taps.empty()) fail("a filter needs at least one tap");
  if (settings.noise_level &&
      !(*settings.noise_level > 0 && std::isfinite(*settings.noise_level))) {
    fail("the noise level is {}; it must be above 0", *settings.noise_level);
  }
}

// ---- Errors against the clean signal ----

/// |x - x^|^2 / |x|^2 over what is known of both; nothing where that is no number.
std::optional<double> error_of(const Matrix* clean, Eigen::Index s, const Eigen::VectorXd& x) {
  if (clean == nullptr) return {};
  double error = 0;
  double size = 0;
  for (Eigen::Index u = 0; u < x.size(); ++u) {
    const double true_value = (*clean)(u, s);
    if (std::isnan(true_value)) continue;
    error += (true_value - x[u]) * (true_value - x[u]);
    size += true_value * true_value;
  }
  if (!(size > 0) || std::isnan(error)) return {};
  return error / size;
}

// ---- Signals in the fitter's units ----

struct Unit {
  double offset = 0;
  double scale = 1;  ///< of the fitter's unit: (y - offset) * scale
  bool constant = false;
};

Unit unit_of(const Eigen::VectorXd& y, const DenoiseSettings& settings, double size) {
  Unit unit;
  const double mean = tasks::known_mean(y);
  double count = 0;
  double squares = 0;
  double largest = 0;
  for (const double value : y) {
    if (std::isnan(value)) continue;
    ++count;
    squares += (value - mean) * (value - mean);
    largest = std::max(largest, std::abs(value));
  }
  const double deviation = std::sqrt(squares / count);
  // Values that differ by rounding alone are one value.
  unit.constant = !(deviation > largest * 4 * std::numeric_limits<double>::epsilon());
  if (settings.rescale || unit.constant) unit.offset = mean;
  if (settings.rescale && !unit.constant) unit.scale = size / deviation;
  return unit;
}

/// Whether the filter is made of the settings' taps, and the last layer has none.
bool has_own_filter(const DenoiseSettings& settings) {
  return settings.arch == DenoiseArch::ngf || settings.arch == DenoiseArch::gf;
}

bool fits_decoder(const DenoiseSettings& settings) {
  return has_own_filter(settings) && settings.layers == 2;
}

std::unique_ptr<tasks::Fitter> make_fitter(const Graph& graph, const DenoiseSettings& settings,
                                           Progress* progress) {
  return fits_decoder(settings) ? tasks::make_decoder_fitter(graph, settings, progress)
                                : tasks::make_network_fitter(graph, settings, progress);
}

class NetworkDenoiser {
 public:
  NetworkDenoiser(const Graph& graph, const Matrix& noisy, const Matrix* clean,
                  const DenoiseSettings& settings, Progress* progress)
      : graph_(graph),
        noisy_(noisy),
        clean_(clean),
        settings_(settings),
        progress_(progress),
        fitter_(make_fitter(graph, settings, progress)) {
    result_.signals = noisy;
    result_.each.resize(static_cast<std::size_t>(noisy.cols()));
  }

  DenoiseResult run() {
    prepare();
    tasks::Meter meter(progress_, static_cast<std::uint64_t>(task_.targets.cols()) *
                                      (settings_.epochs + tasks::epochs_of_rule(settings_)));
    verdicts_ = tasks::judge(*fitter_, task_, settings_, noise_, meter);
    fit_all(meter);
    for (std::size_t i = 0; i < fitted_.size(); ++i) finish(i);
    return std::move(result_);
  }

 private:
  /// The signals that there is something to fit of.
  void prepare() {
    const double size = fitter_->signal_size();
    tasks::Smoother smoother;
    for (Eigen::Index s = 0; s < noisy_.cols(); ++s) {
      const Eigen::VectorXd y = noisy_.col(s);
      const Unit unit = unit_of(y, settings_, size);
      if (unit.constant) {
        keep_constant(s, unit.offset);
        continue;
      }
      fitted_.push_back(s);
      units_.push_back(unit);
      if (settings_.stop != StopRule::sure) continue;
      double level = settings_.noise_level.value_or(0);
      if (!settings_.noise_level) {
        if (!smoother) smoother = tasks::tikhonov(graph_, settings_.seed);
        level = std::sqrt(smoother(y, progress_).noise_variance);
      }
      noise_.push_back(level * unit.scale);
    }
    const auto columns = static_cast<Eigen::Index>(fitted_.size());
    task_.epochs = settings_.epochs;
    task_.targets.setZero(noisy_.rows(), columns);
    task_.weights.setZero(noisy_.rows(), columns);
    for (Eigen::Index i = 0; i < columns; ++i) {
      const Unit& unit = units_[static_cast<std::size_t>(i)];
      for (Eigen::Index u = 0; u < noisy_.rows(); ++u) {
        const double value = noisy_(u, fitted_[static_cast<std::size_t>(i)]);
        if (std::isnan(value)) continue;
        task_.targets(u, i) = static_cast<float>((value - unit.offset) * unit.scale);
        task_.weights(u, i) = 1;
      }
    }
  }

  void keep_constant(Eigen::Index s, double value) {
    DenoisedSignal& own = result_.each[static_cast<std::size_t>(s)];
    result_.signals.col(s).setConstant(value);
    own.left_alone = true;
    own.error = error_of(clean_, s, result_.signals.col(s));
    own.error_noisy = error_of(clean_, s, noisy_.col(s));
  }

  Eigen::VectorXd in_own_unit(std::size_t i, std::span<const float> outputs) const {
    const Eigen::Map<const Eigen::VectorXf> x(outputs.data(),
                                              static_cast<Eigen::Index>(outputs.size()));
    return x.cast<double>().array() / units_[i].scale + units_[i].offset;
  }

  /// Fits to all known values. Where the clean signal is known, all epochs are told of.
  void fit_all(tasks::Meter& meter) {
    fitter_->fit(
        task_,
        [&](std::size_t i, std::uint32_t epoch, std::span<const float> outputs) {
          const Eigen::Index s = fitted_[i];
          DenoisedSignal& own = result_.each[static_cast<std::size_t>(s)];
          const std::uint32_t chosen = verdicts_[i].epoch;
          if (clean_ == nullptr && epoch < chosen) return true;
          Eigen::VectorXd x = in_own_unit(i, outputs);
          const auto error = error_of(clean_, s, x);
          if (error) own.errors.push_back(*error);
          const bool better = error && (!own.error_oracle || *error < *own.error_oracle);
          if (better) {
            own.error_oracle = error;
            own.oracle_epoch = epoch;
          }
          if (settings_.stop == StopRule::oracle ? better : epoch == chosen) {
            own.epochs = epoch;
            own.error = error;
            result_.signals.col(s) = x;
          }
          return clean_ != nullptr || epoch < chosen;
        },
        meter);
  }

  /// What the rule found goes into the result, and the estimate meets the noisy values.
  void finish(std::size_t i) {
    const Eigen::Index s = fitted_[i];
    DenoisedSignal& own = result_.each[static_cast<std::size_t>(s)];
    tasks::Verdict& verdict = verdicts_[i];
    const double to_own_unit = 1 / (units_[i].scale * units_[i].scale);
    own.criterion = std::move(verdict.criterion);
    for (double& value : own.criterion) value *= to_own_unit;
    own.error_noisy = error_of(clean_, s, noisy_.col(s));
    if (!result_.signals.col(s).allFinite()) {
      throw Error(fmt::format("the fit of signal {} diverged", s),
                  {"take a smaller step: {}", {{"lr"}}});
    }
    if (settings_.stop != StopRule::blind) return;
    own.explained = 1 - verdict.held_out_error / verdict.null_error;
    verdict.held_out_error *= to_own_unit;
    const double share = tasks::prediction_weight(verdict, own.explained, settings_.noise_level);
    own.left_alone = share == 0;
    if (own.left_alone) own.epochs = 0;
    weigh(s, share * std::sqrt(verdict.held_out_error));
    own.error = error_of(clean_, s, result_.signals.col(s));
  }

  /// Moves the estimate towards the noisy values until it is no farther from them than this, by
  /// root mean square.
  void weigh(Eigen::Index s, double farthest) {
    double squares = 0;
    double known = 0;
    for (Eigen::Index u = 0; u < noisy_.rows(); ++u) {
      if (std::isnan(noisy_(u, s))) continue;
      squares += (noisy_(u, s) - result_.signals(u, s)) * (noisy_(u, s) - result_.signals(u, s));
      ++known;
    }
    const double distance = std::sqrt(squares / known);
    if (distance <= farthest) return;
    const double share = farthest / distance;
    for (Eigen::Index u = 0; u < noisy_.rows(); ++u) {
      const double y = noisy_(u, s);
      if (!std::isnan(y)) result_.signals(u, s) = y + share * (result_.signals(u, s) - y);
    }
  }

  const Graph& graph_;
  const Matrix& noisy_;
  const Matrix* clean_;
  DenoiseSettings settings_;
  Progress* progress_;
  std::unique_ptr<tasks::Fitter> fitter_;
  DenoiseResult result_;
  std::vector<Eigen::Index> fitted_;  // the signals that are not constant
  std::vector<Unit> units_;           // of each of these
  std::vector<double> noise_;
  tasks::FitTask task_;
  std::vector<tasks::Verdict> verdicts_;
};

DenoiseResult smooth_all(const Graph& graph, const Matrix& noisy, const Matrix* clean,
                         const DenoiseSettings& settings, Progress* progress) {
  DenoiseResult result;
  result.signals = noisy;
  tasks::Smoother smoother;
  if (settings.arch == DenoiseArch::tikhonov) smoother = tasks::tikhonov(graph, settings.seed);
  for (Eigen::Index s = 0; s < noisy.cols(); ++s) {
    throw_if_stopped(progress);
    DenoisedSignal& own = result.each.emplace_back();
    if (smoother) {
      const tasks::Smoothed smoothed = smoother(noisy.col(s), progress);
      result.signals.col(s) = smoothed.signal;
      own.smoothing = smoothed.lambda;
    } else {
      result.signals.col(s) = tasks::neighbor_median(graph, noisy.col(s));
    }
    own.error = error_of(clean, s, result.signals.col(s));
    own.error_noisy = error_of(clean, s, noisy.col(s));
    if (progress != nullptr) {
      progress->report(static_cast<std::uint64_t>(s) + 1, static_cast<std::uint64_t>(noisy.cols()));
    }
  }
  return result;
}

/// Throws MemoryExceeded when results and what a fit knows of each signal pass the budget.
void check_memory(const Graph& graph, const Matrix& noisy, bool told,
                  const DenoiseSettings& settings) {
  const auto values = static_cast<std::uint64_t>(noisy.size());
  const auto signals = static_cast<std::uint64_t>(noisy.cols());
  std::uint64_t bytes = values * sizeof(double) + signals * sizeof(DenoisedSignal);
  if (settings.arch == DenoiseArch::tikhonov) {
    // The Laplacian, a system of equations, and the list that it is made of.
    bytes += graph.arcs() * (2 * sizeof(Eigen::Triplet<double>) + 4 * sizeof(double));
  } else if (!is_baseline(settings.arch)) {
    const std::uint64_t curves = told ? 2 : 1;
    bytes += values * 2 * sizeof(float) + signals * settings.epochs * curves * sizeof(double);
  }
  check_budget(bytes, settings.memory, fmt::format("denoising {} signals", signals));
}

}  // namespace

DenoiseResult denoise(const Graph& graph, const Matrix& noisy, const Matrix* clean,
                      const DenoiseSettings& settings, Progress* progress) {
  check(graph, noisy, clean, settings);
  check_memory(graph, noisy, clean != nullptr, settings);
  if (is_baseline(settings.arch)) return smooth_all(graph, noisy, clean, settings, progress);
  return NetworkDenoiser(graph, noisy, clean, settings, progress).run();
}

double epoch_flops(const Graph& graph, const DenoiseSettings& settings) {
  if (is_baseline(settings.arch)) return 0;
  const auto nodes = static_cast<double>(graph.nodes());
  const auto hidden = static_cast<double>(settings.hidden);
  // Forward and backward, two for each multiplication and addition.
  const double of_filter = 4 * nodes * nodes;
  if (fits_decoder(settings)) return of_filter * hidden;
  // H X of the first layer is computed once, and nobody asks for the gradient by X.
  const double first =
      4 * nodes * static_cast<double>(tasks::input_width(graph, settings)) * hidden;
  const double middle = (6 * nodes * hidden + of_filter) * hidden;
  const double last = 6 * nodes * hidden + (has_own_filter(settings) ? 0 : of_filter);
  return first + static_cast<double>(settings.layers - 2) * middle + last;
}

}  // namespace ngf
