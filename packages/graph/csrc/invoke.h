// How each operator is called.
#pragma once

#include "dl/operator_call.hpp"
#include "operators.h"

namespace dl::graph {

Invoke invoke_of(const Operator& called);

}  // namespace dl::graph
