// Code shared by attention kernels on tensor cores: rows of queries, keys or values in shared
// memory, and the range of keys visible to a warp's queries.
#ifndef DL_KERNELS_GPU_ATTENTION_ROWS_H_
#define DL_KERNELS_GPU_ATTENTION_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/matrix_source.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr float kLogOfE = 1.44269504088896340736f;  // log2(e)
inline constexpr float kLogOf2 = 0.69314718055994530942f;  // ln(2)

// Flags of tensors whose rows consist of aligned chunks; `out` is the result.
struct AttentionAlignment {
  bool q, k, v, grad_out, out;
};

template <class T>
bool is_whole(const Strided4<T>& tensor) {
  constexpr int64_t kElements = 16 / sizeof(T);
  return tensor.column == 1 && tensor.row % kElements == 0 && tensor.head % kElements == 0 &&
         tensor.batch % kElements == 0 && reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0;
}

inline constexpr int64_t kMostOnTensorCores = 1 << 30;  // upper bound of blocks, queries and keys

inline int64_t widest_row(const AttentionShape& shape) {
  return shape.width > shape.value_width ? shape.width : shape.value_width;
}

// Return true if a kernel supports these operands. Tensor cores before compute capability 8.0
// support only Half; the kernels for floats require aligned chunks.
template <class T, class... P>
bool suits(const AttentionShape& shape, const AttentionAlignment& whole, void (*kernel)(P...)) {
  if (widest_row(shape) > 128 || shape.queries > kMostOnTensorCores ||
      shape.keys > kMostOnTensorCores)
    return false;
  if constexpr (std::is_same_v<T, float>) {
    if (!whole.q || !whole.k || !whole.v || !whole.grad_out || !whole.out || shape.width % 8 != 0 ||
        shape.value_width % 8 != 0)
      return false;
  }
  return std::is_same_v<T, Half> || compiled_architecture(kernel) >= 80;
}

// A left operand is split into this many half-precision parts whose sum is nearly the float32
// value. With a single part, weights would be too inaccurate for results that are small because of
// cancellation.
inline constexpr int kParts = 2;

template <class T>
DL_DEVICE void split_pair(uint32_t (&to)[kParts][4], int at, float first, float second) {
  DL_UNROLL
  for (int p = 0; p < kParts; ++p) {
    to[p][at] = pair_of<T>(first, second);
    first -= first_of<T>(to[p][at]);
    second -= second_of<T>(to[p][at]);
  }
}

// Rows of up to kWidth elements in shared memory, zero-padded, and the warp operations on them. The
// chunks of a row are permuted (swizzled), so that accesses to the same chunk of eight rows cause
// no bank conflicts. The memory is aligned to kRowAlignment. This template is for half precision;
// gpu/attention_float_rows.h has float32.
inline constexpr int kRowAlignment = 128;

template <class T, int kWidth>
class AttentionRows {
  static constexpr int kLine = kWidth / 8;

 public:
  static constexpr bool kAvailable = kAsyncCopies || std::is_same_v<T, Half>;
  static constexpr int kPitch = kLine;        // stride between rows, in chunks
  static constexpr int kSteps = kWidth / 16;  // left operands that make up the 16 rows of a warp
  static constexpr int kKeys =
      64;  // keys of a tile for which a warp holds the scores and 16 results
  static constexpr bool kKeepsPairs =
      true;  // a warp has enough registers for 16 rows of two tensors

  DL_DEVICE explicit AttentionRows(int lane)
      : across_(chunk_offset(lane / 16 * 8 + lane % 8, lane / 8 % 2)),
        transposed_(chunk_offset(lane % 16, lane / 16)) {}

  // Load kRows rows beginning with `from`, of which `rows` exist.
  template <int kRows>
  DL_DEVICE static void load(Chunk<T>* to, const T* from, int64_t row_step, int64_t column_step,
                             int rows, int width, bool whole) {
    const int thread = opaque_value(thread_index());
    column_step = opaque_value(column_step);
    row_step = opaque_value(row_step);
    DL_UNROLL
    for (int i = 0; i < kRows * kLine / kThreads; ++i) {
      const int c = thread + i * kThreads, row = c / kLine, chunk = c % kLine;
      const int left = row < rows ? width - 8 * chunk : 0;
      const int count = left < 0 ? 0 : left < 8 ? left : 8;
      Chunk<T>& target = to[number(row, chunk)];
      if (kAsyncCopies && whole) {
        copy_async(shared_address(&target), count == 0 ? from : from + row * row_step + 8 * chunk,
                   2 * count);
        continue;
      }
      const T* const at = from + row * row_step + 8 * chunk * column_step;
      Chunk<T> made;
      DL_UNROLL
      for (int e = 0; e < 8; ++e) {
        made.at[e] = bit_cast<T>(uint16_t(0));
        if (e < count) made.at[e] = at[e * column_step];
      }
      target = made;
    }
  }

  // Load each warp's 16 rows of a block, of which `rows` exist, as left operands in registers. They
  // pass through shared memory with room for all rows of the block.
  DL_DEVICE static void keep(uint32_t (&to)[kSteps][4], Chunk<T>* shared, const T* from,
                             int64_t row_step, int64_t column_step, int rows, int width,
                             bool whole) {
    const int lane = thread_index() % 32, first = thread_index() / 32 * 16;
    load<16 * kThreads / 32>(shared, from, row_step, column_step, rows, width, whole);
    commit_copies();
    wait_for_copies<0>();
    barrier();
    const uint32_t at = shared_address(shared) + chunk_offset(first + lane % 16, lane / 16);
    DL_UNROLL
    for (int step = 0; step < kSteps; ++step)
      load_matrices<false>(to[step], advanced(at, 2 * step));
    barrier();
  }

  // sums += left · rowsᵀ; column j of the sums corresponds to row j.
  template <int kTiles>
  DL_DEVICE void multiply(float (&sums)[kTiles][4], const uint32_t (&left)[kSteps][4],
                          uint32_t rows, int width) const {
    const uint32_t at = rows + across_;
    DL_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      if (step % 2 == 0 && 16 * step >= width) break;
      DL_UNROLL
      for (int c = 0; c < kTiles / 2; ++c) {
        uint32_t right[4];
        load_matrices<false>(right, advanced(at, 2 * step) + 16 * c * kPitch * 16);
        multiply_add<T>(sums[2 * c], left[step], right[0], right[1]);
        multiply_add<T>(sums[2 * c + 1], left[step], right[2], right[3]);
      }
    }
  }

  // sums += weights · rows, with 8 · kTiles rows; columns from `width` on may be skipped.
  template <int kTiles>
  DL_DEVICE void multiply_transposed(float (&sums)[kWidth / 8][4],
                                     const float (&weights)[kTiles][4], uint32_t rows,
                                     int width) const {
    const uint32_t at = rows + transposed_;
    DL_UNROLL
    for (int step = 0; step < kTiles / 2; ++step) {
      uint32_t left[kParts][4];
      DL_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float (&tile)[4] = weights[2 * step + i / 2];
        split_pair<T>(left, i, tile[i % 2 * 2], tile[i % 2 * 2 + 1]);
      }
      DL_UNROLL
      for (int c = 0; c < kWidth / 16; ++c) {
        if (c % 2 == 0 && 16 * c >= width) break;
        uint32_t right[4];
        load_matrices<true>(right, advanced(at, 2 * c) + 16 * step * kPitch * 16);
        DL_UNROLL
        for (int p = 0; p < kParts; ++p) {
          multiply_add<T>(sums[2 * c], left[p], right[0], right[1]);
          multiply_add<T>(sums[2 * c + 1], left[p], right[2], right[3]);
        }
      }
    }
  }

  // Store 16 rows of a warp, of which `rows` exist, through shared memory with room for the
  // rows of all warps.
  DL_DEVICE static void store(Chunk<T>* shared, const float (&sums)[kWidth / 8][4], T* to,
                              int64_t row_step, int64_t column_step, int64_t rows, int width,
                              bool whole) {
    const int lane = thread_index() % 32;
    Chunk<T>* const way = shared + thread_index() / 32 * 16 * kPitch;
    DL_UNROLL
    for (int c = 0; c < kWidth / 8; ++c) {
      DL_UNROLL
      for (int r = 0; r < 2; ++r) {
        auto* const pairs = reinterpret_cast<uint32_t*>(&way[number(lane / 4 + 8 * r, c)]);
        pairs[lane % 4] = pair_of<T>(sums[c][2 * r], sums[c][2 * r + 1]);
      }
    }
    warp_barrier();
    for (int i = lane; i < 16 * kLine; i += 32) {
      const int row = i / kLine, chunk = i % kLine, left = width - 8 * chunk;
      if (row >= rows || left <= 0) continue;
      const Chunk<T> made = way[number(row, chunk)];
      T* const at = to + row * row_step + 8 * chunk * column_step;
      if (whole && left >= 8) {
        *reinterpret_cast<Chunk<T>*>(at) = made;
        continue;
      }
      DL_UNROLL
      for (int e = 0; e < 8; ++e) {
        if (e < left) at[e * column_step] = made.at[e];
      }
    }
  }

 private:
  DL_DEVICE static int number(int row, int chunk) { return row * kPitch + (chunk ^ (row & 7)); }
  DL_DEVICE static uint32_t chunk_offset(int row, int chunk) {
    return static_cast<uint32_t>(number(row, chunk)) * 16;
  }
  // Given the address of chunk 0 or 1, return the address an even number of chunks after it.
  DL_DEVICE static uint32_t advanced(uint32_t address, int chunks) {
    return (address ^ static_cast<uint32_t>(chunks % 8 * 16)) +
           static_cast<uint32_t>(chunks / 8 * 128);
  }

  uint32_t across_, transposed_;
};

// The visible keys of a lane's two rows, 8 apart, or the visible queries if the rows are keys.
// Recomputed where needed: few tiles are at the border of the visible range, and registers are
// scarce.
template <bool kOfKeys>
struct AttentionWindow {
  int row, shift, low[2], high[2];

  DL_DEVICE AttentionWindow(const AttentionShape& shape, int first)
      : row(first), shift(static_cast<int>(kOfKeys ? -shape.shift() : shape.shift())) {
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int at = first + 8 * r;
      low[r] = static_cast<int>(kOfKeys ? shape.first_query(at) : shape.first_key(at));
      const int64_t end = kOfKeys ? shape.end_query(at) : shape.end_key(at);
      high[r] = at < (kOfKeys ? shape.keys : shape.queries) ? static_cast<int>(end) : 0;
    }
  }

  // Mask the scores, to base 2, of the columns from `first` on: masked ones become -infinity.
  template <class T, int kTiles>
  DL_DEVICE void apply(float (&scores)[kTiles][4], const AttentionMask& mask, int n, int h,
                       int first) const {
    const int lane = opaque_value(thread_index()) % 32;
    const float slope = mask.slopes == nullptr ? 0.0f : mask.slope(n, h) * kLogOfE;
    const bool shown = mask.kind == MaskKind::boolean;
    const int64_t line = opaque_value(kOfKeys ? mask.column : mask.row),
                  next = opaque_value(kOfKeys ? mask.row : mask.column);
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int begin = low[r] - first, end = high[r] - first;
      const int own = row + 8 * r;
      const auto distance = static_cast<float>(own + shift - first);
      const int64_t offset = n * mask.batch + h * mask.head + own * line + first * next;
      DL_UNROLL
      for (int i = 0; i < 2 * kTiles; ++i) {
        const int column = i / 2 * 8 + lane % 4 * 2 + i % 2;
        float& score = scores[i / 2][2 * r + i % 2];
        if (column < begin || column >= end) {
          score = lowest<float>();
          continue;
        }
        if (mask.slopes != nullptr) score -= slope * fabsf(distance - static_cast<float>(column));
        if (mask.kind == MaskKind::none) continue;
        const int64_t at = offset + column * next;
        if (mask.kind == MaskKind::element) {
          score += static_cast<float>(static_cast<const T*>(mask.data)[at]) * kLogOfE;
        } else if (mask.kind == MaskKind::compute) {
          score += static_cast<const float*>(mask.data)[at] * kLogOfE;
        } else if (cast<bool>(static_cast<const Bool*>(mask.data)[at]) != shown) {
          score = lowest<float>();
        }
      }
    }
    // Tensor core instructions need the whole warp, whose lanes may have diverged here.
    warp_barrier();
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_ROWS_H_
