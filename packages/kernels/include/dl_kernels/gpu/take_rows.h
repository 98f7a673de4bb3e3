// GPU: rows that an index names are copied in units of up to 16 bytes, each by a thread of its own.
#ifndef DL_KERNELS_GPU_TAKE_ROWS_H_
#define DL_KERNELS_GPU_TAKE_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

struct alignas(16) Unit16 {
  uint32_t words[4];
};

template <class U>
struct TakeUnit {
  U* out;
  const U* in;
  const int64_t* index;
  // width: of a row; next: from one row of a part to the other
  int64_t count, extent, width, next, rows;

  DL_DEVICE void operator()(int64_t i) const {
    const int64_t row = quotient_of(i, width), unit = i - row * width;
    const int64_t outer = count == rows ? 0 : quotient_of(row, count);
    const int64_t at = index[row - outer * count];
    const U* from = in + (outer * extent + at) * next + unit;
    if constexpr (sizeof(U) == kVectorBytes) {
      U taken;
      load_words(from, taken.words);
      store_words(out + i, taken.words);
    } else {
      out[i] = *from;
    }
  }
};

template <class U>
void take_units(const Launch& launch, void* out, const void* in, const int64_t* index, int64_t rows,
                int64_t count, int64_t extent, int64_t bytes, int64_t next) {
  const int64_t size = static_cast<int64_t>(sizeof(U));
  each(launch, rows * (bytes / size), 1,
       TakeUnit<U>{static_cast<U*>(out), static_cast<const U*>(in), index, count, extent,
                   bytes / size, next / size, rows});
}

}  // namespace gpu

// Row k of `out`, of `bytes` bytes, becomes row index[k % count] of part k / count of `in`. A part
// has `extent` rows, `next` bytes from each other.
inline void take_rows(const Launch& launch, void* out, const void* in, const int64_t* index,
                      int64_t rows, int64_t count, int64_t extent, int64_t bytes, int64_t next) {
  if (rows == 0 || bytes == 0) return;
  const auto all = reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in) |
                   static_cast<uintptr_t>(bytes) | static_cast<uintptr_t>(next);
  const auto run = all % 16 == 0  ? gpu::take_units<gpu::Unit16>
                   : all % 4 == 0 ? gpu::take_units<uint32_t>
                   : all % 2 == 0 ? gpu::take_units<uint16_t>
                                  : gpu::take_units<uint8_t>;
  run(launch, out, in, index, rows, count, extent, bytes, next);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TAKE_ROWS_H_
