// Operators whose result does not change when they run on some rows of their tensors at a time.
#pragma once

#include <cstddef>

#include "operators.h"

namespace dl::graph {

// The dimensions that an operator needs as a whole.
enum class Rows : uint8_t {
  kNone,         // all of its tensors, for all that is known
  kElementwise,  // nothing: its arguments broadcast to the shape of its results
  kAlong,        // the dimensions from the one that a parameter names; all before can be cut
  kAlongShape,   // as many of the last dimensions as a parameter has entries
};

struct RowRule {
  Rows rows = Rows::kNone;
  bool busy = false;           // it computes longer than its tensors take to come from memory
  const char* parameter = "";  // for kAlong and kAlongShape
  // Between bars: parameters of no row, such as weights, that every block gets whole.
  const char* whole = "";
  // Between bars: results of all rows; the rule is for calls that do not ask for them.
  const char* absent = "";
};

RowRule row_rule(const Operator& called);

}  // namespace dl::graph
