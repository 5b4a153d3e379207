#pragma once

#include <cmath>

#include "base/philox.hpp"
#include "base/streams.hpp"
#include "ngf/nn/network.hpp"

namespace ngf::nn {

struct Runs {
  std::size_t first = 0;
  std::size_t count = 1;
};

/// 16 random bits each, those of random_for(seed, use, item) in their order.
inline void random_words(std::uint64_t seed, Use use, std::uint64_t item, std::size_t count,
                         std::uint16_t* to) {
  constexpr std::size_t words = 8;  // of a block
  const std::uint64_t stream = static_cast<std::uint64_t>(use) << 56 | item;
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (std::size_t block = 0; block * words < count; ++block) {
    const auto bits =
        detail::philox4x32({low(block), low(block >> 32), low(stream), low(stream >> 32)},
                           {low(seed), low(seed >> 32)});
    const std::size_t end = std::min(count, (block + 1) * words);
    for (std::size_t i = block * words; i < end; ++i) {
      to[i] = static_cast<std::uint16_t>(bits[i % words / 2] >> (i % 2 * 16));
    }
  }
}

/// The masks of one step of dropout. Rates are rounded to multiples of 2^-16.
class Masks {
 public:
  /// With a partition, rows are the rank's own nodes, and have the masks of these nodes.
  Masks(const Dropout& dropout, std::size_t layers, const Partition* partition = nullptr)
      : dropout_(dropout), layers_(layers), partition_(partition) {
    for (const double rate : dropout.rates) {
      thresholds_.push_back(static_cast<std::uint32_t>(std::lround(rate * 0x1p16)));
    }
  }

  /// Whether words below this are dropped, of which run `r` has none when it is 0.
  std::uint32_t threshold(std::size_t r) const { return thresholds_[r]; }
  /// What the entries that stay are multiplied by.
  double scale(std::size_t r) const { return 0x1p16 / (0x1p16 - thresholds_[r]); }

  /// For the `count` entries of a row of a layer's input.
  void words(std::size_t r, std::size_t layer, std::size_t row, std::size_t rows, std::size_t count,
             std::uint16_t* to) const {
    const auto own = static_cast<NodeId>(row);
    const std::uint64_t number =
        partition_ == nullptr ? row : partition_->old_number(partition_->own().begin + own);
    const std::uint64_t all = partition_ == nullptr ? rows : partition_->nodes();
    const std::uint64_t item = (dropout_.step * layers_ + layer) * all + number;
    random_words(dropout_.seeds[r], Use::network_dropout, item, count, to);
  }

 private:
  Dropout dropout_;
  std::size_t layers_;
  const Partition* partition_;
  std::vector<std::uint32_t> thresholds_;
};

}  // namespace ngf::nn
