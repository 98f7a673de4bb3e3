// CPU: planes are processed independently, since windows overlap.
#ifndef DL_KERNELS_CPU_MAX_GRADIENT_H_
#define DL_KERNELS_CPU_MAX_GRADIENT_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/check.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/image/outside_plane.h"
#include "dl_kernels/image/planes.h"

DL_KERNELS_BEGIN

inline diopiError_t check_positions(const Launch& launch, const char* op, const int64_t* positions,
                                    int64_t count, int64_t cells) {
  uint64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t position = static_cast<uint64_t>(positions[i]);
    largest = position > largest ? position : largest;
  }
  return check_items(launch, op, count > 0 ? 1 : 0, detail::OutsidePlane{&largest, cells});
}

template <class T>
void add_maxima(const Launch& launch, const Planes& planes, bool, compute_t<T>* to, const T* grads,
                const int64_t* positions) {
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
                            const int64_t* const taken = positions + o * channels;
                            for (int64_t c = 0; c < channels; ++c) {
                              plane[taken[c] * channels + c] += cast<C>(values[c]);
                            }
                          }
                        }
                      });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_MAX_GRADIENT_H_
