// Meanings: what the functions of aclnn compute, written with their documented argument names.
//
//   MEANING(Sub) { RUN(diopiSub, out, self, other, alpha); }
//
// Meanings never see operators.yaml: an argument that is swapped there gives a wrong result here.
#pragma once

#include "../../computing/tensors.h"

namespace fake_aclnn {
using namespace fake_computing;
}  // namespace fake_aclnn

#define MEANING(name) void ::fake_aclnn::functions::name::meaning() const
