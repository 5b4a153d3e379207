#include "io/matrix_writer.hpp"

#include <array>

#include "base/fail.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"

namespace ngf::io {

MatrixWriter::MatrixWriter(const std::filesystem::path& path, Eigen::Index rows,
                           Eigen::Index columns)
    : file_(path), npy_(lower_case(path.extension().string()) == ".npy") {
  if (npy_) {
    const std::array<std::uint64_t, 2> shape{static_cast<std::uint64_t>(rows),
                                             static_cast<std::uint64_t>(columns)};
    file_.write(npy_header("<f4", shape));
  } else {
    check_csv_shape(file_, rows, columns);
  }
}

void MatrixWriter::write(const MatrixF& rows) {
  if (!npy_) return write_csv_rows<float>(file_, rows);
  file_.write({reinterpret_cast<const char*>(rows.data()),
               static_cast<std::size_t>(rows.size()) * sizeof(float)});
}

}  // namespace ngf::io
