// Operators whose results are the same if they run on blocks of rows of their tensors.
#pragma once

#include <cstddef>

#include "operators.h"

namespace dl::graph {

// Dimensions that an operator needs as a whole.
enum class Rows : uint8_t {
  kNone,         // all dimensions, because no rule is known
  kElementwise,  // none: its arguments broadcast to the shape of its results
  kAlong,        // dimensions from the one in a parameter on; all dimensions before can be cut
  kAlongShape,   // the last dimensions, as many as a parameter has entries
};

struct RowRule {
  Rows rows = Rows::kNone;
  bool busy = false;           // compute-bound: it takes longer than reading its tensors
  const char* parameter = "";  // for kAlong and kAlongShape
  // Between bars: parameters without rows, such as weights, which every block gets as a whole.
  const char* whole = "";
  // Between bars: results that depend on all rows; the rule applies only if they are absent.
  const char* absent = "";
};

RowRule row_rule(const Operator& called);

}  // namespace dl::graph
