#pragma once

#include <cstddef>
#include <cstdint>

namespace ngf::kernels {

/// Dots of one row with others. Rows are padded with zeros to whole cache lines, and aligned to
/// them.
struct DotKernels {
  /// to[i] = <row, row number columns[i] of `rows`>, with <a, b> = <b, a> to the last bit. Rows are
  /// `lines` cache lines long.
  void (*listed_16)(const float* row, const float* rows, std::size_t lines,
                    const std::uint16_t* columns, std::size_t count, float* to);
  void (*listed_32)(const float* row, const float* rows, std::size_t lines,
                    const std::uint32_t* columns, std::size_t count, float* to);
};

/// The kernels of the instruction set in use.
const DotKernels& dot_kernels();

}  // namespace ngf::kernels
