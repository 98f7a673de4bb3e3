// The functions of MIOpen that convolutions call, with the shapes and numbers of miopen.h. They are
// those of its immediate mode: which solutions there are for a convolution is looked up and
// estimated, nothing is tried out on the card.
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

// Of miopenStatus_t.
enum : int { kSuccess = 0, kAllocationFailed = 4, kNotImplemented = 6, kUnsupported = 8 };
// Of miopenDataType_t and miopenConvolutionMode_t.
enum : int { kFloat16 = 0, kFloat32 = 1, kBfloat16 = 5, kFloat64 = 6 };
enum : int { kCrossCorrelation = 0 };
// Of miopenConvolutionAttrib_t and miopenMathType_t. Releases before ROCm 7 know no kinds of
// mathematics, and compute as the strictest one has it.
enum : int { kOtherFloat16 = 0, kDeterministic = 1, kMathematics = 3 };
enum : int { kPedantic = 1 };
// Of miopenConvAlgorithm_t.
enum : int { kByProduct = 0, kDirect = 1, kFft = 2, kWinograd = 3, kImplicitProduct = 5 };

// X(name of the member, symbol, type)
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
  X(tensor, miopenCreateTensorDescriptor, int (*)(miopen::Tensor*))                                \
  X(tensor_drop, miopenDestroyTensorDescriptor, int (*)(miopen::Tensor))                           \
  X(tensor_set, miopenSetTensorDescriptor, int (*)(miopen::Tensor, int, int, int*, int*))          \
  X(describe, miopenCreateConvolutionDescriptor, int (*)(miopen::Description*))                    \
  X(description_drop, miopenDestroyConvolutionDescriptor, int (*)(miopen::Description))            \
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
  Library() : kit::Library(miopen_companion().names(), "MIOpen", miopen_companion().way_out()) {}

#define DL_ROCM_MIOPEN_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ROCM_MIOPEN_FUNCTIONS(DL_ROCM_MIOPEN_MEMBER)
#undef DL_ROCM_MIOPEN_MEMBER
};

// The process's; opened by the first convolution. Null: it is not there, or DL_ROCM_LIBRARIES is
// "off".
Library* library();

}  // namespace dl::rocm::miopen

#endif  // DL_ROCM_LIBRARY_MIOPEN_API_H_
