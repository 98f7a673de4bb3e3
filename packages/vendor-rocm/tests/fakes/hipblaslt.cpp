// A libhipblaslt.so.1 for tests: it judges every argument as hipBLASLt's documentation has it, and
// computes on the host with memory that the driver of DL_ROCM_DRIVER holds.
//
//   FAKE_HIPBLASLT_FAIL=hipblasLtMatmul:7   functions that fail, and how
//   FAKE_HIPBLASLT_CALLS=path               a file that gets a line for every call; of a product:
//                                           "hipblasLtMatmul 32f 5x3x4 batch 2 NT bias"; further
//                                           words say "tf32" and "to 32f"
//
// What must not be said to hipBLASLt ends the process with a message.
#include "library/hipblaslt_api.h"
#include "machine.h"

#pragma GCC visibility push(hidden)

namespace fake {

using Numbers = dl::rocm::blaslt::Numbers;

constexpr int kInvalidValue = 3, kNotSupported = 7;
const Fake judge("hipBLASLt", "HIPBLASLT");

}  // namespace fake

#pragma GCC visibility pop

#define FAKE_BLASLT(function) hipblasLt##function
#include "fake_libraries/blaslt.h"
