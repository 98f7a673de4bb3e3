// Reads the graph that a .dlg file contains.
#pragma once

#include "model.h"

namespace dl::graph {

// Throws Failure, which names the entry, and the call or the value.
Graph read_graph(const SafeTensors& file);

}  // namespace dl::graph
