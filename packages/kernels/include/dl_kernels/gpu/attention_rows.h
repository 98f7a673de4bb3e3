// What kernels of attention on tensor cores share: rows of queries, keys or values in shared
// memory, and which keys a warp's queries see.
#ifndef DL_KERNELS_GPU_ATTENTION_ROWS_H_
#define DL_KERNELS_GPU_ATTENTION_ROWS_H_

#include <cstdint>

#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/matrix_source.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr float kLogOfE = 1.44269504088896340736f;  // to base 2
inline constexpr float kLogOf2 = 0.69314718055994530942f;  // to base e

// Of which tensors the rows consist of aligned chunks; `out` is what is written.
struct AttentionAlignment {
  bool q, k, v, grad_out, out;
};

template <class T>
bool is_whole(const Strided4<T>& tensor) {
  constexpr int64_t kElements = 16 / sizeof(T);
  return tensor.column == 1 && tensor.row % kElements == 0 && tensor.head % kElements == 0 &&
         tensor.batch % kElements == 0 && reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0;
}

// A left operand in halves that add up to what it was in float, nearly. Rounded to one half alone,
// weights would be less exact than a result may be that is small because terms cancel.
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

// 16 columns of what lies across a warp as a sum of products.
template <class T, int kTiles>
DL_DEVICE void as_left(uint32_t (&to)[kParts][4], const float (&sums)[kTiles][4], int step) {
  split_pair<T>(to, 0, sums[2 * step][0], sums[2 * step][1]);
  split_pair<T>(to, 1, sums[2 * step][2], sums[2 * step][3]);
  split_pair<T>(to, 2, sums[2 * step + 1][0], sums[2 * step + 1][1]);
  split_pair<T>(to, 3, sums[2 * step + 1][2], sums[2 * step + 1][3]);
}

// Rows of up to kWidth elements in shared memory, zero beyond. The chunks of a row are permuted, so
// that the same chunk of eight rows lies in different banks.
template <class T, int kWidth>
struct AttentionRows {
  static constexpr int kLine = kWidth / 8;

  DL_DEVICE static int number(int row, int chunk) { return row * kLine + (chunk ^ (row & 7)); }

  // kRows rows from `from` on, of which `rows` exist.
  template <int kRows>
  DL_DEVICE static void load(Chunk<T>* to, const T* from, int64_t row_step, int64_t column_step,
                             int rows, int width, bool whole) {
    const int thread = computed_here(thread_index());
    column_step = computed_here(column_step);
    row_step = computed_here(row_step);
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

  // 16 rows from `first` on and 16 · step of their elements, as the left operand of a product.
  DL_DEVICE static void left(uint32_t (&to)[4], uint32_t rows, int first, int step, int lane) {
    const int row = first + lane % 16, chunk = 2 * step + lane / 16;
    load_matrices(to, rows + static_cast<uint32_t>(number(row, chunk)) * 16, false);
  }

  // sums += left · rowsᵀ, of the elements from 16 · step on; a column of the sums is a row.
  template <int kTiles>
  DL_DEVICE static void multiply(float (&sums)[kTiles][4], const uint32_t (&left)[4], uint32_t rows,
                                 int step, int lane) {
    lane = computed_here(lane);
    const int row = lane / 16 * 8 + lane % 8, chunk = 2 * step + lane / 8 % 2;
    DL_UNROLL
    for (int c = 0; c < kTiles / 2; ++c) {
      uint32_t right[4];
      load_matrices(right, rows + static_cast<uint32_t>(number(16 * c + row, chunk)) * 16, false);
      multiply_add<T>(sums[2 * c], left, right[0], right[1]);
      multiply_add<T>(sums[2 * c + 1], left, right[2], right[3]);
    }
  }

  // sums += left · rows, of 16 rows from 16 · step on; columns from `width` on are left out.
  DL_DEVICE static void multiply_turned(float (&sums)[kWidth / 8][4],
                                        const uint32_t (&left)[kParts][4], uint32_t rows, int step,
                                        int width, int lane) {
    lane = computed_here(lane);
    const int row = 16 * step + lane % 16;
    DL_UNROLL
    for (int c = 0; c < kWidth / 16; ++c) {
      if (16 * c >= width) break;
      uint32_t right[4];
      load_matrices(right, rows + static_cast<uint32_t>(number(row, 2 * c + lane / 16)) * 16, true);
      DL_UNROLL
      for (int p = 0; p < kParts; ++p) {
        multiply_add<T>(sums[2 * c], left[p], right[0], right[1]);
        multiply_add<T>(sums[2 * c + 1], left[p], right[2], right[3]);
      }
    }
  }

  // Writes 16 rows of a warp, of which `rows` exist, by way of shared memory of its own.
  DL_DEVICE static void store(Chunk<T>* way, const float (&sums)[kWidth / 8][4], T* to,
                              int64_t row_step, int64_t column_step, int64_t rows, int width,
                              bool whole, int lane) {
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
};

// What the two rows of a lane, 8 apart, see: keys if they are queries, and the other way round.
template <bool kOfKeys>
struct AttentionWindow {
  int row, low[2], high[2];

  DL_DEVICE void start(const AttentionShape& shape, int first) {
    row = first;
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int at = first + 8 * r;
      low[r] = static_cast<int>(kOfKeys ? shape.first_query(at) : shape.first_key(at));
      const int64_t end = kOfKeys ? shape.end_query(at) : shape.end_key(at);
      high[r] = at < (kOfKeys ? shape.keys : shape.queries) ? static_cast<int>(end) : 0;
    }
  }

  // Scores, which are to base 2, of the columns from `first` on: infinitely low where hidden.
  template <class T, int kTiles>
  DL_DEVICE void apply(float (&scores)[kTiles][4], const AttentionShape& shape,
                       const AttentionMask& mask, int64_t n, int64_t h, int first, int lane) const {
    lane = computed_here(lane);
    const float slope = mask.slopes == nullptr ? 0.0f : mask.slope(n, h) * kLogOfE;
    const bool shown = mask.kind == MaskKind::boolean;
    const int64_t line = computed_here(kOfKeys ? mask.column : mask.row),
                  next = computed_here(kOfKeys ? mask.row : mask.column);
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int begin = low[r] - first, end = high[r] - first;
      const int64_t own = row + 8 * r;
      const auto apart =
          static_cast<float>(own + (kOfKeys ? -shape.shift() : shape.shift()) - first);
      const int64_t offset = n * mask.batch + h * mask.head + own * line + first * next;
      DL_UNROLL
      for (int i = 0; i < 2 * kTiles; ++i) {
        const int column = i / 2 * 8 + lane % 4 * 2 + i % 2;
        float& score = scores[i / 2][2 * r + i % 2];
        if (column < begin || column >= end) {
          score = lowest<float>();
          continue;
        }
        if (mask.slopes != nullptr) score -= slope * fabsf(apart - static_cast<float>(column));
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
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_ROWS_H_
