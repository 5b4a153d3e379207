#include "filter/dealt_products.hpp"

#include <array>
#include <memory>
#include <optional>

#include "filter/class_signals.hpp"

namespace ngf {

namespace {

/// Rows of all, each rank's own among them, are gathered in their places.
template <typename Real>
std::unique_ptr<Communicator::Pending> begin_gather(const Partition& partition, Real* all,
                                                    Eigen::Index columns) {
  return partition.communicator().begin_gather(reinterpret_cast<std::byte*>(all),
                                               static_cast<std::size_t>(columns) * sizeof(Real),
                                               partition.begins());
}

}  // namespace

template <typename Real>
SignalsOf<Real> gathered(const Partition& partition, const SignalsView<Real>& own) {
  SignalsOf<Real> all(partition.nodes(), own.cols());
  all.middleRows(partition.own().begin, partition.own().count()) = own;
  begin_gather(partition, all.data(), all.cols())->wait();
  return all;
}

template SignalsOf<float> gathered(const Partition&, const SignalsView<float>&);
template SignalsOf<double> gathered(const Partition&, const SignalsView<double>&);

namespace filter {

namespace {

/// So many columns are gathered while as many are multiplied: a panel of lists, or more.
constexpr Eigen::Index columns_at_a_time = 128;

/// The signals of all nodes, or all classes of twins, some columns after the other.
template <typename Real>
class GatheredColumns {
 public:
  GatheredColumns(const DealtShells& dealt, const SignalsView<Real>& x, int threads)
      : dealt_(dealt), x_(x), threads_(threads) {
    if (count() > 0) begin(0);
  }

  Eigen::Index count() const { return (x_.cols() + columns_at_a_time - 1) / columns_at_a_time; }
  Eigen::Index first(Eigen::Index block) const { return block * columns_at_a_time; }
  Eigen::Index width(Eigen::Index block) const {
    return std::min(columns_at_a_time, x_.cols() - first(block));
  }

  /// Those of a block, which is asked for after the one before it, until the next but one.
  SignalsSlice<Real> take(Eigen::Index block) {
    if (block + 1 < count()) begin(block + 1);
    pending_[static_cast<std::size_t>(block % 2)]->wait();
    return rows_[static_cast<std::size_t>(block % 2)]->signals();
  }

 private:
  void begin(Eigen::Index block) {
    const auto place = static_cast<std::size_t>(block % 2);
    auto& rows = rows_[place].emplace(dealt_.shells.nodes(), width(block));
    SignalsSlice<Real> all = rows.signals();
    const SignalsView<Real> x = x_.middleCols(first(block), width(block));
    const RowRange own = dealt_.shells.own();
    if (dealt_.twins == nullptr) {
      all.middleRows(own.begin, own.count()) = x;
    } else {
      const NumberedRows<const Real> nodes(x, dealt_.nodes.begin);
      for_each_class(own, threads_,
                     [&](NodeId c) { add_up(*dealt_.twins, c, nodes, NumberedRows<Real>(all)); });
    }
    pending_[place] = begin_gather(dealt_.shells, rows.data(), width(block));
  }

  const DealtShells& dealt_;
  const SignalsView<Real>& x_;
  int threads_;
  std::array<std::optional<SignalRows<Real>>, 2> rows_;
  std::array<std::unique_ptr<Communicator::Pending>, 2> pending_;
};

}  // namespace

template <typename Real>
void multiply_dealt(const ShellSource& shells, const DealtShells& dealt,
                    const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                    SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  const Twins* const twins = dealt.twins;
  const ShellFactors<Real> of_shells = twins == nullptr ? factors : of_classes(*twins, factors);
  const RowRange own = dealt.shells.own();
  GatheredColumns<Real> columns(dealt, x, threads);
  for (Eigen::Index block = 0; block < columns.count(); ++block) {
    const SignalsSlice<Real> all = columns.take(block);
    SignalsSlice<Real> to = y.middleCols(columns.first(block), columns.width(block));
    if (twins == nullptr) {
      multiply_to<Real>(shells, of_shells, all, to);
      continue;
    }
    SignalRows<Real> of_classes_y(own.count(), all.cols());
    SignalsSlice<Real> products = of_classes_y.signals();
    multiply_to<Real>(shells, of_shells, all, products);
    const SignalsView<Real> x_block = x.middleCols(columns.first(block), columns.width(block));
    const NumberedRows<const Real> rows(x_block, dealt.nodes.begin);
    for_each_class(own, threads, [&](NodeId c) {
      spread(*twins, c, factors, rows, NumberedRows<const Real>(all),
             NumberedRows<Real>(products, own.begin), NumberedRows<Real>(to, dealt.nodes.begin));
    });
  }
}

template <typename Real>
Matrix correlate_dealt(const ShellSource& shells, const DealtShells& dealt,
                       const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                       const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                       SignalsSlice<Real>* product) {
  const int threads = shells.options.threads;
  const Twins* const twins = dealt.twins;
  const RowRange own = dealt.shells.own();
  const auto merged = [&](const ShellFactors<Real>& of_nodes) {
    return twins == nullptr ? of_nodes : of_classes(*twins, of_nodes);
  };
  const ShellFactors<Real> of_shells = merged(factors);
  const ShellFactors<Real> product_of_shells = merged(product != nullptr ? *of_product : factors);
  Matrix dots = Matrix::Zero(own.count(), static_cast<Eigen::Index>(factors.scale.size()));
  GatheredColumns<Real> columns(dealt, x, threads);
  for (Eigen::Index block = 0; block < columns.count(); ++block) {
    const SignalsSlice<Real> all = columns.take(block);
    const Eigen::Index first = columns.first(block);
    const Eigen::Index width = columns.width(block);
    const SignalsView<Real> g_block = g.middleCols(first, width);
    std::optional<SignalsSlice<Real>> to;
    if (product != nullptr) to.emplace(product->middleCols(first, width));
    if (twins == nullptr) {
      dots += correlate<Real>(shells, of_shells, all, g_block, &product_of_shells,
                              to ? &*to : nullptr, false);
      continue;
    }
    const SignalsView<Real> x_block = x.middleCols(first, width);
    const NumberedRows<const Real> rows(x_block, dealt.nodes.begin);
    const NumberedRows<const Real> rows_of_g(g_block, dealt.nodes.begin);
    SignalRows<Real> of_classes_g(own.count(), width);
    SignalsSlice<Real> sums_of_g = of_classes_g.signals();
    for_each_class(own, threads, [&](NodeId c) {
      add_up(*twins, c, rows_of_g, NumberedRows<Real>(sums_of_g, own.begin));
    });
    SignalRows<Real> of_classes_y(own.count(), to ? width : 0);
    SignalsSlice<Real> products = of_classes_y.signals();
    Matrix of_block = correlate<Real>(shells, of_shells, all, sums_of_g, &product_of_shells,
                                      to ? &products : nullptr, false);
    for_each_class(own, threads, [&](NodeId c) {
      add_own(*twins, c, factors, rows, rows_of_g, NumberedRows<const Real>(all),
              NumberedRows<const Real>(sums_of_g, own.begin),
              of_block.data() + (c - own.begin) * of_block.cols());
      if (!to) return;
      spread(*twins, c, *of_product, rows, NumberedRows<const Real>(all),
             NumberedRows<Real>(products, own.begin), NumberedRows<Real>(*to, dealt.nodes.begin));
    });
    dots += of_block;
  }
  return dots;
}

#define NGF_INSTANTIATE(Real)                                                                      \
  template void multiply_dealt(const ShellSource&, const DealtShells&, const ShellFactors<Real>&,  \
                               const SignalsView<Real>&, SignalsSlice<Real>);                      \
  template Matrix correlate_dealt(                                                                 \
      const ShellSource&, const DealtShells&, const ShellFactors<Real>&, const SignalsView<Real>&, \
      const SignalsView<Real>&, const ShellFactors<Real>*, SignalsSlice<Real>*);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace filter

}  // namespace ngf
