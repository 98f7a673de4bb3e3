// GPU: one thread per output.
#ifndef DL_KERNELS_GPU_MAX_POOL_H_
#define DL_KERNELS_GPU_MAX_POOL_H_

#include <cstdint>

#include "dl_kernels/image/max_pool_row.h"

DL_KERNELS_BEGIN

template <class T>
void max_pool_rows(const Launch& launch, int64_t work, bool, const MaxPoolRow<T>& rows) {
  const Planes& planes = rows.planes;
  mapped_rows(launch, planes.outer * planes.z.output * planes.y.output, planes.x.output,
              work * planes.x.output, rows);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_MAX_POOL_H_
