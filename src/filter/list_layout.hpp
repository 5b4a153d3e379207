#pragma once

#include <variant>

#include "filter/paired_lists.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// How shells that are lists are read for signals of several columns, so that what is read of the
/// signals is still in the caches.
struct ListLayout {
  ProductForm form = ProductForm::lists;
  /// For short_lists: all rows, in an order in which rows that follow each other have columns in
  /// common.
  std::vector<NodeId> order;
  /// For paired_lists.
  std::variant<std::monostate, PairedLists<std::uint16_t>, PairedLists<std::uint32_t>> pairs;

  /// Of shells that are lists, in this form; nothing where they are not.
  ListLayout(const Shells& shells, ProductForm form);
};

/// Of the shells, and of those of the transposed graph where these are others.
struct Layouts {
  ListLayout forward;
  std::unique_ptr<const ListLayout> back;

  Layouts(const Shells& shells, ProductForm form);
};

/// The layouts of shells for products in this form, which may be automatic. Throws Error where the
/// form is for other shells.
std::shared_ptr<const Layouts> make_layouts(const Shells& shells, ProductForm form);

/// The form that lists of this number of pairs are laid out in for several columns.
ProductForm layout_form(const ShellPlan& plan, double pairs);

/// Calls body(lists) on shells that are held as lists.
template <typename Body>
void on_lists(const Shells& shells, const Body& body) {
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.block(0); }) body(held);
      },
      shells.held());
}

/// Pairs in shells that are lists, those of nodes with themselves included; 0 in others.
double pairs_held(const Shells& shells);

}  // namespace ngf::filter
