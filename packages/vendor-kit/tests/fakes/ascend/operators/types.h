/* Types and numbers of the aclnn interface, as its documents state them. */
#ifndef DL_FAKES_ASCEND_TYPES_H_
#define DL_FAKES_ASCEND_TYPES_H_

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

struct aclTensor;
struct aclScalar;
struct aclIntArray;
struct aclFloatArray;
struct aclBoolArray;
struct aclTensorList;
struct aclOpExecutor;

#pragma GCC visibility pop

using aclrtStream = void*;
using aclDataType = int;
using aclFormat = int;
using aclnnStatus = int;

#define DL_FAKE_ACLNN_API extern "C" __attribute__((visibility("default")))

namespace fake_aclnn {

// Error codes of aclnn.
constexpr int kOk = 0;
constexpr int kNullArgument = 161001;
constexpr int kInvalidArgument = 161002;  // the library refuses the arguments; nothing was enqueued
constexpr int kRuntimeError = 361001;     // misuse, which a device would answer with wrong results
constexpr int kNoKernel = 561003;

// aclFormat
constexpr int kFormatNchw = 0, kFormatNhwc = 1, kFormatNd = 2, kFormatNdhwc = 27, kFormatNcdhw = 30,
              kFormatNcl = 47;

}  // namespace fake_aclnn

#endif  // DL_FAKES_ASCEND_TYPES_H_
