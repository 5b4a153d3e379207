#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"

namespace ngf::fuzz {

/// One thread, and no time spent on the large empty graphs that a short file may promise.
inline const io::ReadOptions small{.threads = 1, .memory = std::uint64_t{1} << 20};

/// The same for files that contradict themselves.
inline const io::ReadOptions lenient{
    .lenient = true, .threads = 1, .memory = std::uint64_t{1} << 20};

/// Reads the bytes in one piece and in pieces of a few bytes. Aborts when the answers differ, be
/// they values or the texts of errors.
template <typename Read>
void read_two_ways(const std::uint8_t* data, std::size_t size, const Read& read) {
  const io::Input input("file", std::span(reinterpret_cast<const char*>(data), size));
  const auto attempt = [&](std::size_t piece_bytes,
                           std::string& error) -> decltype(read(input, 1)) {
    try {
      return read(input, piece_bytes);
    } catch (const Error& refusal) {
      error = refusal.what();
      return {};
    }
  };
  std::string whole_error;
  std::string pieces_error;
  const auto whole = attempt(io::PieceOptions::default_piece_bytes, whole_error);
  const auto pieces = attempt(5, pieces_error);
  if (!(whole == pieces) || whole_error != pieces_error) std::abort();
}

}  // namespace ngf::fuzz
