#include <map>
#include <nlohmann/json.hpp>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "io/quote.hpp"
#include "io/sha256.hpp"
#include "io/tensors.hpp"

namespace ngf {

namespace {

using detail::fail;
using io::quoted;

/// In the order of the file.
using ByName = std::map<std::string_view, const Tensor*>;

/// Checks what is to be written.
ByName sorted_tensors(const TensorFile& file, const std::string& place) {
  ByName sorted;
  for (const Tensor& tensor : file.tensors) {
    std::uint64_t count = 1;
    bool countable = true;
    for (const std::uint64_t size : tensor.shape) {
      countable = countable && !__builtin_mul_overflow(count, size, &count);
    }
    if (!countable || count != tensor.values.size()) {
      fail("{}: tensor {} has {} values for a shape [{}]", place, quoted(tensor.name),
           tensor.values.size(), fmt::join(tensor.shape, ", "));
    }
    if (tensor.name == io::tensor_metadata_key) {
      fail("{}: no tensor can be called {}", place, io::tensor_metadata_key);
    }
    if (!sorted.emplace(tensor.name, &tensor).second) {
      fail("{}: two tensors are called {}", place, quoted(tensor.name));
    }
  }
  return sorted;
}

std::string header_text(const TensorFile& file, const ByName& sorted, const std::string& place) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  auto& metadata = header[std::string(io::tensor_metadata_key)] = file.metadata;
  metadata[std::string(io::tensor_checksum_key)] = io::checksum_of(file);
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : sorted) {
    const std::uint64_t end = offset + tensor->values.size() * sizeof(float);
    header.push_back(
        {std::string(name),
         {{"dtype", "F32"}, {"shape", tensor->shape}, {"data_offsets", {offset, end}}}});
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    fail("{}: a name or a text of the metadata is not UTF-8, which the format asks for", place);
  }
  // So that the numbers begin at a multiple of 8.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::string io::checksum_of(const TensorFile& file) {
  Sha256 sum;
  const auto add = [&](std::string_view text) {
    sum.add(fmt::format("{}:", text.size()));
    sum.add(text);
  };
  for (const auto& [key, value] : file.metadata) {
    if (key == tensor_checksum_key) continue;
    add(key);
    add(value);
  }
  ByName by_name;
  for (const Tensor& tensor : file.tensors) by_name.emplace(tensor.name, &tensor);
  for (const auto& [name, tensor] : by_name) {
    add(name);
    add(fmt::format("{}", fmt::join(tensor->shape, ",")));
    add({reinterpret_cast<const char*>(tensor->values.data()),
         tensor->values.size() * sizeof(float)});
  }
  return sum.finish();
}

void write_tensors(const std::filesystem::path& path, const TensorFile& file) {
  const ByName sorted = sorted_tensors(file, path.string());
  const std::string header = header_text(file, sorted, path.string());
  const std::uint64_t length = header.size();
  io::AtomicFile out(path);
  out.write({reinterpret_cast<const char*>(&length), sizeof(length)});
  out.write(header);
  for (const auto& [name, tensor] : sorted) {
    out.write({reinterpret_cast<const char*>(tensor->values.data()),
               tensor->values.size() * sizeof(float)});
  }
  out.commit();
}

}  // namespace ngf
