#include "filter/hop_products.hpp"
#include "filter/hop_weights.hpp"
#include "kernels/hop_blocks.hpp"

/// Hops times a signal of one column.
namespace ngf::filter {

namespace {

/// Calls body(v, place) for each node v, with the place of its number among those that are laid out
/// for blocks.
template <typename Real, typename Body>
void for_each_place(std::size_t nodes, const Body& body) {
  constexpr std::size_t block = kernels::block_hops;
  for (std::size_t first = 0; first < nodes; first += block) {
    for (std::size_t i = 0; i < std::min(block, nodes - first); ++i) {
      body(first + i, first + kernels::place_in_block<Real>(i));
    }
  }
}

/// A signal laid out for the blocks that kernels take, with zeros behind it.
template <typename Real>
AlignedVector<Real> in_blocks(const Real* x, std::size_t nodes) {
  constexpr std::size_t block = kernels::block_hops;
  AlignedVector<Real> result((nodes + block - 1) / block * block, Real{0});
  for_each_place<Real>(nodes, [&](std::size_t v, std::size_t place) { result[place] = x[v]; });
  return result;
}

/// The column, where it lies, or copied where its entries lie scattered.
template <typename Real>
class WholeColumn {
 public:
  explicit WholeColumn(const SignalsView<Real>& x) : data_(x.data()) {
    if (x.outerStride() == 1) return;
    copy_ = x.col(0);
    data_ = copy_.data();
  }
  const Real* data() const { return data_; }

 private:
  Eigen::Matrix<Real, Eigen::Dynamic, 1> copy_;
  const Real* data_;
};

/// y_u = dot(weights, u) for all rows, in parallel.
template <typename Real, typename Dot>
void for_each_dot(const HopMatrix<std::uint8_t>& matrix, const ShellFactors<Real>& factors,
                  SignalsSlice<Real>& y, int threads, const Dot& dot) {
  const RowRange& range = matrix.rows();
  for_each_tile(range.count(), threads, [&](std::size_t first, std::size_t rows) {
    HopWeights<std::uint8_t, Real> weights(factors);
    for (std::size_t row = first; row < first + rows; ++row) {
      y(static_cast<Eigen::Index>(row), 0) = dot(weights, range.begin + static_cast<NodeId>(row));
    }
  });
}

const HopMatrix<std::uint8_t>& bytes_of(const ShellSource& source) {
  return std::get<HopMatrix<std::uint8_t>>(source.shells.held());
}

}  // namespace

/// A single shell: the signals at its hop are added up.
template <typename Real>
void multiply_hop_sum(const ShellSource& source, const ShellFactors<Real>& factors,
                      const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  const auto counts = [](Real scale) { return scale != Real{0}; };
  const auto found = std::ranges::find_if(factors.scale, counts);
  const auto k = static_cast<std::size_t>(found - factors.scale.begin());
  const HopMatrix<std::uint8_t>& matrix = bytes_of(source);
  const WholeColumn<Real> column(x);
  const auto& kernels = kernels::hop_kernels<Real>();
  for_each_dot(matrix, factors, y, source.threads(), [&](const auto& /*weights*/, NodeId u) {
    return factors.of_row(k, u) * kernels.sum_at_hop(matrix.row(u).data(), matrix.nodes(),
                                                     static_cast<std::uint8_t>(k), column.data());
  });
}

/// Each hop becomes a weight in a register, and is multiplied there.
template <typename Real>
void multiply_hop_lookup(const ShellSource& source, const ShellFactors<Real>& factors,
                         const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  const HopMatrix<std::uint8_t>& matrix = bytes_of(source);
  const AlignedVector<Real> signal = in_blocks(WholeColumn<Real>(x).data(), matrix.nodes());
  const auto& kernels = kernels::hop_kernels<Real>();
  for_each_dot(matrix, factors, y, source.threads(), [&](auto& weights, NodeId u) {
    return kernels.look_up_dot(matrix.row(u).data(), signal.size() / kernels::block_hops,
                               weights.table_of(u), weights.last_hop(), signal.data());
  });
}

/// A single column in an undirected graph: each hop is looked up once for both of its nodes, so
/// that half of the matrix is read. Rows are cut into 64 at a time, which are distributed to a few
/// shares of nearly equal work; their number is that of no machine, so that sums have one order,
/// and less on small graphs, since each share has sums of its own for all nodes.
void multiply_hop_half(const ShellSource& source, const ShellFactors<float>& factors,
                       const SignalsView<float>& signals, SignalsSlice<float>& y) {
  const HopMatrix<std::uint8_t>& matrix = bytes_of(source);
  const std::vector<float>& scale = factors.scale;
  const WholeColumn<float> column(signals);
  const auto& kernels = kernels::hop_kernels<float>();
  const kernels::HopBlockKernels& both = *kernels::hop_block_kernels();
  const float* const x = column.data();
  constexpr std::size_t block = kernels::block_hops;
  constexpr std::size_t rows = kernels::rows_of_both;
  const std::size_t nodes = matrix.nodes();
  const std::size_t shares =
      nodes < costs::half_small_nodes ? costs::half_shares_small : costs::half_shares;
  const AlignedVector<float> signal = in_blocks(x, nodes);
  const std::size_t blocks = signal.size() / block;
  AlignedVector<float> table(kernels::table_entries, 0.0F);
  std::copy(scale.begin(), scale.end(), table.begin());
  // Of each share: what it adds to the nodes behind its own, then the dots of its own rows.
  BriefVector<float> sums(shares * signal.size());
  BriefVector<float> dots(signal.size(), 0.0F);
  const auto add_rows = [&](std::size_t b, float* to) {
    const std::size_t first = b * block;
    const std::size_t end = std::min(nodes, first + block);
    std::size_t u = first;
    for (; u + rows <= end; u += rows) {
      both.add_both(matrix.row(static_cast<NodeId>(u)).data() + first, matrix.stride(), blocks - b,
                    table.data(), scale.size() - 1, signal.data() + first, x + u, dots.data() + u,
                    to + first);
    }
    // Rows that are left over are the last of all, and have the block of the diagonal alone.
    for (; u < end; ++u) {
      dots[u] = kernels.look_up_dot(matrix.row(static_cast<NodeId>(u)).data() + first, 1,
                                    table.data(), scale.size() - 1, signal.data() + first);
    }
  };
  parallel_for(shares, source.threads(), [&](std::size_t share) {
    float* const to = sums.data() + share * signal.size();
    std::fill_n(to, signal.size(), 0.0F);
    // There and back, since rows have the fewer blocks the later they come.
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t turn = b % (2 * shares);
      if (std::min(turn, 2 * shares - 1 - turn) == share) add_rows(b, to);
    }
  });
  for (std::size_t share = 1; share < shares; ++share) {
    const float* const from = sums.data() + share * signal.size();
    for (std::size_t i = 0; i < signal.size(); ++i) sums[i] += from[i];
  }
  for_each_place<float>(nodes, [&](std::size_t v, std::size_t place) {
    y(static_cast<Eigen::Index>(v), 0) = dots[v] + sums[place];
  });
}

#define NGF_INSTANTIATE(Real)                                                      \
  template void multiply_hop_sum(const ShellSource&, const ShellFactors<Real>&,    \
                                 const SignalsView<Real>&, SignalsSlice<Real>&);   \
  template void multiply_hop_lookup(const ShellSource&, const ShellFactors<Real>&, \
                                    const SignalsView<Real>&, SignalsSlice<Real>&);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
