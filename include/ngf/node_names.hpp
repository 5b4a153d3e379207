#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ngf {

/// Names of nodes, end to end in one string: millions of names are two arrays.
class NodeNames {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](std::size_t node) const {
    const std::uint64_t begin = node == 0 ? 0 : ends_[node - 1];
    return std::string_view(text_).substr(begin, ends_[node] - begin);
  }
  void push_back(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }
  /// Bytes of the two arrays.
  std::uint64_t bytes() const { return text_.size() + ends_.size() * sizeof(std::uint64_t); }

  friend bool operator==(const NodeNames&, const NodeNames&) = default;

 private:
  std::string text_;
  std::vector<std::uint64_t> ends_;  // of each name in the string
};

}  // namespace ngf
