// Reader of the graph in a .dlg file.
#pragma once

#include "model.h"

namespace dl::graph {

// Throws Failure, whose message names the entry, and the call or the value.
Graph read_graph(const SafeTensors& file);

}  // namespace dl::graph
