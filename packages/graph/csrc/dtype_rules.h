// The dtype rules of the schema.
#pragma once

#include "model.h"

namespace dl::graph {

// Throws Failure if a tensor of the call has a dtype that the operator does not support.
void check_dtypes(const Entry& entry, const Call& call);

}  // namespace dl::graph
