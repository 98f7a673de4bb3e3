// Products of matrices of halves on tensor cores. Slices of the operands stand in shared memory as
// chunks of eight elements, in the direction in which memory has them, and turn as they are loaded
// into registers. The chunks of a line are permuted, so that eight lanes that load a small matrix,
// or store neighbouring chunks, meet different banks.
#ifndef DL_KERNELS_GPU_PRODUCT_TENSOR_H_
#define DL_KERNELS_GPU_PRODUCT_TENSOR_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/matrix_source.h"
#include "dl_kernels/gpu/product_tile.h"

DL_KERNELS_BEGIN

namespace gpu {

// A slice of an operand: `kSides` × ProductTuning::kDepth elements.
template <class T, int kSides>
struct TensorSlice {
  static constexpr int kDepth = ProductTuning::kDepth, kLine = kDepth / 8;
  static_assert(kLine == 4 && kSides % 64 == 0, "the permutations are made for these");
  Chunk<T> chunks[kSides * kLine];

  // The number of the chunk that has an element.
  DL_DEVICE static int number(bool along_depth, int s, int d) {
    return along_depth ? s * kLine + (d / 8 ^ (s / 2 & 3)) : d * (kSides / 8) + (s / 8 ^ (d & 7));
  }
  // The same for the element 16 · sides and 16 · depths on, where `from` is that of an element of
  // the first 16 depths, and sides that are counted from a multiple of 16 · (the most sides on).
  DL_DEVICE static int further(bool along_depth, int from, int sides, int depths) {
    return (from ^ 2 * (along_depth ? depths : sides)) +
           (along_depth ? 16 * kLine * sides : 2 * kSides * depths);
  }
};

// Blocks that a multiprocessor has registers for: one with many sums in a thread.
template <int kSums>
inline constexpr int kTensorBlocks = kAsyncCopies && kSums <= 32 ? 2 : 1;

// A thread's part of the slices of an operand.
template <class T, int kSides, class Source>
class TensorLoader {
  using Slice = TensorSlice<T, kSides>;
  static constexpr int kChunks = kSides * Slice::kLine / kThreads;

 public:
  DL_DEVICE TensorLoader(const Source& source, int64_t matrix, int64_t first)
      : source_(source), number_(Slice::number(source.along_depth, side(0), depth(0))) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) places_[i] = source.place(matrix, first + side(i));
  }

  // In the background all the way where cards have that, else as far as to registers.
  DL_DEVICE void start(int64_t begin, int64_t end, Slice& slice) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const int64_t d = begin + depth(i);
      if (source_.whole) {
        int count;
        const T* const from = source_.chunk(places_[i], d, end, &count);
        if constexpr (kAsyncCopies) {
          copy_async(shared_address(&slice.chunks[number(i)]), from,
                     count * static_cast<int>(sizeof(T)));
          continue;
        } else if (count == kChunk<T>) {
          held_[i] = *reinterpret_cast<const Chunk<T>*>(from);
          continue;
        }
      }
      source_.gather(places_[i], d, end, held_[i]);
      // Registers that wait for the product of the last slice would be missing there.
      if constexpr (kAsyncCopies) slice.chunks[number(i)] = held_[i];
    }
  }
  DL_DEVICE void finish(Slice& slice) const {
    if constexpr (kAsyncCopies) return;
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) slice.chunks[number(i)] = held_[i];
  }

 private:
  DL_DEVICE int side(int i) const {
    const int c = thread_index() + i * kThreads;
    return source_.along_depth ? c / Slice::kLine : c % (kSides / 8) * 8;
  }
  DL_DEVICE int depth(int i) const {
    const int c = thread_index() + i * kThreads;
    return source_.along_depth ? c % Slice::kLine * 8 : c / (kSides / 8);
  }
  // What permutes the chunks of a line repeats before the next chunk of a thread.
  DL_DEVICE int number(int i) const { return number_ + i * kThreads; }

  const Source& source_;
  int number_;
  typename Source::Place places_[kChunks];
  Chunk<T> held_[kChunks];
};

// kRows and kColumns: tiles of 16 and of 8 that a warp makes.
template <class T, int kRows, int kColumns>
struct TensorTile {
  static constexpr int kWarps = kThreads / 32, kDown = ProductTuning::kWarpRows;
  static constexpr int kHeight = kDown * kRows * 16, kWidth = kWarps / kDown * kColumns * 8;
  using Left = TensorSlice<T, kHeight>;
  using Right = TensorSlice<T, kWidth>;
  struct Stage {
    Left left;
    Right right;
  };
  // Sums of a warp on their way out, 16 lines at a time.
  static constexpr int kSums = kColumns * 8;
  struct Line {
    float at[kSums + 8];  // so that the lines of a half warp lie in different banks
  };
  struct Outgoing {
    Line lines[kWarps][16];
  };
};

template <class T, int kRows, int kColumns, class A, class B, class Output>
DL_KERNEL_FOR_BLOCKS((kTensorBlocks<4 * kRows * kColumns>))
void tensor_product_kernel(ProductShape shape, A a, B b, Output output) {
  using Tile = TensorTile<T, kRows, kColumns>;
  constexpr int kDepth = ProductTuning::kDepth, kStages = ProductTuning::kStages;
  DL_SHARED typename Tile::Stage stages[kStages];
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const int down = warp % Tile::kDown * kRows * 16, across = warp / Tile::kDown * kColumns * 8;
  const ProductTask task = product_task(shape, block_index(), Tile::kHeight, Tile::kWidth);
  TensorLoader<T, Tile::kHeight, A> of_a(a, task.matrix, task.row);
  TensorLoader<T, Tile::kWidth, B> of_b(b, task.matrix, task.column);
  // Which line of which of four small matrices a lane points at.
  const int low = lane / 8 % 2 * 8, high = lane / 16 * 8, line = lane % 8;
  const int at_a = Tile::Left::number(a.along_depth, down + low + (a.along_depth ? line : 0),
                                      high + (a.along_depth ? 0 : line));
  const int at_b = Tile::Right::number(b.along_depth, across + high + (b.along_depth ? line : 0),
                                       low + (b.along_depth ? 0 : line));
  float sums[kRows][kColumns][4] = {};
  const int slices = static_cast<int>((task.end - task.begin + kDepth - 1) / kDepth);
  int free = 0;
  // The first rounds only begin with slices: their code is large, and stands here once.
  for (int s = 1 - kStages; s < slices; ++s) {
    if (s >= 0) {
      wait_for_copies<kStages - 2>();
      // What was copied is there, and the stage that was multiplied last is free.
      barrier();
    }
    const bool more = s + kStages - 1 < slices;
    // The stage after the free one is the oldest, which is multiplied.
    const int now = free + 1 == kStages ? 0 : free + 1;
    if (more) {
      const int64_t begin = task.begin + int64_t(s + kStages - 1) * kDepth;
      of_a.start(begin, task.end, stages[free].left);
      of_b.start(begin, task.end, stages[free].right);
    }
    commit_copies();
    if (s >= 0) {
      const uint32_t left = shared_address(stages[now].left.chunks);
      const uint32_t right = shared_address(stages[now].right.chunks);
      DL_UNROLL
      for (int step = 0; step < kDepth / 16; ++step) {
        uint32_t x[kRows][4], y[kColumns / 2][4];
        DL_UNROLL
        for (int r = 0; r < kRows; ++r) {
          const int number = Tile::Left::further(a.along_depth, at_a, r, step);
          load_matrices(x[r], left + static_cast<uint32_t>(number) * 16, !a.along_depth);
        }
        DL_UNROLL
        for (int c = 0; c < kColumns / 2; ++c) {
          const int number = Tile::Right::further(b.along_depth, at_b, c, step);
          load_matrices(y[c], right + static_cast<uint32_t>(number) * 16, !b.along_depth);
        }
        DL_UNROLL
        for (int r = 0; r < kRows; ++r) {
          DL_UNROLL
          for (int c = 0; c < kColumns; ++c)
            multiply_add<T>(sums[r][c], x[r], y[c / 2][c % 2 * 2], y[c / 2][c % 2 * 2 + 1]);
        }
      }
    }
    if (more) {
      of_a.finish(stages[free].left);
      of_b.finish(stages[free].right);
    }
    free = now;
  }
  // Neighbouring lanes shall store neighbours, of which each lane has only two.
  static_assert(sizeof(typename Tile::Outgoing) <= sizeof(stages), "the sums take their turn");
  wait_for_copies<0>();
  barrier();
  auto* const lines = reinterpret_cast<typename Tile::Outgoing*>(stages)->lines[warp];
  constexpr int kEight = 8, kLanes = Tile::kSums / kEight;  // that share a line
  DL_UNROLL
  for (int r = 0; r < kRows; ++r) {
    warp_barrier();
    DL_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      float* const to = lines[lane / 4].at + 8 * c + lane % 4 * 2;
      float* const below = lines[lane / 4 + 8].at + 8 * c + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(sums[r][c][0], sums[r][c][1]);
      *reinterpret_cast<float2*>(below) = make_float2(sums[r][c][2], sums[r][c][3]);
    }
    warp_barrier();
    if (output.is_turned()) {
      for (int i = lane; i < 2 * Tile::kSums; i += 32) {
        const int column = i % Tile::kSums, line = i / Tile::kSums * kEight;
        float eight[kEight];
        DL_UNROLL
        for (int e = 0; e < kEight; ++e) eight[e] = lines[line + e].at[column];
        output.put(shape, task, task.row + down + 16 * r + line, task.column + across + column,
                   eight);
      }
      continue;
    }
    for (int i = lane / kLanes; i < 16; i += 32 / kLanes) {
      const int column = lane % kLanes * kEight;
      float eight[kEight];
      DL_UNROLL
      for (int e = 0; e < kEight; ++e) eight[e] = lines[i].at[column + e];
      output.put(shape, task, task.row + down + 16 * r + i, task.column + across + column, eight);
    }
  }
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PRODUCT_TENSOR_H_
