// GPU: one thread per element of the columns. Updates of the same cell are atomic and unordered.
#ifndef DL_KERNELS_GPU_DEFORMABLE_SCATTER_H_
#define DL_KERNELS_GPU_DEFORMABLE_SCATTER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/deformable_samples.h"
#include "dl_kernels/gpu/atomic.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class C>
struct DeformableScatterItem {
  C* image;
  const C* columns;
  DeformableSamples<C> samples;
  int64_t first, count;

  DL_DEVICE void operator()(int64_t i) const {
    const DeformableShape& shape = samples.shape;
    const int64_t position = first + i % count, line = i / count;
    const int64_t tap = line % shape.window(), channel = line / shape.window();
    const int64_t group = channel / shape.deformable_channels();
    const DeformableSample<C> sample(samples.cells(group, tap, position),
                                     samples.share(group, tap, position));
    C* const plane = image + channel * shape.cells();
    for (int k = 0; k < 4; ++k) {
      if (sample.at[k] >= 0) atomic_add(plane + sample.at[k], sample.weight[k] * columns[i]);
    }
  }
};

}  // namespace gpu

template <class C>
void deformable_scatter(const Launch& launch, const DeformableSamples<C>& samples, const C* columns,
                        int64_t first, int64_t count, C* image) {
  each(launch, samples.shape.lines() * count, 1,
       gpu::DeformableScatterItem<C>{image, columns, samples, first, count});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_DEFORMABLE_SCATTER_H_
