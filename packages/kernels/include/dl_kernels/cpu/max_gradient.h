// CPU: one plane after another, since windows overlap.
#ifndef DL_KERNELS_CPU_MAX_GRADIENT_H_
#define DL_KERNELS_CPU_MAX_GRADIENT_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/image/planes.h"

DL_KERNELS_BEGIN

inline bool place_outside(const Launch&, const int64_t* places, int64_t count, int64_t cells,
                          uint64_t* outside) {
  uint64_t largest = 0;  // a negative one is large, too
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t place = static_cast<uint64_t>(places[i]);
    largest = place > largest ? place : largest;
  }
  *outside = largest;
  return count > 0 && largest >= static_cast<uint64_t>(cells);
}

template <class T>
void add_maxima(const Launch& launch, const Planes& planes, bool, compute_t<T>* to, const T* grads,
                const int64_t* places) {
  using C = compute_t<T>;
  const int64_t cells = planes.input_cells(), outputs = planes.output_cells();
  const int64_t channels = planes.inner;
  launch.parallel_for(planes.outer, grain_for((outputs + cells) * channels),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t p = begin; p < end; ++p) {
                          C* const plane = to + p * cells * channels;
                          std::memset(plane, 0, static_cast<size_t>(cells * channels) * sizeof(C));
                          for (int64_t o = p * outputs; o < (p + 1) * outputs; ++o) {
                            const T* const values = grads + o * channels;
                            const int64_t* const taken = places + o * channels;
                            for (int64_t c = 0; c < channels; ++c) {
                              plane[taken[c] * channels + c] += cast<C>(values[c]);
                            }
                          }
                        }
                      });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_MAX_GRADIENT_H_
