#include <array>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "graph/build_rows.hpp"

namespace ngf {

namespace {

/// The size of Cora, at which the numbers below are the ones that people know.
constexpr std::uint64_t usual_nodes = 2708;

constexpr std::array<std::uint64_t, 7> percent_of_field{30, 16, 15, 13, 11, 8, 7};
constexpr double cites_own_field = 0.9;
constexpr double copies_own_field = 0.6;
constexpr double copies_other_field = 0.2;
constexpr double filed_at_random = 0.16;
constexpr double filed_like_source = 0.7;

constexpr double word_is_common = 0.5;
constexpr double word_is_of_field = 0.31;
constexpr std::uint64_t fewest_words = 11;
constexpr std::uint64_t most_words = 27;

std::int32_t draw_field(Random& random) {
  std::uint64_t percent = random.below(100);
  std::size_t field = 0;
  while (percent >= percent_of_field[field]) percent -= percent_of_field[field++];
  return static_cast<std::int32_t>(field);
}

struct Papers {
  std::vector<std::int32_t> field;
  std::vector<std::int32_t> label;
  std::vector<Edge> citations;  // by citing paper
};

Papers grow(NodeId nodes, std::uint64_t seed, const Progress* progress) {
  Papers papers;
  papers.field.reserve(nodes);
  papers.label.reserve(nodes);
  papers.citations.reserve(std::size_t{nodes} * 2);
  std::vector<std::size_t> first_citation{0};
  first_citation.reserve(std::size_t{nodes} + 1);
  std::array<std::vector<NodeId>, percent_of_field.size()> of_field;
  for (NodeId u = 0; u < nodes; ++u) {
    if (u % 4096 == 0) throw_if_stopped(progress);
    Random random = random_for(seed, Use::citation_papers, u);
    const std::int32_t field = draw_field(random);
    std::int32_t label = random.chance(filed_at_random) ? draw_field(random) : field;
    auto& own = of_field[static_cast<std::size_t>(field)];
    if (u > 0) {
      const bool from_own = random.chance(cites_own_field) && !own.empty();
      const NodeId source =
          from_own ? own[random.below(own.size())] : static_cast<NodeId>(random.below(u));
      papers.citations.push_back({u, source});
      if (papers.field[source] == field && random.chance(filed_like_source)) {
        label = papers.label[source];
      }
      for (std::size_t i = first_citation[source]; i < first_citation[source + std::size_t{1}];
           ++i) {
        const NodeId cited = papers.citations[i].to;
        const bool same = papers.field[cited] == field;
        if (random.chance(same ? copies_own_field : copies_other_field)) {
          papers.citations.push_back({u, cited});
        }
      }
    }
    first_citation.push_back(papers.citations.size());
    papers.field.push_back(field);
    papers.label.push_back(label);
    own.push_back(u);
  }
  return papers;
}

template <typename T>
std::vector<T> shuffled_numbers(std::size_t count, Random random) {
  std::vector<T> numbers(count);
  std::iota(numbers.begin(), numbers.end(), T{0});
  shuffle(numbers, random);
  return numbers;
}

/// Columns: 30 % are words of all fields, the others belong to one field each. Vocabularies grow as
/// the square root of a collection (Heaps' law).
class Vocabulary {
 public:
  Vocabulary(NodeId nodes, std::uint64_t seed)
      : seed_(seed),
        size_(std::max<std::uint64_t>(
            140, static_cast<std::uint64_t>(
                     1433 * std::sqrt(static_cast<double>(nodes) / double{usual_nodes})))),
        common_(size_ * 3 / 10),
        of_field_((size_ - common_) / percent_of_field.size()),
        column_(shuffled_numbers<int>(size_, random_for(seed, Use::citation_columns, 0))) {}

  std::uint64_t size() const { return size_; }

  /// The columns of a paper's words, increasing, each once.
  std::vector<int> words(NodeId paper, std::int32_t field) const {
    Random random = random_for(seed_, Use::citation_words, paper);
    std::vector<int> columns(fewest_words + random.below(most_words - fewest_words + 1));
    for (int& column : columns) column = column_[draw(field, random)];
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
  }

 private:
  std::uint64_t draw(std::int32_t field, Random& random) const {
    const double source = random.uniform();
    const double u = random.uniform();
    // The square of a uniform number crowds towards the first words.
    const auto rank_among = [&](std::uint64_t count) {
      return static_cast<std::uint64_t>(static_cast<double>(count) * (u * u));
    };
    if (source < word_is_common) return rank_among(common_);
    const bool own = source < word_is_common + word_is_of_field;
    const auto from =
        own ? static_cast<std::uint64_t>(field) : random.below(percent_of_field.size());
    return common_ + from * of_field_ + rank_among(of_field_);
  }

  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t common_;
  std::uint64_t of_field_;
  std::vector<int> column_;
};

SparseMatrixF bags_of_words(const std::vector<std::int32_t>& field, std::uint64_t seed,
                            int threads) {
  const auto nodes = static_cast<NodeId>(field.size());
  const Vocabulary vocabulary(nodes, seed);
  SparseMatrixF features(static_cast<Eigen::Index>(nodes),
                         static_cast<Eigen::Index>(vocabulary.size()));
  int* const offsets = features.outerIndexPtr();
  parallel_ranges(nodes, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      offsets[u + 1] = static_cast<int>(vocabulary.words(static_cast<NodeId>(u), field[u]).size());
    }
  });
  std::partial_sum(offsets, offsets + nodes + 1, offsets);
  features.resizeNonZeros(offsets[nodes]);
  // Drawing the words again is cheaper than keeping them.
  parallel_ranges(nodes, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      const auto words = vocabulary.words(static_cast<NodeId>(u), field[u]);
      std::copy(words.begin(), words.end(), features.innerIndexPtr() + offsets[u]);
    }
  });
  std::fill_n(features.valuePtr(), offsets[nodes], 1.0F);
  return features;
}

Split public_split(const std::vector<std::int32_t>& labels, std::uint64_t seed) {
  const auto share = [&](std::uint64_t count) {
    return labels.size() >= usual_nodes ? count : count * labels.size() / usual_nodes;
  };
  const std::uint64_t train_of_class = std::max<std::uint64_t>(1, share(20));
  const std::uint64_t validation = share(500);
  const std::uint64_t test = share(1000);
  std::array<std::uint64_t, percent_of_field.size()> taken{};
  Split split;
  for (const NodeId u :
       shuffled_numbers<NodeId>(labels.size(), random_for(seed, Use::citation_split, 0))) {
    auto& taken_of_class = taken[static_cast<std::size_t>(labels[u])];
    if (taken_of_class < train_of_class) {
      ++taken_of_class;
      split.train.push_back(u);
    } else if (split.validation.size() < validation) {
      split.validation.push_back(u);
    } else if (split.test.size() < test) {
      split.test.push_back(u);
    }
  }
  for (auto* part : {&split.train, &split.validation, &split.test}) {
    std::sort(part->begin(), part->end());
  }
  return split;
}

}  // namespace

Dataset citation_network(std::uint64_t nodes, std::uint64_t seed, const GenerateOptions& options) {
  constexpr std::uint64_t most_nodes = 0x7fffffff / most_words;  // the matrix counts with an int
  if (nodes > most_nodes) fail("builtin:citation: nodes={} must be at most {}", nodes, most_nodes);
  const NodeId N = detail::checked_nodes(nodes, 2 * static_cast<double>(nodes), options);
  check_budget(nodes * most_words * (sizeof(int) + sizeof(float)), options.memory,
               "the features of a citation network");
  Papers papers = grow(N, seed, options.progress);
  Dataset dataset;
  dataset.features = bags_of_words(papers.field, seed, options.threads);
  dataset.labels = std::move(papers.label);
  dataset.splits.push_back(public_split(dataset.labels, seed));
  std::vector<EdgeBlock> blocks(1);
  blocks[0].edges = std::move(papers.citations);
  dataset.graph = build_graph(
      N, std::move(blocks),
      {.threads = options.threads, .memory = options.memory, .progress = options.progress});
  return dataset;
}

}  // namespace ngf
