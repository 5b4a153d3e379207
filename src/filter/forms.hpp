#pragma once

#include <string>

#include "filter/shell_factors.hpp"

/// Which form a product takes: a pure function of what is known of it.
namespace ngf::filter {

/// What a form depends on.
struct ProductShape {
  Storage storage = Storage::stream;
  /// Of lists: short_lists, paired_lists or lists, as they are laid out for several columns.
  ProductForm layout = ProductForm::lists;
  bool two_bytes = false;  ///< hops take two bytes
  bool single = false;     ///< float, not double
  std::int64_t columns = 0;
  std::size_t taps = 0;
  bool one_shell = false;  ///< all taps but one are 0
  bool by_row = false;     ///< factors differ by row, by column
  bool by_column = false;
  bool symmetric = false;  ///< all rows are here, and the hops are those of the transposed graph
  bool both_ways = false;  ///< all rows are here, and those of the transposed graph
};

/// Whether registers hold a table of the weights of all taps, so that many hops are looked up in
/// one instruction.
bool table_in_registers(std::size_t taps, bool single);

ProductForm choose_form(const ProductShape& shape);

/// The form asked for; or where that is automatic, the fastest. Throws Error where the product
/// cannot take the form asked for.
ProductForm form_for(const ProductShape& shape, ProductForm wanted);

/// The form of dots of hops: blocks, where they can be taken and no other form was asked for, or
/// tiles.
ProductForm correlation_form(const ProductShape& shape, ProductForm wanted);

/// Why a product cannot take this form; empty where it can.
std::string obstacle(const ProductShape& shape, ProductForm form);

Storage storage_of(ProductForm form);

}  // namespace ngf::filter
