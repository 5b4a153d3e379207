#include "io/matrix_writer.hpp"

#include <array>
#include <utility>

#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"

namespace ngf::io {

MatrixWriter::MatrixWriter(const std::filesystem::path& path, Eigen::Index rows,
                           Eigen::Index columns, TableText text)
    : file_(path), npy_(lower_case(path.extension().string()) == ".npy"), text_(std::move(text)) {
  if (npy_) {
    const std::array<std::uint64_t, 2> shape{static_cast<std::uint64_t>(rows),
                                             static_cast<std::uint64_t>(columns)};
    file_.write(npy_header("<f4", shape));
  } else {
    begin_csv_table(file_, rows, columns, text_);
  }
}

void MatrixWriter::write(const MatrixF& rows) {
  if (npy_) {
    file_.write({reinterpret_cast<const char*>(rows.data()),
                 static_cast<std::size_t>(rows.size()) * sizeof(float)});
  } else {
    write_csv_rows<float>(file_, rows, text_.rows, written_);
    written_ += static_cast<std::size_t>(rows.rows());
  }
}

}  // namespace ngf::io
