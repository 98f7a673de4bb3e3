// Functions that call each operator with an array of argument values.
#pragma once

#include "dl/operator_call.hpp"
#include "operators.h"

namespace dl::graph {

Invoke invoke_of(const Operator& called);

}  // namespace dl::graph
