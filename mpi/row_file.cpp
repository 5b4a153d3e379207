#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "mpi_communicator.hpp"

namespace ngf::mpi {

RowFile::RowFile(MpiCommunicator& ranks, const std::filesystem::path& target, const std::string& header,
                 std::size_t row_bytes)
    : communicator_(ranks), row_bytes_(row_bytes) {
  std::string path;
  if (ranks.rank() == 0) {
    passing_ = std::make_unique<io::AtomicFile>(target);
    passing_->write(header);
    path = passing_->passing_path().string();
  }
  path = ranks.of_first(std::move(path));
  header_bytes_ = ranks.of_first(std::uint64_t{header.size()});
  if (path.empty()) {
    detail::fail("{}: several processes write to files alone, not to pipes", target.string());
  }
  if (MPI_File_open(ranks.communicator(), path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_) !=
      MPI_SUCCESS) {
    detail::fail("{}: cannot be written by all processes; is its folder one that they share?",
                 target.string());
  }
}

RowFile::~RowFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void RowFile::write(const std::vector<std::uint64_t>& numbers,
                    const std::function<void(std::uint64_t number, std::byte* to)>& fill) {
  // So much at a time that memory does not grow by what is written; all take part in each round.
  constexpr std::size_t bytes_at_once = std::size_t{16} << 20;
  const std::size_t at_once = bytes_at_once / std::clamp<std::size_t>(row_bytes_, 1, bytes_at_once);
  const std::size_t rounds = communicator_.largest((numbers.size() + at_once - 1) / at_once);
  std::vector<std::byte> rows;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t first = std::min(round * at_once, numbers.size());
    const std::size_t count = std::min(at_once, numbers.size() - first);
    rows.resize(count * row_bytes_);
    std::vector<MPI_Aint> places(count);
    for (std::size_t i = 0; i < count; ++i) {
      fill(numbers[first + i], rows.data() + i * row_bytes_);
      places[i] = static_cast<MPI_Aint>(numbers[first + i] * row_bytes_);
    }
    MPI_Datatype row = MPI_DATATYPE_NULL;
    MPI_Datatype view = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(row_bytes_), MPI_BYTE, &row);
    MPI_Type_create_hindexed_block(static_cast<int>(count), 1, places.data(), row, &view);
    MPI_Type_commit(&row);
    MPI_Type_commit(&view);
    MPI_File_set_view(file_, static_cast<MPI_Offset>(header_bytes_), row, view, "native",
                      MPI_INFO_NULL);
    const int failed =
        MPI_File_write_all(file_, rows.data(), static_cast<int>(count), row, MPI_STATUS_IGNORE);
    MPI_Type_free(&view);
    MPI_Type_free(&row);
    if (failed != MPI_SUCCESS) detail::fail("cannot write; is the disk full?");
  }
}

void RowFile::commit() {
  MPI_File_sync(file_);
  MPI_File_close(&file_);
  MPI_Barrier(communicator_.communicator());
  if (passing_ != nullptr) passing_->commit();
}

}  // namespace ngf::mpi
