// A libhipblaslt.so.1 for tests: it checks every argument against hipBLASLt's documentation, and
// computes on the host with memory of the driver in DL_ROCM_DRIVER.
//
//   FAKE_HIPBLASLT_FAIL=hipblasLtMatmul:7   functions that fail, with the status
//   FAKE_HIPBLASLT_CALLS=path               log file with one line per call; a product is logged as
//                                           "hipblasLtMatmul 32f 5x3x4 batch 2 NT bias", followed
//                                           by "tf32" and "to 32f" if they apply
//
// Invalid calls abort the process with a message.
#include "library/hipblaslt_api.h"
#include "machine.h"

#pragma GCC visibility push(hidden)

namespace fake {

using Constants = dl::rocm::blaslt::Constants;

constexpr int kInvalidValue = 3, kNotSupported = 7;
const Fake checker("hipBLASLt", "HIPBLASLT");

}  // namespace fake

#pragma GCC visibility pop

#define FAKE_BLASLT(function) hipblasLt##function
#include "libraries/blaslt.h"
