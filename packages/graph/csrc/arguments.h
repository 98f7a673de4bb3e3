// The arguments of a call as a file has them.
#pragma once

#include "fields.h"
#include "model.h"

namespace dl::graph {

// Throws Failure, which names the call and the parameter.
Call read_call(const Json& json, const Graph& graph, const Entry& entry);

// A number as Python's float.hex() writes it. Throws Failure.
double read_hex(const std::string& text);

}  // namespace dl::graph
