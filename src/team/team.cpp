#include "ngf/team.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "detail/fail.hpp"

namespace ngf {

template <typename Number>
void Team::sum(std::span<Number> values) {
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

template void Team::sum(std::span<float>);
template void Team::sum(std::span<double>);
template void Team::sum(std::span<std::uint64_t>);

std::uint64_t Team::largest(std::uint64_t value) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size()), 0);
  values[static_cast<std::size_t>(rank())] = value;
  sum(std::span(values));
  return *std::max_element(values.begin(), values.end());
}

std::string Team::of_first(std::string text) {
  text.resize(of_first(text.size()));
  broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> Team::gather(const std::string& text) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> lengths(ranks, 0);
  lengths[static_cast<std::size_t>(rank())] = text.size();
  sum(std::span(lengths));
  std::vector<NodeId> begins(1, 0);
  for (const std::uint64_t length : lengths) {
    if (length > std::numeric_limits<NodeId>::max() - begins.back()) {
      detail::fail("texts of all ranks are too long to be gathered");
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

Deal::Deal(std::shared_ptr<Team> team, Arrangement arrangement)
    : team_(std::move(team)), arrangement_(std::move(arrangement)) {
  const auto& [order, begins] = arrangement_;
  if (begins.size() != static_cast<std::size_t>(team_->size()) + 1 || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end())) {
    detail::fail("a deal needs a share of the nodes for each of {} ranks", team_->size());
  }
  if (!order.empty() && order.size() != nodes()) {
    detail::fail("{} numbers for {} nodes that are dealt", order.size(), nodes());
  }
}

RowRange Deal::own() const {
  const auto rank = static_cast<std::size_t>(team_->rank());
  return {begins()[rank], begins()[rank + 1]};
}

Deal Deal::of_classes(std::span<const NodeId> class_of) const {
  Arrangement of_classes;
  NodeId classes = 0;
  for (NodeId u = 0, rank = 0; u <= nodes(); ++u) {
    for (; rank < begins().size() && begins()[rank] == u; ++rank) {
      of_classes.begins.push_back(classes);
    }
    if (u < nodes() && class_of[u] == classes) ++classes;
  }
  return {team_, std::move(of_classes)};
}

std::vector<std::uint32_t> Deal::ranks() const {
  std::vector<std::uint32_t> result(nodes());
  for (std::size_t q = 0; q + 1 < begins().size(); ++q) {
    std::fill(result.begin() + begins()[q], result.begin() + begins()[q + 1],
              static_cast<std::uint32_t>(q));
  }
  return result;
}

}  // namespace ngf
