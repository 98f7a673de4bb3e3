// cuBLASLt, with the constants of cublasLt.h, which tests compare. The kit declares its functions.
#ifndef DL_CUDA_LIBRARY_BLASLT_API_H_
#define DL_CUDA_LIBRARY_BLASLT_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/blaslt.h"
#include "extensions/companions.h"

namespace dl::cuda::blaslt {

struct Constants {
  // Values of cublasStatus_t, cudaDataType and cublasComputeType_t.
  enum : int { kSuccess = 0 };
  enum : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };
  enum : int { kComputeFloat32 = 68, kComputeFloat64 = 70, kComputeTf32 = 77 };
  // Values of cublasOperation_t and cublasLtEpilogue_t.
  enum : int { kNotTransposed = 0, kTransposed = 1 };
  enum : int { kEpilogueBias = 4 };
  // Attributes.
  enum : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26 };
  enum : int { kBatchCount = 5, kBatchOffset = 6 };
  enum : int {
    kMaxWorkspace = 1,
    kReductionSchemes = 3,
    kAlignmentA = 5,
    kAlignmentB = 6,
    kAlignmentC = 7,
    kAlignmentD = 8
  };
  // A value of cublasLtReductionScheme_t: partial sums are accumulated in the compute type. Other
  // schemes round them to the result's type.
  enum : uint32_t { kReducesInComputeType = 2 };
  static constexpr size_t kAlgorithmBytes = 64;
  static constexpr bool kUsesAlignment = true;
  static constexpr bool kUsesReductionScheme = true;
  // Half precision results are rounded before beta · c is added, and before a bias is added unless
  // rows are aligned to 16 bytes; and again afterwards (on compute capability 9.0).
  static constexpr bool kRoundsBeforeAdding = true;
};

class Library : public kit::Library {
 public:
  Library() : kit::Library(blaslt_companion().names(), "cuBLASLt", blaslt_companion().remedy()) {}

  DL_KIT_BLASLT_MEMBERS(cublasLt, blaslt::Constants)
};

}  // namespace dl::cuda::blaslt

#endif  // DL_CUDA_LIBRARY_BLASLT_API_H_
