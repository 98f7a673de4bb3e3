// Dtypes of aclnn: their size, their counterpart in the contract, and reading of scalars.
#pragma once

#include "diopi/types.gen.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

namespace fake_aclnn {

// Reads the value that `memory` points to; false for a dtype that a scalar cannot have.
bool read_scalar(const void* memory, int dtype, aclScalar* scalar);
// Returns the dtype of the contract; diopi_dtype_unsupported if it has none.
diopiDtype_t contract_dtype(int dtype);
// Returns the dtype's name, for messages.
const char* dtype_name(int dtype);

}  // namespace fake_aclnn

#pragma GCC visibility pop
