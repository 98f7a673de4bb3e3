#include "table.h"

namespace sim {

const Opcodes& opcodes() {
  static const Opcodes kTable = [] {
    Opcodes table;
    for (const auto add :
         {add_integer, add_products, add_bits, add_bit_fields, add_floats, add_functions,
          add_comparisons, add_selections, add_conversions, add_moves, add_memory, add_atomics,
          add_warp, add_matrix, add_control, add_async_copies})
      add(table);
    return table;
  }();
  return kTable;
}

}  // namespace sim
