// Reader of a call and its arguments in a graph file.
#pragma once

#include "fields.h"
#include "model.h"

namespace dl::graph {

// Throws Failure, which names the call and the parameter.
Call read_call(const Json& json, const Graph& graph, const Entry& entry);

// Parses a number in the format of Python's float.hex(). Throws Failure.
double read_hex(const std::string& text);

}  // namespace dl::graph
