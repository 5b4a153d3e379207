#include "train_flags.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/names.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"
#include "shell_flags.hpp"

namespace ngf::cli {

namespace {

/// The group of each node: one integer per row.
std::vector<std::uint32_t> read_groups(const std::filesystem::path& path, NodeId nodes) {
  const Matrix values = io::read_matrix(path);
  if (values.rows() != static_cast<Eigen::Index>(nodes) || values.cols() != 1) {
    throw Error(fmt::format("{}: {} x {} numbers; the graph has {} nodes, and each needs a group",
                            path.string(), values.rows(), values.cols(), nodes));
  }
  std::vector<std::uint32_t> groups(nodes);
  for (NodeId u = 0; u < nodes; ++u) {
    const double value = values(u, 0);
    if (!(value >= 0 && value < nodes && value == std::floor(value))) {
      throw Error(fmt::format("{}: row {} is {}; expected a group, a whole number from 0 to {}",
                              path.string(), u, value, nodes - 1));
    }
    groups[u] = static_cast<std::uint32_t>(value);
  }
  return groups;
}

template <typename Value>
void take(const std::optional<Value>& given, Value& setting) {
  if (given) setting = *given;
}

/// A flag and its opposite, each with a word on what it does.
struct Switch {
  std::string name;
  std::string text;
};

void add_switch(CLI::App& verb, const std::string& group, std::optional<bool>& value,
                const Switch& yes, const Switch& no) {
  CLI::Option* const on = verb.add_flag_callback(
                                  yes.name, [&value] { value = true; }, yes.text)
                              ->group(group);
  verb.add_flag_callback(
          no.name, [&value] { value = false; }, no.text)
      ->excludes(on)
      ->group(group);
}

template <typename Kind>
void take_kind(const std::optional<std::string>& given, std::string_view (*name_of)(Kind),
               Kind last, Kind& setting) {
  if (given) setting = detail::kind_named(*given, name_of, last);
}

/// Whether the labels are 0 and 1.
bool binary(const Dataset& dataset) {
  return dataset.class_count() == 2 && output_count(dataset) == 2;
}

std::string check_split(const std::string& text) {
  constexpr std::string_view random = "random:";
  const std::string digits = text.starts_with(random) ? text.substr(random.size()) : text;
  const bool number = !digits.empty() && digits.size() < 20 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (number || text == "public") return {};
  return fmt::format("'{}' is neither public, nor a number, nor random:SEED", text);
}

}  // namespace

CLI::Option* add_split_flag(CLI::App& verb, std::string& split, bool all) {
  std::string text =
      "Split: public (the data set's own, or its first), INDEX (from 0), or random:SEED";
  if (all) text += ", or all: each of the data set's";
  return verb.add_option("--split", split, text)
      ->check(CLI::Validator(
          [all](const std::string& given) {
            return all && given == "all" ? std::string() : check_split(given);
          },
          all ? "public|INDEX|random:SEED|all" : "public|INDEX|random:SEED"));
}

void TrainFlags::add_to(CLI::App& verb) {
  verb.add_option("--recipe", recipe_, "Defaults of the flags below")
      ->check(CLI::IsMember({"paper", "strong"}))
      ->capture_default_str();
  add_split_flag(verb, split_, true)->capture_default_str();
  add_network_to(verb);
  add_training_to(verb);
}

void TrainFlags::add_network_to(CLI::App& verb) {
  const auto* const network = "The network";
  verb.add_option("--model", model_,
                  "Kind of network; ngcnn: filters on shells, gcnn: on powers of a shift")
      ->check(CLI::IsMember(detail::names_of(model_name, ModelKind::mlp)))
      ->capture_default_str()
      ->group(network);
  verb.add_option("--hops", hops_, "Shells or powers 0..H; for sgc, its power")
      ->check(CLI::Range(0U, 65534U))
      ->group(network);
  add_numbers(verb, "--taps", taps_, "Taps h_0,h_1,...: fixed, or initial values with --learn-taps")
      ->group(network);
  verb.add_flag("--learn-taps", learn_taps_, "Learn the taps of each layer")->group(network);
  verb.add_option("--tap-groups", tap_groups_,
                  "Group of each node, with taps per group: .csv or .npy, one integer per node")
      ->group(network);
  verb.add_option("--normalize", normalize_, "Normalisation of the shells (ngcnn)")
      ->check(CLI::IsMember(detail::names_of(normalization_name, Normalization::row)))
      ->group(network);
  verb.add_option("--shift", shift_, "Graph shift operator (gcnn)")
      ->check(CLI::IsMember(detail::names_of(shift_name, Shift::gcn)))
      ->group(network);
  add_min_paths_flag(verb, min_paths_)->capture_default_str()->group(network);
  add_storage_flag(verb, storage_)->capture_default_str()->group(network);
  pairs_.add_to(verb, network);
  verb.add_option("--hidden", hidden_, "Number of features of each hidden layer")
      ->check(CLI::Range(1U, 1'000'000U))
      ->group(network);
  verb.add_option("--layers", layers_,
                  "Number of layers; with --bank those of --pre, --post excluded")
      ->check(CLI::Range(1U, 1000U))
      ->group(network);
  add_switch(verb, network, bias_, {"--bias", "Add a bias to each layer"},
             {"--no-bias", "Add no bias"});
  add_switch(verb, network, skip_,
             {"--skip", "Add a linear skip connection around the filter of each layer"},
             {"--no-skip", "Add no skip connections"});
  add_switch(verb, network, bank_,
             {"--bank", "Learn a weight matrix per shell or power, in the place of taps"},
             {"--no-bank", "Learn one weight matrix per layer"});
  add_switch(verb, network, pre_, {"--pre", "Add a layer without graph before the banks"},
             {"--no-pre", "Add none"});
  add_switch(verb, network, post_, {"--post", "Add a linear layer after the banks"},
             {"--no-post", "Add none"});
  add_switch(verb, network, residual_,
             {"--residual",
              "Add each bank to its input, which it sees after layer normalisation; with --pre, "
              "--post"},
             {"--no-residual", "Use banks without residual blocks"});
  add_switch(verb, network, jump_,
             {"--jump", "Give the last layer the outputs of all layers before it; with --post"},
             {"--no-jump", "Give it the outputs of the layer before it"});
  add_switch(verb, network, normalize_features_,
             {"--normalize-features", "Divide the features of each node by their sum"},
             {"--raw-features", "Use the features unchanged"});
}

void TrainFlags::add_training_to(CLI::App& verb) {
  constexpr std::uint32_t many = 100'000'000;
  const auto* const training = "Training";
  verb.add_option("--dropout", dropout_, "Dropout probability of each layer's input")
      ->check(CLI::Range(0.0, 0.999))
      ->group(training);
  verb.add_option("--weight-decay", weight_decay_, "Weight decay (L2 regularisation)")
      ->check(CLI::NonNegativeNumber)
      ->group(training);
  add_switch(verb, training, decay_all_layers_,
             {"--decay-all-layers", "Apply weight decay to all layers"},
             {"--decay-first-layer", "Apply weight decay to the first layer only"});
  verb.add_option("--lr", lr_, "Learning rate")->check(CLI::PositiveNumber)->group(training);
  verb.add_option("--optimizer", optimizer_, "Optimizer: Adam, or plain gradient descent (sgd)")
      ->check(CLI::IsMember(detail::names_of(optimizer_name, OptimizerKind::sgd)))
      ->group(training);
  verb.add_option("--init", init_, "Initialisation of the weights")
      ->check(CLI::IsMember(detail::names_of(initialization_name, Initialization::paper)))
      ->group(training);
  verb.add_option("--epochs", epochs_, "Maximum number of epochs")
      ->check(CLI::Range(1U, many))
      ->group(training);
  verb.add_option("--patience", patience_,
                  "Stop after this many epochs without a better validation score; 0: never")
      ->check(CLI::Range(0U, many))
      ->group(training);
  verb.add_option("--metric", metric_, "Score [accuracy; auc for two classes]")
      ->check(CLI::IsMember(detail::names_of(metric_name, Metric::macro_f1)))
      ->group(training);
  verb.add_option("--batch", batch_,
                  "Maximum number of runs trained in one batch; an interrupted batch is lost [25]")
      ->check(CLI::Range(1U, 10'000U))
      ->group(training);
}

void TrainFlags::check_bank() const {
  const auto on = [](const std::optional<bool>& flag) { return flag.value_or(false); };
  const auto need = [](bool given, bool met, const char* flag, const char* needed) {
    if (given && !met) throw CLI::ValidationError(flag, fmt::format("needs {}", needed));
  };
  need(on(pre_), on(bank_), "--pre", "--bank");
  need(on(post_), on(bank_), "--post", "--bank");
  need(on(jump_), on(post_), "--jump", "--bank and --post");
  need(on(residual_), on(pre_) && on(post_), "--residual", "--bank, --pre and --post");
  need(on(bank_), model_ == "ngcnn" || model_ == "gcnn", "--bank", "--model ngcnn or gcnn");
  need(on(bank_), !learn_taps_ && taps_.empty() && tap_groups_.empty(), "--bank",
       "no taps: it has weights in their place");
  need(pairs_.given(), model_ == "ngcnn", "--pair-weights", "--model ngcnn");
  need(on(bank_), !on(skip_), "--bank", "no --skip: it sees the node itself");
}

void TrainFlags::check() const {
  check_bank();
  const bool taps = !taps_.empty() || learn_taps_ || !tap_groups_.empty();
  if (taps && model_ != "ngcnn" && model_ != "gcnn") {
    throw CLI::ValidationError("--taps",
                               fmt::format("{} has no taps; ngcnn and gcnn have", model_));
  }
  if (!tap_groups_.empty()) {
    if (!learn_taps_ && taps_.empty()) {
      throw CLI::ValidationError("--tap-groups", "say which taps: --learn-taps, or --taps");
    }
    return;  // how many taps there should be is known when the groups are
  }
  if (hops_ && !taps_.empty() && taps_.size() != *hops_ + std::size_t{1}) {
    throw CLI::ValidationError(
        "--taps", fmt::format("{} taps, where {} hops have {}", taps_.size(), *hops_, *hops_ + 1));
  }
}

ModelSettings TrainFlags::model_settings(ModelSettings model, const Dataset& dataset) const {
  model.model = detail::kind_named(model_, model_name, ModelKind::mlp);
  take(hops_, model.hops);
  if (!taps_.empty()) {
    model.taps = taps_;
    if (!hops_) model.hops = static_cast<std::uint32_t>(taps_.size() - 1);
  }
  model.learn_taps = learn_taps_;
  if (!tap_groups_.empty()) model.tap_groups = read_groups(tap_groups_, dataset.graph.nodes());
  take_kind(normalize_, normalization_name, Normalization::row, model.normalization);
  // Most shifts are for undirected graphs.
  if (dataset.graph.directed()) model.shift = Shift::adjacency_lmax;
  take_kind(shift_, shift_name, Shift::gcn, model.shift);
  model.min_paths = min_paths_;
  take(hidden_, model.hidden);
  take(layers_, model.layers);
  take(bias_, model.bias);
  take(skip_, model.skip);
  if (pairs_.given()) {
    model.pair_weights = pairs_.of_features() ? PairWeights::features : PairWeights::given;
    model.pair_power = pairs_.power();
  }
  take(bank_, model.bank);
  take(pre_, model.pre);
  take(post_, model.post);
  take(residual_, model.residual);
  take(jump_, model.jump);
  take(normalize_features_, model.normalize_features);
  return model;
}

TuneGrid TrainFlags::grid() const {
  TuneGrid grid;
  const auto fix = [](const auto& given, auto& axis) {
    if (given) axis.assign(1, *given);
  };
  const bool layers_given = bank_ || pre_ || post_ || residual_ || jump_ || skip_ || learn_taps_ ||
                            !taps_.empty() || !tap_groups_.empty();
  if (layers_given) grid.blocks.clear();
  fix(hops_, grid.hops);
  if (!taps_.empty()) grid.hops.assign(1, static_cast<std::uint32_t>(taps_.size() - 1));
  if (normalize_) {
    grid.normalizations = {detail::kind_named(*normalize_, normalization_name, Normalization::row)};
  }
  if (shift_) grid.shifts = {detail::kind_named(*shift_, shift_name, Shift::gcn)};
  fix(layers_, grid.residual_layers);
  fix(normalize_features_, grid.normalize_features);
  fix(dropout_, grid.dropouts);
  fix(weight_decay_, grid.weight_decays);
  return grid;
}

ClassifySettings TrainFlags::settings(const Common& common, const std::string& name,
                                      const Dataset& dataset) const {
  ClassifySettings settings = recipe(recipe_, name);
  settings.model = model_settings(settings.model, dataset);
  settings.run.seed = common.seed;
  take(dropout_, settings.run.dropout);
  take(weight_decay_, settings.run.weight_decay);
  take(lr_, settings.run.lr);
  take_kind(init_, initialization_name, Initialization::paper, settings.run.init);
  take(decay_all_layers_, settings.decay_all_layers);
  take_kind(optimizer_, optimizer_name, OptimizerKind::sgd, settings.optimizer);
  take(epochs_, settings.epochs);
  take(patience_, settings.patience);
  if (binary(dataset)) settings.metric = Metric::auc;
  take_kind(metric_, metric_name, Metric::macro_f1, settings.metric);
  settings.storage = storage_named(storage_);
  take(batch_, settings.batch);
  settings.threads = common.threads;
  settings.memory = common.memory;
  return settings;
}

}  // namespace ngf::cli
