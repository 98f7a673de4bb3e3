// CPU: each channel is written by one thread, in a fixed order, so results are deterministic.
#ifndef DL_KERNELS_CPU_DEFORMABLE_SCATTER_H_
#define DL_KERNELS_CPU_DEFORMABLE_SCATTER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/deformable_samples.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

namespace detail {

// Channels for which a sampling location is computed once.
inline constexpr int64_t kScatteredChannels = 8;

template <class C>
struct DeformableScatterItem {
  C* image;
  const C* columns;
  DeformableSamples<C> samples;
  int64_t first, count, parts;

  DL_FN void operator()(int64_t item) const {
    const DeformableShape& shape = samples.shape;
    const int64_t group = item / parts, depth = shape.deformable_channels();
    const int64_t channel = group * depth + item % parts * kScatteredChannels;
    const int64_t left = (group + 1) * depth - channel;
    const int64_t channels = left < kScatteredChannels ? left : kScatteredChannels;
    const int64_t window = shape.window(), cells = shape.cells();
    for (int64_t tap = 0; tap < window; ++tap) {
      const C* grads = columns + (channel * window + tap) * count;
      for (int64_t i = 0; i < count; ++i) {
        const DeformableSample<C> sample(samples.cells(group, tap, first + i),
                                         samples.share(group, tap, first + i));
        for (int64_t c = 0; c < channels; ++c)
          sample.add(image + (channel + c) * cells, grads[c * window * count + i]);
      }
    }
  }
};

}  // namespace detail

template <class C>
void deformable_scatter(const Launch& launch, const DeformableSamples<C>& samples, const C* columns,
                        int64_t first, int64_t count, C* image) {
  const DeformableShape& shape = samples.shape;
  const int64_t parts =
      (shape.deformable_channels() + detail::kScatteredChannels - 1) / detail::kScatteredChannels;
  each(launch, shape.deformable_groups * parts,
       shape.window() * count * (50 + 10 * detail::kScatteredChannels),
       detail::DeformableScatterItem<C>{image, columns, samples, first, count, parts});
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_DEFORMABLE_SCATTER_H_
