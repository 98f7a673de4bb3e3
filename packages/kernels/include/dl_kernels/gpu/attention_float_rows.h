// Rows of float32 for attention on tensor cores; gpu/attention_rows.h has those of half precision.
// Each float is split into the sum of two TF32 numbers and multiplied by three products, which is
// nearly as accurate as float32. Rows are aligned to 16 bytes and have a multiple of 8 columns,
// stored next to each other.
#ifndef DL_KERNELS_GPU_ATTENTION_FLOAT_ROWS_H_
#define DL_KERNELS_GPU_ATTENTION_FLOAT_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/attention_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

template <int kWidth>
class AttentionRows<float, kWidth> {
  static constexpr int kLine = kWidth / 4;

 public:
  static constexpr bool kAvailable = kAsyncCopies;
  static constexpr int kPitch =
      kLine + 1;  // padding that avoids bank conflicts between the same chunk of different rows
  static constexpr int kSteps = kWidth / 8;
  static constexpr int kKeys = kWidth <= 64 ? 64 : 32;
  static constexpr bool kKeepsPairs = kWidth <= 64;

  DL_DEVICE explicit AttentionRows(int lane)
      : across_(chunk_offset(lane / 16 * 8 + lane % 8, lane / 8 % 2)),
        transposed_(chunk_offset(lane % 4 * 2, lane / 4)) {}

  template <int kRows>
  DL_DEVICE static void load(Chunk<float>* to, const float* from, int64_t row_step, int64_t,
                             int rows, int width, bool) {
    const int thread = opaque_value(thread_index()), row = thread / kLine, chunk = thread % kLine;
    row_step = opaque_value(row_step);
    constexpr int kTogether = kThreads / kLine;
    const float* const at = from + row * row_step + 4 * chunk;
    const uint32_t target = shared_address(to) + chunk_offset(row, chunk);
    DL_UNROLL
    for (int i = 0; i < kRows / kTogether; ++i) {
      const bool there = row + i * kTogether < rows && 4 * chunk < width;
      copy_async(target + static_cast<uint32_t>(i * kTogether * kPitch * 16),
                 there ? at + i * kTogether * row_step : from, there ? 16 : 0);
    }
  }

  // Addresses of a lane's part of 16 rows; missing rows repeat the first one.
  struct Source {
    const float* rows[2];
    int width;

    // Load columns 8 · step and following.
    DL_DEVICE void fetch(uint32_t (&to)[4], int step) const {
      DL_UNROLL
      for (int i = 0; i < 4; ++i)
        to[i] = 8 * step < width ? bit_cast<uint32_t>(rows[i % 2][8 * step + i / 2 * 4]) : 0;
    }
  };
  DL_DEVICE static Source source(const float* from, int64_t row_step, int rows, int width) {
    const int lane = thread_index() % 32, row = thread_index() / 32 * 16 + lane / 4;
    const auto at = [&](int i) { return from + (i < rows ? i * row_step : 0) + lane % 4; };
    return {{at(row), at(row + 8)}, width};
  }

  DL_DEVICE static void keep(uint32_t (&to)[kSteps][4], Chunk<float>*, const float* from,
                             int64_t row_step, int64_t, int rows, int width, bool) {
    const Source all = source(from, row_step, rows, width);
    DL_UNROLL
    for (int step = 0; step < kSteps; ++step) all.fetch(to[step], step);
  }

  template <int kTiles>
  DL_DEVICE void multiply(float (&sums)[kTiles][4], const uint32_t (&left)[kSteps][4],
                          uint32_t rows, int width) const {
    DL_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      if (step % 4 == 0 && 8 * step >= width) break;
      uint32_t own[4];
      // Splitting before the loop over tiles would take twice as many registers.
      DL_UNROLL
      for (int i = 0; i < 4; ++i) own[i] = opaque_value(left[step][i]);
      multiply_step(sums, own, rows + across_, step);
    }
  }

  // The same for a left operand that is loaded during the loop, one step ahead.
  template <int kTiles>
  DL_DEVICE void multiply(float (&sums)[kTiles][4], const Source& left, uint32_t rows,
                          int width) const {
    uint32_t now[4], next[4];
    left.fetch(next, 0);
    DL_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      if (step % 4 == 0 && 8 * step >= width) break;
      DL_UNROLL
      for (int i = 0; i < 4; ++i) now[i] = next[i];
      if (step + 1 < kSteps) left.fetch(next, step + 1);
      multiply_step(sums, now, rows + across_, step);
    }
  }

  template <int kTiles>
  DL_DEVICE void multiply_transposed(float (&sums)[kWidth / 8][4],
                                     const float (&weights)[kTiles][4], uint32_t rows,
                                     int width) const {
    DL_UNROLL
    for (int step = 0; step < kTiles; ++step) {
      // A lane holds columns 2 · (lane % 4) and the next one of the weights, and the rows with the
      // same two indices of the other operand.
      const float (&tile)[4] = weights[step];
      const uint32_t bits[4] = {bit_cast<uint32_t>(tile[0]), bit_cast<uint32_t>(tile[2]),
                                bit_cast<uint32_t>(tile[1]), bit_cast<uint32_t>(tile[3])};
      const SplitFloats<4> left(bits);
      DL_UNROLL
      for (int c = 0; c < kWidth / 32; ++c) {
        if (32 * c >= width) break;
        // A lane holds four adjacent columns of 32, one for each of four tiles.
        const uint32_t at = rows + transposed_ + (8 * step * kPitch + 8 * c) * 16;
        uint32_t even[4], odd[4];
        load_shared(even, at);
        load_shared(odd, at + kPitch * 16);
        DL_UNROLL
        for (int half = 0; half < 4; half += 2) {
          const uint32_t four[4] = {even[half], odd[half], even[half + 1], odd[half + 1]};
          multiply_pair(sums[4 * c + half], sums[4 * c + half + 1], left, four);
        }
      }
    }
  }

  DL_DEVICE static void store(Chunk<float>*, const float (&sums)[kWidth / 8][4], float* to,
                              int64_t row_step, int64_t, int64_t rows, int width, bool) {
    const int lane = thread_index() % 32;
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int row = lane / 4 + 8 * r;
      if (row >= rows) continue;
      DL_UNROLL
      for (int c = 0; c < kWidth / 32; ++c) {
        const int column = 32 * c + lane % 4 * 8;
        if (column >= width) continue;
        float* const at = to + row * row_step + column;
        DL_UNROLL
        for (int i = 0; i < 2; ++i) {
          const Chunk<float> made{{sums[4 * c][2 * r + i], sums[4 * c + 1][2 * r + i],
                                   sums[4 * c + 2][2 * r + i], sums[4 * c + 3][2 * r + i]}};
          *reinterpret_cast<Chunk<float>*>(at + 4 * i) = made;
        }
      }
    }
  }

 private:
  DL_DEVICE static uint32_t chunk_offset(int row, int chunk) {
    return static_cast<uint32_t>(row * kPitch + chunk) * 16;
  }

  template <int kTiles>
  DL_DEVICE static void multiply_step(float (&sums)[kTiles][4], const uint32_t (&bits)[4],
                                      uint32_t at, int step) {
    const SplitFloats<4> left(bits);
    DL_UNROLL
    for (int c = 0; c < kTiles / 2; ++c) {
      uint32_t right[4];
      load_matrices<false>(right, at + (16 * c * kPitch + 2 * step) * 16);
      multiply_pair(sums[2 * c], sums[2 * c + 1], left, right);
    }
  }

  // Multiply two tiles whose right operands are the two parts of `bits`. Small products are added
  // first; the product of the two remainders is negligible.
  DL_DEVICE static void multiply_pair(float (&first)[4], float (&second)[4],
                                      const SplitFloats<4>& left, const uint32_t (&bits)[4]) {
    const SplitFloats<4> right(bits);
    multiply_add_tf32(first, left.rest, right.big[0], right.big[1]);
    multiply_add_tf32(second, left.rest, right.big[2], right.big[3]);
    multiply_add_tf32(first, left.big, right.rest[0], right.rest[1]);
    multiply_add_tf32(second, left.big, right.rest[2], right.rest[3]);
    multiply_add_tf32(first, left.big, right.big[0], right.big[1]);
    multiply_add_tf32(second, left.big, right.big[2], right.big[3]);
  }

  uint32_t across_, transposed_;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_FLOAT_ROWS_H_
