#include "pair_flags.hpp"

#include <fmt/format.h>

#include <optional>

namespace ngf::cli {

void PairFlags::add_to(CLI::App& verb, const std::string& group) {
  auto* const weights = verb.add_option("--pair-weights", weights_,
                                        "Weight each pair by the cosine of its nodes: of their "
                                        "features, or of the rows of a file");
  weights->type_name("features|FILE");
  auto* const power =
      verb.add_option("--pair-power", power_, "Power of the cosine in weights of pairs")
          ->check(CLI::NonNegativeNumber)
          ->needs(weights)
          ->capture_default_str();
  if (group.empty()) return;
  weights->group(group);
  power->group(group);
}

void PairFlags::add_file_to(CLI::App& verb) {
  verb.add_option("--pair-weights", weights_,
                  "The file of embeddings that the model was trained with, if it was")
      ->type_name("FILE");
}

Embeddings PairFlags::read(const std::string& source, const Dataset& dataset, const NodeIds& ids,
                           const Common& common) const {
  std::optional<Embeddings> found;
  naming(of_features() ? source : weights_.string(), [&] {
    if (of_features()) {
      found = feature_embeddings(dataset);
    } else {
      found = Embeddings(read_signals(weights_, ids, common, {.copies = 1, .finite = true}).values);
    }
  });
  if (found->zero_rows() > 0) {
    warn(common, fmt::format("{} of {} nodes have an embedding of zeros: pairs with them have "
                             "weight 0",
                             found->zero_rows(), found->nodes()));
  }
  return *found;
}

}  // namespace ngf::cli
