// Matrix products on tensor cores, of half precision or of floats rounded to TF32. Slices of the
// operands are stored in shared memory as chunks of 16 bytes, in the direction in which they are
// contiguous in memory, and are transposed while they are loaded into registers. The chunks of a
// line are permuted (swizzled) to avoid bank conflicts among eight lanes that load a small matrix,
// 32 lanes that load single floats, and lanes that store adjacent chunks.
#ifndef DL_KERNELS_GPU_PRODUCT_TENSOR_H_
#define DL_KERNELS_GPU_PRODUCT_TENSOR_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/matrix_source.h"
#include "dl_kernels/gpu/product_tile.h"

DL_KERNELS_BEGIN

namespace gpu {

// A slice of an operand: `kSides` × kDepth elements.
template <class T, int kSides>
struct TensorSlice {
  static constexpr int kLine = 4, kOfChunk = kChunk<T>, kDepth = kLine * kOfChunk;
  static_assert(sizeof(Chunk<T>) == 16 && kSides % 64 == 0, "the permutations require these sizes");
  static_assert(ProductTuning::kDepth % kDepth == 0, "a piece consists of whole slices");
  Chunk<T> chunks[kSides * kLine];

  // Return the index of the chunk that holds an element.
  DL_DEVICE static int number(bool along_depth, int s, int d) {
    const int turn = kIsHalf<T> ? d & 7 : 2 * (d & 3);
    return along_depth ? s * kLine + (d / kOfChunk ^ (s / 2 & 3))
                       : d * (kSides / kOfChunk) + (s / kOfChunk ^ turn);
  }
  // The index of the element that is 16 · sides and two chunks · depths further, where `from` is
  // the index of an element of the first two chunks. Sides are counted from a multiple of 16 · (the
  // largest `sides`). Floats support only the direction along the depth.
  DL_DEVICE static int further(bool along_depth, int from, int sides, int depths) {
    return (from ^ 2 * (along_depth ? depths : sides)) +
           (along_depth ? 16 * kLine * sides : 2 * kSides * depths);
  }
};

// Blocks per multiprocessor, limited by registers: one if threads have many sums.
template <int kSums>
inline constexpr int kTensorBlocks = kAsyncCopies && kSums <= 32 ? 2 : 1;

// A thread's part of the slices of an operand.
template <class T, int kSides, class Source>
class TensorLoader {
  using Slice = TensorSlice<T, kSides>;
  static constexpr int kChunks = kSides * Slice::kLine / kThreads;
  static constexpr int kAcross = kSides / Slice::kOfChunk;

 public:
  DL_DEVICE TensorLoader(const Source& source, int64_t matrix, int64_t first)
      : source_(source), number_(Slice::number(source.along_depth, side(0), depth(0))) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) origins_[i] = source.origin(matrix, first + side(i));
  }

  // Load asynchronously into shared memory where GPUs support that, else into registers.
  DL_DEVICE void start(int64_t begin, int64_t end, Slice& slice) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const int64_t d = begin + depth(i);
      if (source_.whole) {
        int count;
        const T* const from = source_.chunk(origins_[i], d, end, &count);
        if constexpr (kAsyncCopies) {
          copy_async(shared_address(&slice.chunks[number(i)]), from,
                     count * static_cast<int>(sizeof(T)));
          continue;
        } else if (count == kChunk<T>) {
          held_[i] = *reinterpret_cast<const Chunk<T>*>(from);
          continue;
        }
      }
      source_.gather(origins_[i], d, end, held_[i]);
      // Do not keep this in a register: it would stay live during the product of the last slice.
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
    return source_.along_depth ? c / Slice::kLine : c % kAcross * Slice::kOfChunk;
  }
  DL_DEVICE int depth(int i) const {
    const int c = thread_index() + i * kThreads;
    return source_.along_depth ? c % Slice::kLine * Slice::kOfChunk : c / kAcross;
  }
  // The permutation of a line repeats before the next chunk of a thread.
  DL_DEVICE int number(int i) const { return number_ + i * kThreads; }

  const Source& source_;
  int number_;
  typename Source::Origin origins_[kChunks];
  Chunk<T> held_[kChunks];
};

// A lane's part of an operand's slice for `multiply_add`: four small matrices, which cover 16
// sides, beginning at a multiple of 16, and the depths of two chunks. The second matrix holds the
// next depths for the right operand, the next sides for the left one.
template <class T, int kSides, bool kRight>
class TensorReader {
  using Slice = TensorSlice<T, kSides>;

 public:
  DL_DEVICE TensorReader(bool along_depth, int first) : along_depth_(along_depth) {
    const int lane = thread_index() % 32, line = lane % 8;
    if (along_depth || kIsHalf<T>) {
      // Line and matrix whose address the lane provides.
      const int second = lane / 8 % 2, third = lane / 16;
      const int sides = (kRight ? third : second) * 8;
      const int depths = (kRight ? second : third) * kHalfStep;
      at_ = Slice::number(along_depth, first + sides + (along_depth ? line : 0),
                          depths + (along_depth ? 0 : line));
    } else {
      at_ = 4 * Slice::number(false, first + lane / 4, lane % 4) + lane / 4 % 4;
    }
  }

  DL_DEVICE void load(uint32_t (&to)[4], const Slice& slice, int sides, int step) const {
    const uint32_t address = shared_address(slice.chunks);
    if constexpr (kIsHalf<T>) {
      const int number = Slice::further(along_depth_, at_, sides, step);
      load_matrices(to, address + static_cast<uint32_t>(number) * 16, !along_depth_);
    } else {
      if (along_depth_) {
        const int number = Slice::further(true, at_, sides, step);
        load_matrices<false>(to, address + static_cast<uint32_t>(number) * 16);
      } else {
        // Elements of this size cannot be transposed while they are loaded.
        DL_UNROLL
        for (int i = 0; i < 4; ++i)
          to[i] = load_shared(address + static_cast<uint32_t>(word(i, sides, step)) * 4);
      }
      DL_UNROLL
      for (uint32_t& bits : to) bits = rounded_to_tf32(bits);
    }
  }

 private:
  static constexpr int kHalfStep = kIsHalf<T> ? 8 : 4;

  // Index of a float in a slice whose sides are adjacent.
  DL_DEVICE int word(int matrix, int sides, int step) const {
    const int further_sides = kRight ? matrix / 2 : matrix % 2;
    const int further_depths = kRight ? matrix % 2 : matrix / 2;
    // Split the offset into the part that the permutation changes and the rest.
    const int near = 2 * further_sides + 4 * (sides % 2), far = 8 * (sides / 2);
    const int depth = 2 * kHalfStep * step + kHalfStep * further_depths;
    return (at_ ^ 4 * near) + 4 * (far + depth * (kSides / Slice::kOfChunk));
  }

  bool along_depth_;
  int at_;
};

// kRows and kColumns: the numbers of tiles of 16 rows and of 8 columns per warp.
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
  // Buffer for storing the sums of a warp, 16 lines at a time.
  static constexpr int kSums = kColumns * 8;
  struct Line {
    float at[kSums + 8];  // padded to avoid bank conflicts within half a warp
  };
  struct Outgoing {
    Line lines[kWarps][16];
  };
};

template <class T, int kRows, int kColumns, class A, class B, class Output>
DL_KERNEL_FOR_BLOCKS((kTensorBlocks<4 * kRows * kColumns>))
void tensor_product_kernel(ProductShape shape, A a, B b, Output output) {
  using Tile = TensorTile<T, kRows, kColumns>;
  constexpr int kDepth = Tile::Left::kDepth, kStages = ProductTuning::kStages;
  DL_SHARED typename Tile::Stage stages[kStages];
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const int down = warp % Tile::kDown * kRows * 16, across = warp / Tile::kDown * kColumns * 8;
  const ProductTask task = product_task(shape, block_index(), Tile::kHeight, Tile::kWidth);
  TensorLoader<T, Tile::kHeight, A> of_a(a, task.matrix, task.row);
  TensorLoader<T, Tile::kWidth, B> of_b(b, task.matrix, task.column);
  const TensorReader<T, Tile::kHeight, false> left(a.along_depth, down);
  const TensorReader<T, Tile::kWidth, true> right(b.along_depth, across);
  float sums[kRows][kColumns][4] = {};
  const int slices = static_cast<int>((task.end - task.begin + kDepth - 1) / kDepth);
  int free = 0;
  // The first iterations only start loads: that way, the large code for loads appears only once.
  for (int s = 1 - kStages; s < slices; ++s) {
    if (s >= 0) {
      wait_for_copies<kStages - 2>();
      // The loads have completed, and the stage that was multiplied last is free.
      barrier();
    }
    const bool more = s + kStages - 1 < slices;
    // The stage after the free one is the oldest and is multiplied next.
    const int now = free + 1 == kStages ? 0 : free + 1;
    if (more) {
      const int64_t begin = task.begin + int64_t(s + kStages - 1) * kDepth;
      of_a.start(begin, task.end, stages[free].left);
      of_b.start(begin, task.end, stages[free].right);
    }
    commit_copies();
    if (s >= 0) {
      // Lanes that gathered single elements have diverged. Where lanes load single floats, no other
      // instruction makes them converge.
      if constexpr (!kIsHalf<T>) warp_barrier();
      DL_UNROLL
      for (int step = 0; step < Tile::Left::kLine / 2; ++step) {
        uint32_t x[kRows][4], y[kColumns / 2][4];
        DL_UNROLL
        for (int r = 0; r < kRows; ++r) left.load(x[r], stages[now].left, r, step);
        DL_UNROLL
        for (int c = 0; c < kColumns / 2; ++c) right.load(y[c], stages[now].right, c, step);
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
  // Adjacent lanes should store adjacent elements, but each lane holds only two of these.
  static_assert(sizeof(typename Tile::Outgoing) <= sizeof(stages), "the sums are stored in turn");
  wait_for_copies<0>();
  barrier();
  auto* const lines = reinterpret_cast<typename Tile::Outgoing*>(stages)->lines[warp];
  constexpr int kEight = 8, kLanes = Tile::kSums / kEight;  // lanes that share a line
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
    if (output.is_transposed()) {
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
