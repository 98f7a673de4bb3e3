// The dtype rules of the schema.
#pragma once

#include "model.h"

namespace dl::graph {

// Throws Failure: the tensors of the call have dtypes that the operator does not take.
void check_dtypes(const Entry& entry, const Call& call);

}  // namespace dl::graph
