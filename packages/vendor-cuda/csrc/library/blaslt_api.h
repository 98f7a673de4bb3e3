// The functions of cuBLASLt that products call, with the shapes and numbers of cublasLt.h, which
// tests compare.
#ifndef DL_CUDA_LIBRARY_BLASLT_API_H_
#define DL_CUDA_LIBRARY_BLASLT_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "extensions/companions.h"

namespace dl::cuda::blaslt {

using Handle = struct HandleObject*;
using Description = struct DescriptionObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

// Of cublasStatus_t, cudaDataType and cublasComputeType_t.
enum : int { kSuccess = 0 };
enum : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };
enum : int { kComputeFloat32 = 68, kComputeFloat64 = 70, kComputeTf32 = 77 };
// Of cublasOperation_t and cublasLtEpilogue_t.
enum : int { kAsItIs = 0, kTransposed = 1 };
enum : int { kEpilogueBias = 4 };
// Attributes.
enum : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26 };
enum : int { kBatchCount = 5, kBatchOffset = 6 };
enum : int {
  kMaxWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};

// X(name of the member, symbol, type)
// clang-format off
#define DL_CUDA_BLASLT_FUNCTIONS(X)                                                                \
  X(create, cublasLtCreate, int (*)(blaslt::Handle*))                                              \
  X(destroy, cublasLtDestroy, int (*)(blaslt::Handle))                                             \
  X(describe, cublasLtMatmulDescCreate, int (*)(blaslt::Description*, int, int))                   \
  X(description_drop, cublasLtMatmulDescDestroy, int (*)(blaslt::Description))                     \
  X(description_set, cublasLtMatmulDescSetAttribute,                                               \
    int (*)(blaslt::Description, int, const void*, size_t))                                        \
  X(lay_out, cublasLtMatrixLayoutCreate,                                                           \
    int (*)(blaslt::Layout*, int, uint64_t, uint64_t, int64_t))                                    \
  X(layout_drop, cublasLtMatrixLayoutDestroy, int (*)(blaslt::Layout))                             \
  X(layout_set, cublasLtMatrixLayoutSetAttribute,                                                  \
    int (*)(blaslt::Layout, int, const void*, size_t))                                             \
  X(prefer, cublasLtMatmulPreferenceCreate, int (*)(blaslt::Preference*))                          \
  X(preference_drop, cublasLtMatmulPreferenceDestroy, int (*)(blaslt::Preference))                 \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute,                                          \
    int (*)(blaslt::Preference, int, const void*, size_t))                                         \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                     \
    int (*)(blaslt::Handle, blaslt::Description, blaslt::Layout, blaslt::Layout, blaslt::Layout,   \
            blaslt::Layout, blaslt::Preference, int, blaslt::Heuristic*, int*))                    \
  X(multiply, cublasLtMatmul,                                                                      \
    int (*)(blaslt::Handle, blaslt::Description, const void*, const void*, blaslt::Layout,         \
            const void*, blaslt::Layout, const void*, const void*, blaslt::Layout, void*,          \
            blaslt::Layout, const blaslt::Algorithm*, void*, size_t, void*))
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(blaslt_companion().names(), "cuBLASLt", blaslt_companion().way_out()) {}

#define DL_CUDA_BLASLT_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_CUDA_BLASLT_FUNCTIONS(DL_CUDA_BLASLT_MEMBER)
#undef DL_CUDA_BLASLT_MEMBER
};

}  // namespace dl::cuda::blaslt

#endif  // DL_CUDA_LIBRARY_BLASLT_API_H_
