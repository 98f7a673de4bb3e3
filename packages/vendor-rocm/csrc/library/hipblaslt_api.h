// hipBLASLt of ROCm 6 and 7, with the numbers of hipblaslt.h and hipblas-common.h. Its functions
// are the kit's. ROCm 5 has other numbers for dtypes.
#ifndef DL_ROCM_LIBRARY_HIPBLASLT_API_H_
#define DL_ROCM_LIBRARY_HIPBLASLT_API_H_

#include <cstddef>

#include "dl/kit/blaslt.h"
#include "library/companions.h"

namespace dl::rocm::blaslt {

constexpr int kOldestDriver = 60000000;  // as HIP numbers it

struct Numbers {
  // Of hipblasStatus_t, hipDataType and hipblasComputeType_t.
  enum : int { kSuccess = 0 };
  enum : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };
  enum : int { kComputeFloat32 = 2, kComputeTf32 = 6, kComputeFloat64 = 7 };
  // Of hipblasOperation_t and hipblasLtEpilogue_t.
  enum : int { kAsItIs = 111, kTransposed = 112 };
  enum : int { kEpilogueBias = 4 };
  // Attributes.
  enum : int { kTransposeA = 0, kTransposeB = 1, kEpilogue = 2, kBiasPointer = 3, kBiasType = 4 };
  enum : int { kBatchCount = 0, kBatchOffset = 1 };
  enum : int { kMaxWorkspace = 1 };
  static constexpr size_t kAlgorithmBytes = 24;
  static constexpr bool kAsksForAlignment = false;
  static constexpr bool kAsksForReduction = false;
  static constexpr bool kRoundsBeforeAdding = false;
};

class Library : public kit::Library {
 public:
  Library() : kit::Library(blaslt_companion().names(), "hipBLASLt", blaslt_companion().way_out()) {}

  DL_KIT_BLASLT_MEMBERS(hipblasLt, blaslt::Numbers)
};

}  // namespace dl::rocm::blaslt

#endif  // DL_ROCM_LIBRARY_HIPBLASLT_API_H_
