// How each operator is called.
#pragma once

#include "graph/operators.h"
#include "operator_call.h"

namespace dl::graph {

Invoke invoke_of(const Operator& called);

}  // namespace dl::graph
