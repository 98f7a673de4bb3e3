// hipBLASLt of ROCm 6 and 7, with the constants of hipblaslt.h and hipblas-common.h. The kit
// declares its functions. ROCm 5 has other dtype constants.
#ifndef DL_ROCM_LIBRARY_HIPBLASLT_API_H_
#define DL_ROCM_LIBRARY_HIPBLASLT_API_H_

#include <cstddef>

#include "dl/kit/blaslt.h"
#include "library/companions.h"

namespace dl::rocm::blaslt {

constexpr int kOldestDriver = 60000000;  // in HIP's version encoding

struct Constants {
  // Values of hipblasStatus_t, hipDataType and hipblasComputeType_t.
  enum : int { kSuccess = 0 };
  enum : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };
  enum : int { kComputeFloat32 = 2, kComputeTf32 = 6, kComputeFloat64 = 7 };
  // Values of hipblasOperation_t and hipblasLtEpilogue_t.
  enum : int { kNotTransposed = 111, kTransposed = 112 };
  enum : int { kEpilogueBias = 4 };
  // Attributes.
  enum : int { kTransposeA = 0, kTransposeB = 1, kEpilogue = 2, kBiasPointer = 3, kBiasType = 4 };
  enum : int { kBatchCount = 0, kBatchOffset = 1 };
  enum : int { kMaxWorkspace = 1 };
  static constexpr size_t kAlgorithmBytes = 24;
  static constexpr bool kUsesAlignment = false;
  static constexpr bool kUsesReductionScheme = false;
  static constexpr bool kRoundsBeforeAdding = false;
};

class Library : public kit::Library {
 public:
  Library() : kit::Library(blaslt_companion().names(), "hipBLASLt", blaslt_companion().remedy()) {}

  DL_KIT_BLASLT_MEMBERS(hipblasLt, blaslt::Constants)
};

}  // namespace dl::rocm::blaslt

#endif  // DL_ROCM_LIBRARY_HIPBLASLT_API_H_
