#include "filter/forms.hpp"

#include "base/fail.hpp"
#include "base/names.hpp"
#include "filter/costs.hpp"
#include "kernels/hop_blocks.hpp"

namespace ngf {

std::string_view form_name(ProductForm form) {
  return detail::name_in({"auto", "short-lists", "paired-lists", "lists", "streamed-lists",
                          "hop-sum", "hop-lookup", "hop-half", "hop-blocks", "hop-tiles"},
                         form);
}

namespace filter {

namespace {

/// Whether the instruction set multiplies blocks of 64 rows, for this number of taps.
bool can_use_blocks(const ProductShape& shape) {
  return !shape.two_bytes && shape.single && table_in_registers(shape.taps, true);
}

constexpr std::string_view no_table = "registers here hold no table for this number of taps";

/// A column takes a quarter longer in blocks than in a full panel of tiles, but panels may be
/// padded with columns that nobody wants.
bool blocks_are_faster(std::int64_t columns) {
  constexpr auto panel =
      static_cast<std::int64_t>(kernels::most_product_lines * kernels::columns_in_line<float>);
  const std::int64_t padded = (columns + panel - 1) / panel * panel;
  return costs::block_column_per_tile_column * static_cast<double>(columns) <=
         static_cast<double>(padded);
}

}  // namespace

bool table_in_registers(std::size_t taps, bool single) {
  const kernels::HopBlockKernels* const blocks = kernels::hop_block_kernels();
  if (blocks == nullptr) return false;
  // Registers hold half as many double taps. The last entry is that of pairs farther apart.
  return single ? taps < blocks->table_entries : 2 * taps + 1 < blocks->table_entries;
}

ProductForm choose_form(const ProductShape& shape) {
  if (shape.storage == Storage::stream) return ProductForm::streamed_lists;
  if (shape.storage == Storage::sparse) {
    return shape.columns == 1 ? ProductForm::lists : shape.layout;
  }
  // The last is for tables that registers do not hold.
  for (const ProductForm form :
       {ProductForm::hop_half, ProductForm::hop_lookup, ProductForm::hop_sum}) {
    if (obstacle(shape, form).empty()) return form;
  }
  const bool blocks = shape.columns > 1 && obstacle(shape, ProductForm::hop_blocks).empty() &&
                      blocks_are_faster(shape.columns);
  return blocks ? ProductForm::hop_blocks : ProductForm::hop_tiles;
}

ProductForm form_for(const ProductShape& shape, ProductForm wanted) {
  if (wanted == ProductForm::automatic) return choose_form(shape);
  const std::string why = obstacle(shape, wanted);
  if (!why.empty()) fail("the product form {} does not do here: {}", form_name(wanted), why);
  return wanted;
}

ProductForm correlation_form(const ProductShape& shape, ProductForm wanted) {
  const bool blocks = can_use_blocks(shape) && shape.both_ways && wanted != ProductForm::hop_tiles;
  return blocks ? ProductForm::hop_blocks : ProductForm::hop_tiles;
}

std::string obstacle(const ProductShape& shape, ProductForm form) {
  if (storage_of(form) != shape.storage) {
    return std::string("it is for storage ").append(storage_name(storage_of(form)));
  }
  switch (form) {
    case ProductForm::short_lists:
    case ProductForm::paired_lists:
      if (shape.columns == 1) return "it is for signals of several columns";
      return shape.layout == form ? "" : "the lists are not laid out for it";
    case ProductForm::hop_sum:
    case ProductForm::hop_lookup:
    case ProductForm::hop_half:
      if (shape.columns != 1) return "it is for signals of one column";
      if (shape.two_bytes) return "it is for hops of one byte";
      if (shape.by_column) return "it is for factors that are the same for all columns";
      if (form == ProductForm::hop_sum) {
        if (!shape.one_shell) return "it is for a single shell";
        return kernels::hop_block_kernels() != nullptr ? "" : "this instruction set has none";
      }
      if (!table_in_registers(shape.taps, shape.single)) return std::string(no_table);
      if (form == ProductForm::hop_lookup) return "";
      if (!shape.single) return "it is for signals of type float";
      if (!shape.symmetric) return "it is for undirected graphs with all rows in this process";
      return shape.by_row ? "it is for factors that are the same for all nodes" : "";
    case ProductForm::hop_blocks:
      if (!shape.single) return "it is for signals of type float";
      if (!shape.both_ways) return "it needs the hops of the transposed graph, of all nodes";
      if (shape.by_row) return "it is for factors that are the same for all rows";
      return can_use_blocks(shape) ? "" : std::string(no_table);
    default:
      return "";
  }
}

Storage storage_of(ProductForm form) {
  // Without a default, so that the compiler reports a form that is missing.
  switch (form) {
    case ProductForm::short_lists:
    case ProductForm::paired_lists:
    case ProductForm::lists:
      return Storage::sparse;
    case ProductForm::streamed_lists:
      return Storage::stream;
    case ProductForm::hop_sum:
    case ProductForm::hop_lookup:
    case ProductForm::hop_half:
    case ProductForm::hop_blocks:
    case ProductForm::hop_tiles:
      return Storage::dense;
    case ProductForm::automatic:
      break;
  }
  return Storage::automatic;
}

}  // namespace filter

}  // namespace ngf
