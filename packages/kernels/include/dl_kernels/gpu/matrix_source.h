// Matrices as operands and result of a product of gpu/product_launch.h. An operand has a side,
// which is one of the result, and a depth, along which it is summed. It is read in chunks of
// adjacent elements along the dimension with the smaller stride.
#ifndef DL_KERNELS_GPU_MATRIX_SOURCE_H_
#define DL_KERNELS_GPU_MATRIX_SOURCE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace gpu {

// Elements that a thread loads at once: 16 bytes if they need no conversion.
#if defined(DL_KERNELS_TENSOR_CORES)
inline constexpr int kHalvesOfChunk = 8;
#else
inline constexpr int kHalvesOfChunk = 4;
#endif
template <class T>
inline constexpr int kChunk = kIsHalf<T>       ? kHalvesOfChunk
                              : sizeof(T) == 8 ? 2
                                               : 4;

template <class T>
struct alignas(kChunk<T> * sizeof(T)) Chunk {
  T at[kChunk<T>];
};

template <class T>
struct MatrixSource {
  static constexpr int kBlocks = 2;  // blocks per multiprocessor, limited by registers
  const T* data;
  int64_t step, side_step, depth_step, side, depth;
  bool along_depth;
  bool whole;  // complete chunks are aligned and contiguous

  // The rows of `matrix` run along the depth.
  MatrixSource(Matrix<const T> matrix, int64_t between, int64_t sides, int64_t depths)
      : data(matrix.data),
        step(between),
        side_step(matrix.row),
        depth_step(matrix.column),
        side(sides),
        depth(depths),
        along_depth(magnitude(matrix.column) <= magnitude(matrix.row) || sides == 1) {
    if (depths == 1 && side_step == 1) along_depth = false;
    const int64_t near = along_depth ? depth_step : side_step;
    const int64_t far = along_depth ? side_step : depth_step;
    whole = near == 1 && far % kChunk<T> == 0 && step % kChunk<T> == 0 &&
            reinterpret_cast<uintptr_t>(data) % sizeof(Chunk<T>) == 0;
  }

  // Start of a thread's chunks.
  struct Origin {
    const T* first;  // on the side, at depth 0
    int sides;       // number of sides in a chunk
  };
  DL_DEVICE Origin origin(int64_t matrix, int64_t s) const {
    return {data + matrix * step + s * side_step, of_chunk(side - s)};
  }

  // Return a chunk's first element and its number of elements, which are contiguous. Requires
  // `whole`.
  DL_DEVICE const T* chunk(const Origin& from, int64_t d, int64_t end, int* count) const {
    *count = count_of(from, d, end);
    return *count == 0 ? data : from.first + d * depth_step;
  }

  // Load any chunk, with zeros for missing elements.
  DL_DEVICE void gather(const Origin& from, int64_t d, int64_t end, Chunk<T>& to) const {
    const int count = count_of(from, d, end);
    int64_t next = along_depth ? depth_step : side_step;
#if defined(DL_KERNELS_TENSOR_CORES)
    next = opaque_value(next);
#endif
    const T* const first = from.first + d * depth_step;
    DL_UNROLL
    for (int i = 0; i < kChunk<T>; ++i) {
      if (i < count) {
        to.at[i] = first[i * next];
      } else {
        to.at[i] = bit_cast<T>(bits_t<T>(0));
      }
    }
  }

 private:
  DL_DEVICE static int of_chunk(int64_t left) {
    return left < 0 ? 0 : left < kChunk<T> ? static_cast<int>(left) : kChunk<T>;
  }
  DL_DEVICE int count_of(const Origin& from, int64_t d, int64_t end) const {
    if (!along_depth) return d < end ? from.sides : 0;
    return from.sides > 0 ? of_chunk(end - d) : 0;
  }
  static int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }
};

// c = alpha · sum + beta · c + bias, with c of type O or of the compute type.
template <class O, class C>
struct MatrixSink {
  O* data;
  int64_t step, row, column;
  C alpha, beta;
  const O* bias;  // one element per column, or null

  // Sums may be of another type, which wraps. Adjacent results are stored with one access.
  template <class S, int kCount>
  DL_FN void put(int64_t matrix, int64_t i, int64_t j, const S (&sums)[kCount], int count) const {
    struct alignas(kCount * sizeof(O)) Packed {
      O at[kCount];
    };
    O* const to = data + matrix * step + i * row + j * column;
    const bool packed =
        count == kCount && column == 1 && reinterpret_cast<uintptr_t>(to) % sizeof(Packed) == 0;
    Packed all;
    if (beta != C(0)) {
      if (packed) {
        all = *reinterpret_cast<const Packed*>(to);
      } else {
        DL_UNROLL
        for (int e = 0; e < kCount; ++e) {
          if (e < count) all.at[e] = to[e * column];
        }
      }
    }
    DL_UNROLL
    for (int e = 0; e < kCount; ++e) {
      C value = wrap_mul(alpha, static_cast<C>(sums[e]));
      if (beta != C(0)) value = wrap_add(value, wrap_mul(beta, cast<C>(all.at[e])));
      if (bias != nullptr && e < count) value = wrap_add(value, cast<C>(bias[j + e]));
      all.at[e] = cast<O>(value);
    }
    if (packed) {
      *reinterpret_cast<Packed*>(to) = all;
      return;
    }
    DL_UNROLL
    for (int e = 0; e < kCount; ++e) {
      if (e < count) to[e * column] = all.at[e];
    }
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_MATRIX_SOURCE_H_
