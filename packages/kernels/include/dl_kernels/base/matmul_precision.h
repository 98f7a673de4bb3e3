// Precision of float32 matrix products, a setting of the user that the host passes on.
#ifndef DL_KERNELS_BASE_MATMUL_PRECISION_H_
#define DL_KERNELS_BASE_MATMUL_PRECISION_H_

#include "dl/host.h"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

enum class MatmulPrecision {
  kFloat32,
  kTf32,  // factors may be rounded to TF32, with 11 significant bits
};

// Return the current setting. The host may be null, or too old to have the setting.
inline MatmulPrecision matmul_precision(const dl_host_t* host) {
  if (!DL_HAS_FIELD(host, dl_host_t, float32_matmul_precision) ||
      host->float32_matmul_precision == nullptr)
    return MatmulPrecision::kFloat32;
  return host->float32_matmul_precision(host) == DL_MATMUL_TF32 ? MatmulPrecision::kTf32
                                                                : MatmulPrecision::kFloat32;
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_MATMUL_PRECISION_H_
