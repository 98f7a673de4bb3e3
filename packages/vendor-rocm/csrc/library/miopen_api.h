// The functions of MIOpen that convolutions call, with the signatures and constants of miopen.h.
// They belong to its immediate mode, which looks up the solutions of a convolution and estimates
// their time without running them on the device.
#ifndef DL_ROCM_LIBRARY_MIOPEN_API_H_
#define DL_ROCM_LIBRARY_MIOPEN_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "library/companions.h"

namespace dl::rocm::miopen {

using Handle = struct HandleObject*;
using Tensor = struct TensorObject*;
using Description = struct DescriptionObject*;

struct Solution {
  float milliseconds;
  size_t workspace;
  uint64_t id;
  int algorithm;
};

// Values of miopenStatus_t.
enum : int { kSuccess = 0, kAllocationFailed = 4, kNotImplemented = 6, kUnsupported = 8 };
// Values of miopenDataType_t and miopenConvolutionMode_t.
enum : int { kFloat16 = 0, kFloat32 = 1, kBfloat16 = 5, kFloat64 = 6 };
enum : int { kCrossCorrelation = 0 };
// Values of miopenConvolutionAttrib_t and miopenMathType_t. Releases before ROCm 7 have no math
// modes and compute as in the strictest one.
enum : int { kFp16Alternative = 0, kDeterministic = 1, kMathMode = 3 };
enum : int { kPedantic = 1 };
// Values of miopenConvAlgorithm_t.
enum : int { kGemm = 0, kDirect = 1, kFft = 2, kWinograd = 3, kImplicitGemm = 5 };

// X(member name, symbol, type)
// clang-format off
#define DL_ROCM_MIOPEN_DIRECTION(X, member, prefix)                                                \
  X(member##_count, prefix##GetSolutionCount,                                                      \
    int (*)(miopen::Handle, miopen::Tensor, miopen::Tensor, miopen::Description, miopen::Tensor,   \
            size_t*))                                                                              \
  X(member##_solutions, prefix##GetSolution,                                                       \
    int (*)(miopen::Handle, miopen::Tensor, miopen::Tensor, miopen::Description, miopen::Tensor,   \
            size_t, size_t*, miopen::Solution*))                                                   \
  X(member##_compile, prefix##CompileSolution,                                                     \
    int (*)(miopen::Handle, miopen::Tensor, miopen::Tensor, miopen::Description, miopen::Tensor,   \
            uint64_t))                                                                             \
  X(member##_run, prefix##Immediate,                                                               \
    int (*)(miopen::Handle, miopen::Tensor, const void*, miopen::Tensor, const void*,              \
            miopen::Description, miopen::Tensor, void*, void*, size_t, uint64_t))
#define DL_ROCM_MIOPEN_FUNCTIONS(X)                                                                \
  X(error_string, miopenGetErrorString, const char* (*)(int))                                      \
  X(create, miopenCreate, int (*)(miopen::Handle*))                                                \
  X(set_stream, miopenSetStream, int (*)(miopen::Handle, void*))                                   \
  X(tensor_create, miopenCreateTensorDescriptor, int (*)(miopen::Tensor*))                                \
  X(tensor_destroy, miopenDestroyTensorDescriptor, int (*)(miopen::Tensor))                           \
  X(tensor_set, miopenSetTensorDescriptor, int (*)(miopen::Tensor, int, int, int*, int*))          \
  X(description_create, miopenCreateConvolutionDescriptor, int (*)(miopen::Description*))                    \
  X(description_destroy, miopenDestroyConvolutionDescriptor, int (*)(miopen::Description))            \
  X(description_set, miopenInitConvolutionNdDescriptor,                                            \
    int (*)(miopen::Description, int, int*, int*, int*, int))                                      \
  X(set_groups, miopenSetConvolutionGroupCount, int (*)(miopen::Description, int))                 \
  X(set_attribute, miopenSetConvolutionAttribute, int (*)(miopen::Description, int, int))          \
  DL_ROCM_MIOPEN_DIRECTION(X, forward, miopenConvolutionForward)                                   \
  DL_ROCM_MIOPEN_DIRECTION(X, input_gradient, miopenConvolutionBackwardData)                       \
  DL_ROCM_MIOPEN_DIRECTION(X, weight_gradient, miopenConvolutionBackwardWeights)
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(miopen_companion().names(), "MIOpen", miopen_companion().remedy()) {}

#define DL_ROCM_MIOPEN_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ROCM_MIOPEN_FUNCTIONS(DL_ROCM_MIOPEN_MEMBER)
#undef DL_ROCM_MIOPEN_MEMBER
};

// Returns the process's library, opened by the first convolution. Null if MIOpen is missing or
// DL_ROCM_LIBRARIES is "off".
Library* library();

}  // namespace dl::rocm::miopen

#endif  // DL_ROCM_LIBRARY_MIOPEN_API_H_
