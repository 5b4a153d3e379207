#include "ngf/communicator.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"

namespace ngf {

template <typename Number>
void Communicator::sum(std::span<Number> values) {
  // Each rank adds up a piece of all, in the order of the ranks, and tells the others.
  const auto ranks = static_cast<std::size_t>(size());
  if (ranks == 1 || values.empty()) return;
  const std::size_t piece = (values.size() + ranks - 1) / ranks;
  std::vector<Number> sent(ranks * piece, Number{0});
  std::vector<Number> received(ranks * piece);
  std::copy(values.begin(), values.end(), sent.begin());
  exchange(std::as_bytes(std::span(sent)).data(),
           std::as_writable_bytes(std::span(received)).data(), piece * sizeof(Number));
  Number* const own = sent.data() + static_cast<std::size_t>(rank()) * piece;
  std::copy_n(received.begin(), piece, own);
  for (std::size_t q = 1; q < ranks; ++q) {
    for (std::size_t i = 0; i < piece; ++i) own[i] += received[q * piece + i];
  }
  std::vector<NodeId> begins(ranks + 1);
  for (std::size_t q = 0; q <= ranks; ++q) begins[q] = static_cast<NodeId>(q);
  begin_gather(std::as_writable_bytes(std::span(sent)).data(), piece * sizeof(Number), begins)
      ->wait();
  std::copy_n(sent.begin(), values.size(), values.begin());
}

template void Communicator::sum(std::span<float>);
template void Communicator::sum(std::span<double>);
template void Communicator::sum(std::span<std::uint64_t>);

std::uint64_t Communicator::largest(std::uint64_t value) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size()), 0);
  values[static_cast<std::size_t>(rank())] = value;
  sum(std::span(values));
  return *std::max_element(values.begin(), values.end());
}

std::string Communicator::of_first(std::string text) {
  text.resize(of_first(text.size()));
  broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> lengths(ranks, 0);
  lengths[static_cast<std::size_t>(rank())] = text.size();
  sum(std::span(lengths));
  std::vector<NodeId> begins(1, 0);
  for (const std::uint64_t length : lengths) {
    if (length > std::numeric_limits<NodeId>::max() - begins.back()) {
      fail("texts of all ranks are too long to be gathered");
    }
    begins.push_back(begins.back() + static_cast<NodeId>(length));
  }
  std::string all(begins.back(), '\0');
  std::copy(text.begin(), text.end(), all.begin() + begins[static_cast<std::size_t>(rank())]);
  begin_gather(std::as_writable_bytes(std::span(all)).data(), 1, begins)->wait();
  std::vector<std::string> result;
  for (std::size_t q = 0; q < ranks; ++q) {
    result.push_back(all.substr(begins[q], begins[q + 1] - begins[q]));
  }
  return result;
}

}  // namespace ngf
