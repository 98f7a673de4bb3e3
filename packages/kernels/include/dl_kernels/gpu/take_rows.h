// GPU: copy indexed rows in units of up to 16 bytes, with a few adjacent threads per row, or
// indexed elements, with one thread each.
#ifndef DL_KERNELS_GPU_TAKE_ROWS_H_
#define DL_KERNELS_GPU_TAKE_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

struct alignas(16) Unit16 {
  uint32_t words[4];
};

// A piece of a row, copied by a few adjacent threads.
template <class U>
struct TakePiece {
  static constexpr int kUnits = 2048;
  U* out;
  const U* in;
  const int64_t* index;
  // width: elements of a row; next: stride between the rows of a part
  int64_t count, extent, width, next, rows, pieces;

  DL_DEVICE void operator()(const Lanes& team, int64_t item) const {
    const int64_t row = pieces == 1 ? item : quotient_of(item, pieces);
    const int64_t begin = (item - row * pieces) * kUnits, left = width - begin;
    const int64_t outer = count == rows ? 0 : quotient_of(row, count);
    const int64_t at = index[row - outer * count];
    const U* from = in + (outer * extent + at) * next + begin;
    U* to = out + row * width + begin;
    const int units = left < kUnits ? static_cast<int>(left) : kUnits;
    DL_NO_UNROLL
    for (int unit = team.lane(); unit < units; unit += team.lanes()) {
      if constexpr (sizeof(U) == kVectorBytes) {
        U taken;
        load_words(from + unit, taken.words);
        store_words(to + unit, taken.words);
      } else {
        to[unit] = from[unit];
      }
    }
  }
};

template <class U>
void take_units(const Launch& launch, void* out, const void* in, const int64_t* index, int64_t rows,
                int64_t count, int64_t extent, int64_t bytes, int64_t next) {
  using Piece = TakePiece<U>;
  constexpr int64_t kTurns =
      4;  // units per thread, which share the address computation of the piece
  const int64_t size = static_cast<int64_t>(sizeof(U)), width = bytes / size;
  const int64_t pieces = (width + Piece::kUnits - 1) / Piece::kUnits;
  const int64_t units = width < Piece::kUnits ? width : Piece::kUnits;
  mapped_rows(launch, rows * pieces, (units + kTurns - 1) / kTurns, 0,
              Piece{static_cast<U*>(out), static_cast<const U*>(in), index, count, extent, width,
                    next / size, rows, pieces});
}

}  // namespace gpu

// Return true if each position selects a contiguous row and the rows of `to` are contiguous.
// Operands as in take_each().
inline bool names_rows(const Plan<3>& plan) {
  const auto &in = plan.strides[0], &out = plan.strides[1];
  return plan.ndim == 2 && in[0] == 0 && in[1] == 1 && out[1] == 1 && out[0] == plan.shape[1] &&
         plan.strides[2][0] == 1 && plan.strides[2][1] == 0;
}

// Copy row index[k % count] of part k / count of `in` to row k of `out`; a row has `bytes` bytes. A
// part has `extent` rows with a stride of `next` bytes.
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

namespace gpu {

template <class U>
struct TakeItem {
  const U* from;
  U* to;
  const int64_t* positions;
  Plan<3> plan;
  int64_t scale;

  DL_DEVICE void operator()(int64_t i) const {
    int64_t offsets[3];
    row_offsets(plan, i, offsets);
    to[offsets[1]] = from[offsets[0] + positions[offsets[2]] * scale];
  }
};

}  // namespace gpu

// Copy to every element of `to` the element of `from` at offset `scale` · position. Operands of the
// plan: `from` without its indexed dimensions, `to`, and the positions.
template <class U>
void take_each(const Launch& launch, const Plan<3>& plan, U* to, const U* from,
               const int64_t* positions, int64_t scale) {
  each(launch, plan.numel, 1, gpu::TakeItem<U>{from, to, positions, plan, scale});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TAKE_ROWS_H_
