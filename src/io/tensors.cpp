// The safetensors format: the length of the header (8 bytes, little-endian), the header, which is
// JSON such as
//   {"__metadata__":{"by":"ngf"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
// and may end in blanks, and then the numbers, little-endian, in C order. Offsets count from the
// end of the header; the tensors fill what follows it without a gap.

#include "io/tensors.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "io/sha256.hpp"

namespace ngf::io {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t length_bytes = 8;
// The limit of the other implementations.
constexpr std::uint64_t longest_header = 100'000'000;

// The key of the header that names no tensor, and that of the checksum among the metadata.
constexpr std::string_view tensor_metadata_key = "__metadata__";
constexpr std::string_view tensor_checksum_key = "ngf-sha256";

struct Kind {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Kind, 4> kinds{{{"F32", 4}, {"F64", 8}, {"F16", 2}, {"BF16", 2}}};

/// What the header says about a tensor.
struct Entry {
  std::string name;
  const Kind* kind = nullptr;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;

  std::uint64_t begin() const { return offsets[0]; }
  std::uint64_t end() const { return offsets[1]; }
};

/// Takes the header as the JSON parser finds it, piece by piece: what is repeated or out of place
/// is noticed, and nothing is built from it.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;

  bool null() override { wrong("null"); }
  bool boolean(bool value) override { wrong(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { wrong(std::to_string(value)); }
  bool number_float(double /*value*/, const std::string& text) override { wrong(text); }
  bool binary(binary_t& /*value*/) override { wrong("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (numbers_ == nullptr) wrong(std::to_string(value));
    numbers_->push_back(value);
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      metadata[key_] = value;
    } else if (place_ == Place::tensor && key_ == "dtype") {
      take_kind(value);
    } else {
      wrong(quoted(value));
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top) {
      place_ = key_ == tensor_metadata_key ? Place::metadata : Place::tensor;
      if (place_ == Place::tensor) entries.push_back({.name = key_, .shape = {}, .offsets = {}});
      inner_keys_.clear();
    } else {
      wrong("an object");
    }
    return true;
  }

  bool key(std::string& value) override {
    auto& keys = place_ == Place::top ? outer_keys_ : inner_keys_;
    if (!keys.insert(value).second) fail("{}: header: {} is there twice", where(), quoted(value));
    key_ = value;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor && inner_keys_.size() < 3) {
      fail("{}: header: it lacks one of 'dtype', 'shape' and 'data_offsets'", where());
    }
    place_ = Place::top;
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    if (place_ != Place::tensor || numbers_ != nullptr) wrong("a list");
    if (key_ == "shape") {
      numbers_ = &entries.back().shape;
    } else if (key_ == "data_offsets") {
      numbers_ = &entries.back().offsets;
    } else {
      wrong("a list");
    }
    return true;
  }

  bool end_array() override {
    numbers_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& /*error*/) override {
    fail("{}: header: no JSON at byte {} of the file, near {}", file_,
         length_bytes + std::max<std::size_t>(position, 1) - 1, quoted(last_token));
  }

 private:
  enum class Place { outside, top, metadata, tensor };

  std::string where() const {
    return place_ == Place::tensor
               ? fmt::format("{}: tensor {}", file_, quoted(entries.back().name))
               : file_;
  }

  [[noreturn]] void wrong(std::string_view found) const {
    std::string_view expected = "an object";
    if (place_ == Place::metadata) expected = "a text";
    if (place_ == Place::tensor) {
      expected = "'dtype', a text, 'shape' and 'data_offsets', lists of whole numbers";
    }
    fail("{}: header: {} is {}; expected {}", where(), quoted(key_), found, expected);
  }

  void take_kind(const std::string& name) {
    const auto* const known = std::find_if(kinds.begin(), kinds.end(),
                                           [&](const Kind& kind) { return kind.name == name; });
    if (known == kinds.end()) {
      fail("{}: dtype {} is not read; save it as F32, F64, F16 or BF16", where(), quoted(name));
    }
    entries.back().kind = known;
  }

  const std::string& file_;
  Place place_ = Place::outside;
  std::string key_;
  std::set<std::string> outer_keys_;
  std::set<std::string> inner_keys_;  // of the object that is being read
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

std::uint64_t read_header_length(const Input& input) {
  if (input.size() < length_bytes) {
    fail("{}: {} bytes are no safetensors file, which begins with the length of its header",
         input.name(), input.size());
  }
  std::uint64_t length = 0;
  input.read(0, {reinterpret_cast<char*>(&length), sizeof(length)});
  if (length > input.size() - length_bytes) {
    fail("{}: a header of {} bytes is promised, and {} follow: no safetensors file, or cut short",
         input.name(), length, input.size() - length_bytes);
  }
  if (length > longest_header) {
    fail("{}: a header of {} bytes; at most {} are read", input.name(), length, longest_header);
  }
  return length;
}

/// The numbers of a shape, which are known to lie in the file.
void check_shape(const Entry& entry, const std::string& file) {
  if (entry.offsets.size() != 2 || entry.begin() > entry.end()) {
    fail("{}: tensor {}: header: 'data_offsets' are [{}]; expected where it begins and ends", file,
         quoted(entry.name), fmt::join(entry.offsets, ", "));
  }
  // An empty tensor may have other sizes of any value; none of their products may wrap round.
  std::uint64_t product = entry.kind->bytes;
  bool empty = false;
  for (const std::uint64_t size : entry.shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(product, std::max<std::uint64_t>(size, 1), &product)) {
      fail("{}: tensor {}: its shape [{}] has more entries than can be counted", file,
           quoted(entry.name), fmt::join(entry.shape, ", "));
    }
  }
  const std::uint64_t needed = empty ? 0 : product;
  if (entry.end() - entry.begin() != needed) {
    fail("{}: tensor {}: {} of shape [{}] take {} bytes, and its offsets [{}] span {}", file,
         quoted(entry.name), entry.kind->name, fmt::join(entry.shape, ", "), needed,
         fmt::join(entry.offsets, ", "), entry.end() - entry.begin());
  }
}

/// Sorts the tensors as they lie in the file, where each begins at the end of the one before it.
void check_places(std::vector<Entry>& entries, std::uint64_t data_bytes, const std::string& file) {
  for (const Entry& entry : entries) check_shape(entry, file);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.offsets, a.name) < std::tie(b.offsets, b.name);
  });
  std::uint64_t taken = 0;
  for (const Entry& entry : entries) {
    if (entry.end() > data_bytes) {
      fail("{}: tensor {} ends at byte {} of the data, which are {} bytes", file,
           quoted(entry.name), entry.end(), data_bytes);
    }
    if (entry.begin() < taken) {
      fail("{}: tensor {} begins at byte {} of the data, inside the one that ends at {}", file,
           quoted(entry.name), entry.begin(), taken);
    }
    if (entry.begin() > taken) {
      fail("{}: bytes {} to {} of the data belong to no tensor", file, taken, entry.begin());
    }
    taken = entry.end();
  }
  if (taken != data_bytes) {
    fail("{}: bytes {} to {} of the data belong to no tensor", file, taken, data_bytes);
  }
}

template <typename From, typename Convert>
std::vector<float> converted(const std::string& bytes, const Convert& convert) {
  std::vector<float> values(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From raw;
    std::memcpy(&raw, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = convert(raw);
  }
  return values;
}

std::vector<float> read_values(const Input& input, const Entry& entry, std::uint64_t offset) {
  const std::uint64_t size = entry.end() - entry.begin();
  if (entry.kind->name == "F32") {
    std::vector<float> values(size / sizeof(float));
    input.read(offset, {reinterpret_cast<char*>(values.data()), size});
    return values;
  }
  const std::string bytes = input.read_at(offset, size);
  if (entry.kind->name == "F64") {
    return converted<double>(bytes, [](double value) { return static_cast<float>(value); });
  }
  if (entry.kind->name == "F16") {
    return converted<std::uint16_t>(bytes, [](std::uint16_t half) {
      return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(half));
    });
  }
  return converted<std::uint16_t>(bytes, [](std::uint16_t upper) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
  });
}

/// Compares the checksum of `write_tensors`, where there is one, and takes it off the metadata.
/// Programs that convert the numbers keep the metadata as they are.
void check_checksum(TensorFile& file, const std::vector<Entry>& entries, const std::string& name) {
  const auto found = file.metadata.find(std::string(tensor_checksum_key));
  if (found == file.metadata.end()) return;
  const std::string expected = found->second;
  file.metadata.erase(found);
  const bool converted = std::any_of(entries.begin(), entries.end(),
                                     [](const Entry& entry) { return entry.kind->name != "F32"; });
  if (converted || checksum_of(file) == expected) return;
  fail(
      "{}: its content does not match its checksum: the file is damaged; another program that "
      "changes it has to remove '{}' from the metadata",
      name, tensor_checksum_key);
}

// ---- Writing ----

/// In the order of the file.
using ByName = std::map<std::string_view, const Tensor*>;

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
    if (tensor.name == tensor_metadata_key) {
      fail("{}: no tensor can be called {}", place, tensor_metadata_key);
    }
    if (!sorted.emplace(tensor.name, &tensor).second) {
      fail("{}: two tensors are called {}", place, quoted(tensor.name));
    }
  }
  return sorted;
}

std::string header_text(const TensorFile& file, const ByName& sorted, const std::string& place) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  auto& metadata = header[std::string(tensor_metadata_key)] = file.metadata;
  metadata[std::string(tensor_checksum_key)] = checksum_of(file);
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

TensorFile read_tensors(const Input& input) {
  const std::uint64_t length = read_header_length(input);
  const std::string text = input.read_at(length_bytes, length);
  if (!text.starts_with('{')) {
    fail("{}: its header begins with {}; expected '{{': no safetensors file", input.name(),
         quoted(text.substr(0, 1)));
  }
  HeaderReader header(input.name());
  nlohmann::json::sax_parse(text, &header);
  const std::uint64_t data_at = length_bytes + length;
  check_places(header.entries, input.size() - data_at, input.name());

  TensorFile file;
  file.metadata = std::move(header.metadata);
  file.tensors.reserve(header.entries.size());
  for (Entry& entry : header.entries) {
    std::vector<float> values = read_values(input, entry, data_at + entry.begin());
    file.tensors.push_back({std::move(entry.name), std::move(entry.shape), std::move(values)});
  }
  check_checksum(file, header.entries, input.name());
  return file;
}

std::string checksum_of(const TensorFile& file) {
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

}  // namespace ngf::io

namespace ngf {

TensorFile read_tensors(const std::filesystem::path& path) {
  return io::read_tensors(io::Input(path));
}

void write_tensors(const std::filesystem::path& path, const TensorFile& file) {
  const io::ByName sorted = io::sorted_tensors(file, path.string());
  const std::string header = io::header_text(file, sorted, path.string());
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
