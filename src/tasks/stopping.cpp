// blind: the nodes are cut into folds. Each fold is held out from the loss once, and predicted by a
// fit to the others. Where noise is independent between nodes,
//
//   E (y_u - x^_u)^2 = E (x_u - x^_u)^2 + sigma^2   for u held out,
//
// so the epoch that minimises the left side, E, also minimises the error, of fits to that number of
// nodes. The prediction x^_u and y_u have independent errors, E - sigma^2 and sigma^2, so their
// best average weights the prediction by sigma^2 / E. Where sigma is unknown, noise cannot be told
// from a signal of the node alone: the weight is then R, the share of the variance that is
// predicted, less the share that chance predicts: R (1 - c^2 / z^2), where R is z > c of its
// standard errors. With few nodes, n, chance predicts more, and standard errors are less reliable:
// c^2 is 1 + 120 / n (docs/blind-stopping.md has the measurements).
//
// sure: |y - x^|^2 / N - sigma^2 + 2 sigma^2 div / N, with the divergence of y -> x^ by random
// directions b as b' (x^(y + e b) - x^(y)) / e (Stein 1981; Ramani, Blu and Unser 2008).
//
// variance: the mean square distance of the outputs of a window of epochs from their mean (Wang et
// al., "Early stopping for deep image prior", 2021).

#include "tasks/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/streams.hpp"
#include "tasks/costs.hpp"

namespace ngf::tasks {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// The least value so far.
struct Least {
  double value = std::numeric_limits<double>::infinity();
  std::uint32_t epoch = 1;

  /// Whether it is worth going on.
  bool see(std::uint32_t now, double next) {
    constexpr std::uint32_t least_epochs = 150;
    constexpr std::uint32_t times = 3;
    if (next < value) *this = {next, now};
    return now < std::max(least_epochs, times * epoch);
  }
};

/// The epoch of the least value, from 1 on; values that are none do not count.
std::uint32_t epoch_of_least(const std::vector<double>& criterion) {
  Least least;
  for (std::uint32_t i = 0; i < criterion.size(); ++i) least.see(i + 1, criterion[i]);
  return least.epoch;
}

// ---- blind ----

/// What is known of one fit with a fold held out, by epoch.
struct HeldOut {
  std::vector<std::uint32_t> nodes;
  double mean = 0;            // of the nodes in the loss
  double null_error = 0;      // sums over the nodes held out
  std::vector<double> error;  // by epoch
  std::vector<double> gain_square;
  Least least;

  bool see(std::uint32_t epoch, const float* y, std::span<const float> outputs) {
    double sum = 0;
    double squares = 0;
    for (const std::uint32_t u : nodes) {
      const double e = double{y[u]} - double{outputs[u]};
      const double n = double{y[u]} - mean;
      sum += e * e;
      squares += (n * n - e * e) * (n * n - e * e);
    }
    error.push_back(sum);
    gain_square.push_back(squares);
    return least.see(epoch, sum);
  }
};

/// Holds out what is in fold `fold` of the known nodes of a column.
HeldOut hold_out(const FitTask& task, Eigen::Index column, const std::vector<std::uint32_t>& folds,
                 std::uint32_t fold, Eigen::Index to, FitTask& masked) {
  HeldOut result;
  masked.targets.col(to) = task.targets.col(column);
  masked.weights.col(to) = task.weights.col(column);
  std::size_t known = 0;
  for (Eigen::Index u = 0; u < task.targets.rows(); ++u) {
    if (task.weights(u, column) == 0) continue;
    if (folds[known++] == fold) {
      masked.weights(u, to) = 0;
      result.nodes.push_back(static_cast<std::uint32_t>(u));
    } else {
      result.mean += double{task.targets(u, column)};
    }
  }
  result.mean /= static_cast<double>(std::max<std::size_t>(1, known - result.nodes.size()));
  for (const std::uint32_t u : result.nodes) {
    const double n = double{task.targets(u, column)} - result.mean;
    result.null_error += n * n;
  }
  return result;
}

/// One signal's folds put together.
Verdict sum_up(std::span<const HeldOut> folds) {
  std::size_t epochs = std::numeric_limits<std::size_t>::max();
  std::size_t count = 0;
  Verdict verdict;
  for (const HeldOut& fold : folds) {
    epochs = std::min(epochs, fold.error.size());
    count += fold.nodes.size();
    verdict.null_error += fold.null_error;
  }
  const auto n = static_cast<double>(count);
  verdict.criterion.assign(epochs, 0);
  for (const HeldOut& fold : folds) {
    for (std::size_t i = 0; i < epochs; ++i) verdict.criterion[i] += fold.error[i] / n;
  }
  verdict.epoch = epoch_of_least(verdict.criterion);
  verdict.null_error /= n;
  verdict.held_out_error = verdict.criterion[verdict.epoch - 1];
  verdict.nodes = count;
  const double gain = verdict.null_error - verdict.held_out_error;
  double squares = 0;
  for (const HeldOut& fold : folds) squares += fold.gain_square[verdict.epoch - 1] / n;
  const double deviation = std::sqrt(std::max(squares - gain * gain, 0.0) / n);
  verdict.gain_in_deviations = deviation > 0 ? gain / deviation : 0;
  return verdict;
}

std::size_t known_values(const FitTask& task, Eigen::Index column) {
  return static_cast<std::size_t>((task.weights.col(column).array() != 0).count());
}

std::vector<Verdict> judge_blind(Fitter& fitter, const FitTask& task,
                                 const DenoiseSettings& settings, Meter& meter) {
  const auto rows = static_cast<std::size_t>(task.targets.rows());
  const auto signals = static_cast<std::size_t>(task.targets.cols());
  // Signals are masked some at a time, so that targets and weights take 64 MB each at most.
  constexpr std::size_t most_numbers = std::size_t{1} << 24;
  const std::size_t at_once =
      std::max<std::size_t>(1, most_numbers / (std::max<std::size_t>(1, rows) * settings.folds));
  std::vector<Verdict> verdicts;
  for (std::size_t begin = 0; begin < signals; begin += at_once) {
    const std::size_t end = std::min(signals, begin + at_once);
    FitTask masked;
    masked.epochs = task.epochs;
    std::vector<HeldOut> held_out;
    std::vector<std::size_t> first{0};
    const auto most = static_cast<Eigen::Index>((end - begin) * settings.folds);
    masked.targets.resize(task.targets.rows(), most);
    masked.weights.resize(task.targets.rows(), most);
    for (std::size_t s = begin; s < end; ++s) {
      const auto column = static_cast<Eigen::Index>(s);
      const std::size_t known = known_values(task, column);
      const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(settings.folds, known));
      const auto folds = draw_folds(known, count, settings.seed);
      for (std::uint32_t fold = 0; fold < count; ++fold) {
        held_out.push_back(hold_out(task, column, folds, fold,
                                    static_cast<Eigen::Index>(held_out.size()), masked));
      }
      first.push_back(held_out.size());
    }
    masked.targets.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(held_out.size()));
    masked.weights.conservativeResize(Eigen::NoChange, static_cast<Eigen::Index>(held_out.size()));
    fitter.fit(
        masked,
        [&](std::size_t column, std::uint32_t epoch, std::span<const float> outputs) {
          return held_out[column].see(
              epoch, masked.targets.col(static_cast<Eigen::Index>(column)).data(), outputs);
        },
        meter);
    for (std::size_t s = 0; s + 1 < first.size(); ++s) {
      verdicts.push_back(sum_up(std::span(held_out).subspan(first[s], first[s + 1] - first[s])));
    }
  }
  return verdicts;
}

// ---- sure ----

/// Fits to each signal, and to it moved along random directions.
class RiskEstimate {
 public:
  RiskEstimate(const FitTask& task, const DenoiseSettings& settings,
               const std::vector<double>& noise)
      : task_(task),
        noise_(noise),
        group_(settings.probes + std::size_t{1}),
        directions_(task.targets.rows(), static_cast<Eigen::Index>(settings.probes)),
        residual_(noise.size()),
        along_(noise.size() * group_) {
    // Directions are the same for all signals.
    Random random = random_for(settings.seed, Use::denoise_probes, 0);
    for (Eigen::Index i = 0; i < directions_.size(); ++i) {
      directions_.data()[i] = random.chance(0.5) ? 1.0F : -1.0F;
    }
    moved_.epochs = task.epochs;
    moved_.targets.resize(task.targets.rows(), static_cast<Eigen::Index>(along_.size()));
    moved_.weights.resize(task.targets.rows(), moved_.targets.cols());
    for (Eigen::Index to = 0; to < moved_.targets.cols(); ++to) {
      const auto column = static_cast<std::size_t>(to);
      const auto from = static_cast<Eigen::Index>(column / group_);
      moved_.weights.col(to) = task.weights.col(from);
      moved_.targets.col(to) = task.targets.col(from);
      if (column % group_ == 0) continue;
      moved_.targets.col(to) += static_cast<float>(step(column / group_)) *
                                task.weights.col(from).cwiseProduct(direction(column));
    }
  }

  /// A signal, then the same moved, one column after the other.
  const FitTask& moved() const { return moved_; }

  void see(std::size_t column, std::span<const float> outputs) {
    const std::size_t s = column / group_;
    const auto from = static_cast<Eigen::Index>(s);
    const Eigen::Map<const Eigen::VectorXf> x(outputs.data(), directions_.rows());
    const Eigen::VectorXd weighted = x.cwiseProduct(task_.weights.col(from)).cast<double>();
    if (column % group_ > 0) {
      along_[column].push_back(weighted.dot(direction(column).cast<double>()));
      return;
    }
    residual_[s].push_back((task_.targets.col(from).cast<double>() - weighted).squaredNorm());
    along_[column].push_back((directions_.cast<double>().transpose() * weighted).sum());
  }

  Verdict verdict(std::size_t s) const {
    Verdict result;
    const auto n = static_cast<double>(known_values(task_, static_cast<Eigen::Index>(s)));
    const double variance = noise_[s] * noise_[s];
    for (std::size_t i = 0; i < residual_[s].size(); ++i) {
      double moved_along = -along_[s * group_][i];
      for (std::size_t p = 1; p < group_; ++p) moved_along += along_[s * group_ + p][i];
      const double divergence =
          step(s) > 0 ? moved_along / step(s) / static_cast<double>(group_ - 1) : 0;
      result.criterion.push_back(residual_[s][i] / n - variance + 2 * variance * divergence / n);
    }
    result.epoch = epoch_of_least(result.criterion);
    return result;
  }

 private:
  double step(std::size_t s) const {
    constexpr double in_deviations = 0.1;
    return in_deviations * noise_[s];
  }
  Eigen::MatrixXf::ConstColXpr direction(std::size_t column) const {
    return directions_.col(static_cast<Eigen::Index>(column % group_ - 1));
  }

  const FitTask& task_;
  const std::vector<double>& noise_;
  std::size_t group_;  // columns of one signal
  Eigen::MatrixXf directions_;
  FitTask moved_;
  std::vector<std::vector<double>> residual_;  // |y - x^|^2 by signal and epoch
  std::vector<std::vector<double>> along_;     // b' x^ by column and epoch; first of all b
};

std::vector<Verdict> judge_sure(Fitter& fitter, const FitTask& task,
                                const DenoiseSettings& settings, const std::vector<double>& noise,
                                Meter& meter) {
  RiskEstimate estimate(task, settings, noise);
  fitter.fit(
      estimate.moved(),
      [&](std::size_t column, std::uint32_t, std::span<const float> outputs) {
        estimate.see(column, outputs);
        return true;
      },
      meter);
  std::vector<Verdict> verdicts;
  for (std::size_t s = 0; s < noise.size(); ++s) verdicts.push_back(estimate.verdict(s));
  return verdicts;
}

// ---- variance ----

/// The outputs of the last epochs of one fit.
struct Window {
  Eigen::MatrixXf last;  // one column per epoch
  Eigen::VectorXd sum;
  double squares = 0;
  std::vector<double> criterion;
  Least least;

  bool see(std::uint32_t epoch, std::uint32_t length, std::span<const float> outputs) {
    const auto rows = static_cast<Eigen::Index>(outputs.size());
    const Eigen::Map<const Eigen::VectorXf> x(outputs.data(), rows);
    if (last.size() == 0) {
      last.setZero(rows, length);
      sum.setZero(rows);
    }
    const Eigen::Index slot = epoch % length;
    sum += (x - last.col(slot)).cast<double>();
    squares += x.cast<double>().squaredNorm() - last.col(slot).cast<double>().squaredNorm();
    last.col(slot) = x;
    criterion.push_back(no_value);
    if (epoch < length) return true;
    // A window is told of by its first epoch.
    const std::uint32_t begun = epoch - length + 1;
    const double variance = (squares - sum.squaredNorm() / length) / length;
    criterion[begun - 1] = variance;
    return least.see(begun, variance);
  }
};

std::vector<Verdict> judge_variance(Fitter& fitter, const FitTask& task,
                                    const DenoiseSettings& settings, Meter& meter) {
  std::vector<Window> windows(static_cast<std::size_t>(task.targets.cols()));
  const std::uint32_t length = std::clamp(settings.window, 2U, std::max(2U, task.epochs));
  fitter.fit(
      task,
      [&](std::size_t column, std::uint32_t epoch, std::span<const float> outputs) {
        return windows[column].see(epoch, length, outputs);
      },
      meter);
  std::vector<Verdict> verdicts(windows.size());
  for (std::size_t s = 0; s < windows.size(); ++s) {
    verdicts[s].criterion = std::move(windows[s].criterion);
    verdicts[s].epoch = epoch_of_least(verdicts[s].criterion);
  }
  return verdicts;
}

}  // namespace

std::vector<std::uint32_t> draw_folds(std::size_t count, std::uint32_t folds, std::uint64_t seed) {
  std::vector<std::uint32_t> fold_of(count);
  for (std::size_t i = 0; i < count; ++i) fold_of[i] = static_cast<std::uint32_t>(i % folds);
  shuffle(fold_of, random_for(seed, Use::denoise_folds, 0));
  return fold_of;
}

double prediction_weight(const Verdict& verdict, double explained,
                         std::optional<double> noise_level) {
  if (noise_level) {
    const double noise = *noise_level * *noise_level;
    return noise / std::max(noise, verdict.held_out_error);
  }
  constexpr double nodes_of_doubt = 120;
  const double chance = 1 + nodes_of_doubt / static_cast<double>(verdict.nodes);
  const double z = verdict.gain_in_deviations;
  return z * z > chance && z > 0 ? explained * (1 - chance / (z * z)) : 0;
}

std::uint64_t epochs_of_rule(const DenoiseSettings& settings) {
  const StopRule rule = settings.stop;
  const std::uint32_t fits = rule == StopRule::blind      ? settings.folds
                             : rule == StopRule::sure     ? settings.probes + 1
                             : rule == StopRule::variance ? 1U
                                                          : 0U;
  return std::uint64_t{settings.epochs} * fits;
}

std::vector<Verdict> judge(Fitter& fitter, const FitTask& task, const DenoiseSettings& settings,
                           const std::vector<double>& noise, Meter& meter) {
  if (settings.stop == StopRule::blind) return judge_blind(fitter, task, settings, meter);
  if (settings.stop == StopRule::sure) return judge_sure(fitter, task, settings, noise, meter);
  if (settings.stop == StopRule::variance) return judge_variance(fitter, task, settings, meter);
  const Verdict at_the_end{.epoch = task.epochs, .criterion = {}};
  return std::vector(static_cast<std::size_t>(task.targets.cols()), at_the_end);
}

}  // namespace ngf::tasks
