#include "ngf/tasks/denoise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "common.hpp"
#include "data_streams.hpp"
#include "filter_flags.hpp"
#include "graph_source.hpp"
#include "io/atomic_file.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "ngf/report/chart.hpp"
#include "ngf/summary.hpp"
#include "node_signals.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct DenoiseVerb {
  Common common;
  GraphSource source;
  FilterFlags flags;
  std::string arch = "ngf";
  std::string stop = "blind";
  std::string optimizer = "adam";
  std::string storage = "auto";
  DenoiseSettings settings;
  bool as_is = false;
  std::optional<double> noise_level;
  std::filesystem::path signal;
  std::filesystem::path clean;
  std::filesystem::path plot;
  std::filesystem::path out;
};

/// The number N of "epochs:N"; empty for any other text.
std::optional<std::uint32_t> fixed_epochs(const std::string& text) {
  constexpr std::string_view prefix = "epochs:";
  if (!text.starts_with(prefix)) return {};
  std::uint32_t epochs = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, epochs);
  if (error != std::errc() || stop != end || epochs == 0) return {};
  return epochs;
}

std::string check_stop(const std::string& text) {
  for (const char* const name : {"blind", "sure", "variance", "oracle"}) {
    if (text == name) return {};
  }
  if (fixed_epochs(text)) return {};
  return fmt::format("'{}' is none of blind, sure, variance, oracle and epochs:N", text);
}

DenoiseSettings settings_of(const DenoiseVerb& verb) {
  DenoiseSettings settings = verb.settings;
  settings.arch = detail::kind_named(verb.arch, arch_name, DenoiseArch::median);
  settings.shift = verb.flags.shift();
  settings.normalization = verb.flags.normalization();
  if (!verb.flags.taps.empty()) settings.taps = verb.flags.taps;
  settings.rescale = !verb.as_is;
  settings.noise_level = verb.noise_level;
  settings.optimizer = verb.optimizer == "adam" ? OptimizerKind::adam : OptimizerKind::sgd;
  settings.storage = detail::kind_named(verb.storage, storage_name, Storage::stream);
  if (const auto epochs = fixed_epochs(verb.stop)) {
    settings.stop = StopRule::epochs;
    settings.epochs = *epochs;
  } else {
    settings.stop = detail::kind_named(verb.stop, stop_name, StopRule::oracle);
  }
  settings.seed = verb.common.seed;
  settings.threads = verb.common.threads;
  settings.memory = verb.common.memory;
  return settings;
}

// ---- Charts ----

/// A line whose points are first, first + 1, ... along the axis.
Series line(const std::string& name, double first, std::vector<double> y, bool dotted = false) {
  Series series;
  series.name = name;
  series.x.resize(y.size());
  std::iota(series.x.begin(), series.x.end(), first);
  series.y = std::move(y);
  series.dotted = dotted;
  return series;
}

Chart chart(std::string title, std::string x_label, std::string y_label, bool log_y) {
  Chart result;
  result.title = std::move(title);
  result.x_label = std::move(x_label);
  result.y_label = std::move(y_label);
  result.log_y = log_y;
  return result;
}

/// The median by epoch, over the signals that have a value at this epoch.
Series median_series(const std::string& name, const DenoiseResult& result,
                     std::vector<double> DenoisedSignal::*values) {
  std::size_t epochs = 0;
  for (const DenoisedSignal& own : result.each) epochs = std::max(epochs, (own.*values).size());
  std::vector<double> medians;
  for (std::size_t t = 0; t < epochs; ++t) {
    std::vector<double> at;
    for (const DenoisedSignal& own : result.each) {
      if (t < (own.*values).size() && std::isfinite((own.*values)[t])) {
        at.push_back((own.*values)[t]);
      }
    }
    medians.push_back(at.empty() ? std::numeric_limits<double>::quiet_NaN() : quantile(at, 0.5));
  }
  return line(name, 1, std::move(medians));
}

/// Errors by epoch, and where the fit was stopped.
Chart chart_of_errors(const DenoiseVerb& verb, const DenoiseResult& result,
                      const std::string& of_signals) {
  Chart errors =
      chart(fmt::format("{} on {}: error by epoch{}", verb.arch, verb.source.name(), of_signals),
            "epoch", "|x - x^|² / |x|²", true);
  errors.series.push_back(median_series("error", result, &DenoisedSignal::errors));
  const std::vector<double>& y = errors.series[0].y;
  std::vector<double> epochs;
  for (const DenoisedSignal& own : result.each) epochs.push_back(own.epochs);
  const double stopped = quantile(epochs, 0.5);
  if (y.empty() || stopped < 1) return errors;
  Series mark;
  mark.name = fmt::format("stopped by {}", verb.stop);
  mark.x = {stopped, stopped};
  mark.y = {y[static_cast<std::size_t>(stopped) - 1], *std::max_element(y.begin(), y.end())};
  mark.dotted = true;
  errors.series.push_back(std::move(mark));
  return errors;
}

std::vector<Chart> charts_of(const DenoiseVerb& verb, const Matrix& noisy, const Matrix* clean,
                             const DenoiseResult& result) {
  std::vector<Chart> charts;
  const bool one = result.each.size() == 1;
  const std::string of_signals =
      one ? "" : fmt::format(", median of {} signals", result.each.size());
  charts.push_back(chart_of_errors(verb, result, of_signals));
  if (charts.back().series[0].y.empty()) charts.pop_back();
  charts.push_back(
      chart(fmt::format("what {} looks at{}", verb.stop, of_signals), "epoch", "criterion", true));
  charts.back().series.push_back(median_series(verb.stop, result, &DenoisedSignal::criterion));
  if (charts.back().series[0].y.empty()) charts.pop_back();
  charts.push_back(chart(one ? "the signal" : "the first signal", "node", "value", false));
  const auto add = [&](const std::string& name, const Matrix& from, bool dotted) {
    const Eigen::VectorXd values = from.col(0);
    charts.back().series.push_back(line(name, 0, {values.begin(), values.end()}, dotted));
  };
  add("before", noisy, true);
  add("after", result.signals, false);
  if (clean != nullptr) add("clean", *clean, false);
  return charts;
}

// ---- Output ----

/// The signals' values of one kind.
template <typename Value>
Json list_of(const DenoiseResult& result, const Value& value) {
  Json list = Json::array();
  for (const DenoisedSignal& own : result.each) list.push_back(value(own));
  return list;
}

std::optional<double> median_of(const DenoiseResult& result,
                                std::optional<double> DenoisedSignal::*value) {
  std::vector<double> values;
  for (const DenoisedSignal& own : result.each) {
    if (own.*value) values.push_back(*(own.*value));
  }
  if (values.empty()) return {};
  return quantile(values, 0.5);
}

Json json_of(const DenoiseVerb& verb, const DenoiseResult& result, double seconds) {
  const auto known = [&](std::optional<double> DenoisedSignal::*value) {
    return list_of(result, [&](const DenoisedSignal& own) {
      return own.*value ? Json(*(own.*value)) : Json();
    });
  };
  Json json{
      {"arch", verb.arch},
      {"stop", verb.stop},
      {"signals", result.each.size()},
      {"epochs", list_of(result, [](const DenoisedSignal& own) { return own.epochs; })},
      {"left_alone", list_of(result, [](const DenoisedSignal& own) { return own.left_alone; })}};
  if (verb.arch == "tikhonov") {
    json["lambda"] = list_of(result, [](const DenoisedSignal& own) { return own.smoothing; });
  }
  if (verb.stop == "blind") {
    json["explained"] = list_of(result, [](const DenoisedSignal& own) { return own.explained; });
  }
  if (!verb.clean.empty()) {
    json["error"] = known(&DenoisedSignal::error);
    json["error_oracle"] = known(&DenoisedSignal::error_oracle);
    json["error_noisy"] = known(&DenoisedSignal::error_noisy);
    json["oracle_epoch"] =
        list_of(result, [](const DenoisedSignal& own) { return own.oracle_epoch; });
    for (const auto& [name, value] : {std::pair("error", &DenoisedSignal::error),
                                      std::pair("error_oracle", &DenoisedSignal::error_oracle),
                                      std::pair("error_noisy", &DenoisedSignal::error_noisy)}) {
      const auto median = median_of(result, value);
      json["median"][name] = median ? Json(*median) : Json();
    }
  }
  json["seconds"] = seconds;
  if (!verb.plot.empty()) json["plot"] = verb.plot.string();
  json["written"] = verb.out.string();
  return json;
}

/// What was done, in lines for people.
std::string text_of(const DenoiseVerb& verb, const DenoiseResult& result, double seconds) {
  std::string text;
  const auto to = std::back_inserter(text);
  const auto alone = std::count_if(result.each.begin(), result.each.end(),
                                   [](const DenoisedSignal& own) { return own.left_alone; });
  fmt::format_to(to, "{} signal{} denoised by {}, {:.3g} s\n", result.each.size(),
                 result.each.size() == 1 ? "" : "s", verb.arch, seconds);
  if (alone > 0) {
    fmt::format_to(to, "{} returned unchanged: the graph does not predict {}\n", alone,
                   alone == 1 ? "it" : "them");
  }
  std::vector<double> epochs;
  for (const DenoisedSignal& own : result.each) {
    if (own.epochs > 0) epochs.push_back(own.epochs);
  }
  if (!epochs.empty()) {
    fmt::format_to(to, "stopped by {} after {:.0f} epochs (median)\n", verb.stop,
                   quantile(epochs, 0.5));
  }
  if (const auto error = median_of(result, &DenoisedSignal::error)) {
    fmt::format_to(to, "error |x - x^|^2 / |x|^2, median: {:.4g}", *error);
    if (const auto noisy = median_of(result, &DenoisedSignal::error_noisy)) {
      fmt::format_to(to, "; before {:.4g}", *noisy);
    }
    if (const auto oracle = median_of(result, &DenoisedSignal::error_oracle)) {
      fmt::format_to(to, "; at the best epoch {:.4g}", *oracle);
    }
    fmt::format_to(to, "\n");
  }
  if (!verb.plot.empty()) fmt::format_to(to, "pictures: {}\n", verb.plot.string());
  if (!to_stdout(verb.out)) fmt::format_to(to, "written {}\n", verb.out.string());
  return text;
}

void run_denoise(const DenoiseVerb& verb) {
  const DenoiseSettings settings = settings_of(verb);
  if (settings.stop == StopRule::oracle && verb.clean.empty()) {
    throw CLI::ValidationError("--stop", "oracle needs the clean signals: --clean X0");
  }
  if (!to_stdout(verb.out)) io::check_matrix_name(verb.out);
  check_output(verb.common, verb.out);
  check_picture(verb.plot);
  io::ReadResult read = verb.source.load(verb.common);
  const Graph& graph = read.dataset.graph;
  const NodeIds ids = take_ids(read);
  // The result, and the transposed copies of both.
  constexpr SignalRules rules{.copies = 3, .by_shape = true};
  const NodeSignals noisy = read_signals(verb.signal, ids, verb.common, rules);
  std::optional<Matrix> clean;
  if (!verb.clean.empty()) clean = read_signals(verb.clean, ids, verb.common, rules).values;
  TerminalProgress progress("denoising", verb.common.quiet);
  const auto begun = std::chrono::steady_clock::now();
  DenoiseResult result;
  const std::string files =
      verb.signal.string() + (clean ? fmt::format(", {}", verb.clean.string()) : "");
  naming(files, [&] {
    result = denoise(graph, noisy.values, clean ? &*clean : nullptr, settings, &progress);
  });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  progress.clear();
  write_signals(verb.out, result.signals, noisy.layout, ids);
  if (!verb.plot.empty()) {
    const auto charts = charts_of(verb, noisy.values, clean ? &*clean : nullptr, result);
    io::AtomicFile file(verb.plot);
    file.write(to_svg(charts));
    file.commit();
  }
  if (verb.common.json) {
    print_json(json_of(verb, result, seconds));
  } else {
    print_summary(verb.common, verb.out, text_of(verb, result, seconds));
  }
}

void add_network_flags(CLI::App& verb, DenoiseVerb& denoise) {
  DenoiseSettings& settings = denoise.settings;
  verb.add_option("--layers", settings.layers,
                  "Number of layers; ngf and gf with 2 layers are the decoder")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  verb.add_option("--hidden", settings.hidden, "Number of features of each hidden layer")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--epochs", settings.epochs, "Maximum number of epochs")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  verb.add_option("--lr", settings.lr, "Learning rate")->capture_default_str();
  verb.add_option("--optimizer", denoise.optimizer, "Optimizer: Adam, or plain gradient descent")
      ->check(CLI::IsMember({"adam", "gd"}))
      ->capture_default_str();
  verb.add_option("--folds", settings.folds, "With --stop blind: number of cross-validation folds")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  verb.add_option("--window", settings.window,
                  "With --stop variance: length of the window, in epochs")
      ->check(CLI::Range(2, 100'000))
      ->capture_default_str();
  verb.add_option("--storage", denoise.storage, "How shells are stored in memory")
      ->check(CLI::IsMember(detail::names_of(storage_name, Storage::stream)))
      ->capture_default_str();
  verb.add_flag("--as-is", denoise.as_is, "Do not centre and scale the signals before the fit");
}

}  // namespace

void add_denoise(CLI::App& program) {
  auto denoise = std::make_shared<DenoiseVerb>();
  CLI::App* const verb =
      program.add_subcommand("denoise", "Denoise signals on the nodes, and fill in missing values");
  denoise->source.add_to(*verb);
  verb->add_option(
          "--signal", denoise->signal,
          "Noisy signals: .csv or .npy, nodes as rows or columns, with or without names and "
          "times; NaN is a missing value; "
          "- for standard input")
      ->required();
  verb->add_option("-o,--output", denoise->out, "File to write: .csv or .npy [stdout, as CSV]");
  verb->add_option("--arch", denoise->arch, "Denoising method")
      ->check(CLI::IsMember(detail::names_of(arch_name, DenoiseArch::median)))
      ->capture_default_str();
  denoise->flags.add_taps_to(*verb);
  denoise->flags.add_matrices_to(*verb);
  verb->add_option("--stop", denoise->stop,
                   "Stopping rule: blind, sure, variance, oracle or epochs:N")
      ->check(check_stop)
      ->capture_default_str();
  verb->add_option("--noise-level", denoise->noise_level,
                   "Standard deviation of the noise, if known")
      ->check(CLI::PositiveNumber);
  verb->add_option("--clean", denoise->clean,
                   "Clean signals, to compute the error and for --stop oracle");
  verb->add_option("--plot", denoise->plot,
                   "Write a chart of the error by epoch and of one signal: .svg");
  add_network_flags(*verb, *denoise);
  denoise->common.add_to(*verb);
  verb->callback([denoise] { run_denoise(*denoise); });
}

}  // namespace ngf::cli
