// Convolutions as products of matrices that are not stored (implicit GEMM): the address of an
// element of an operand or result is computed from its row and column. One operand is a tensor as
// stored; the other one consists of windows over images, with positions on one side and taps
// (channels and positions within a window) on the other.
#ifndef DL_KERNELS_GPU_CONVOLVE_SOURCE_H_
#define DL_KERNELS_GPU_CONVOLVE_SOURCE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/divider.h"
#include "dl_kernels/gpu/matrix_source.h"

DL_KERNELS_BEGIN

namespace gpu {

// An index of two digits with a stride for each; the inner digit has `extent` values.
struct TwoSteps {
  int64_t outer_step, inner_step;
  Divider extent;

  // A single digit, if the outer stride continues the inner one.
  TwoSteps(int64_t outer, int64_t inner, int64_t inner_extent, int64_t outer_extent)
      : outer_step(outer), inner_step(inner), extent(inner_extent) {
    if (outer == inner * inner_extent || outer_extent == 1)
      extent = Divider(inner_extent * outer_extent);
  }

  DL_FN int64_t at(int32_t index) const {
    const int32_t inner = extent.split(index);
    return index * outer_step + inner * inner_step;
  }
};

// An iterator over such an index.
class TwoWalk {
 public:
  DL_FN TwoWalk(const TwoSteps& steps, int32_t index) : steps_(steps) {
    inner_ = steps.extent.split(index);
    offset_ = index * steps.outer_step + inner_ * steps.inner_step;
  }
  DL_FN int64_t offset() const { return offset_; }
  DL_FN int left() const { return steps_.extent.by - inner_; }  // of the inner digit
  DL_FN void next() {
    offset_ += steps_.inner_step;
    if (++inner_ < steps_.extent.by) return;
    inner_ = 0;
    offset_ += steps_.outer_step - steps_.extent.by * steps_.inner_step;
  }

 private:
  const TwoSteps& steps_;
  int32_t inner_;
  int64_t offset_;
};

// A tensor with one dimension along the side and two along the depth; `group_step` is the stride
// between groups.
template <class T>
struct TensorSource {
  const T* data;
  int64_t group_step, side_step;
  TwoSteps depth;
  int32_t sides;
  bool along_depth, whole;

  TensorSource(const T* from, int64_t between_groups, int64_t between_sides, TwoSteps depths,
               int64_t side_count)
      : data(from),
        group_step(between_groups),
        side_step(between_sides),
        depth(depths),
        sides(static_cast<int32_t>(side_count)),
        along_depth(depths.inner_step <= between_sides) {
    constexpr int kOf = kChunk<T>;
    const bool apart = depth.outer_step % kOf == 0 && group_step % kOf == 0 &&
                       reinterpret_cast<uintptr_t>(data) % sizeof(Chunk<T>) == 0;
    whole = apart && (along_depth ? depth.inner_step == 1 && depth.extent.by % kOf == 0 &&
                                        side_step % kOf == 0
                                  : side_step == 1 && depth.inner_step % kOf == 0);
  }

  struct Origin {
    const T* first;
    int sides;
  };
  DL_DEVICE Origin origin(int64_t group, int64_t s) const {
    const int64_t left = sides - s;
    return {data + group * group_step + s * side_step, left < 0           ? 0
                                                       : left < kChunk<T> ? static_cast<int>(left)
                                                                          : kChunk<T>};
  }

  DL_DEVICE const T* chunk(const Origin& from, int64_t d, int64_t end, int* count) const {
    *count = count_of(from, d, end);
    return *count == 0 ? data : from.first + depth.at(static_cast<int32_t>(d));
  }

  DL_DEVICE void gather(const Origin& from, int64_t d, int64_t end, Chunk<T>& to) const {
    const int count = count_of(from, d, end);
    TwoWalk walk(depth, static_cast<int32_t>(d));
    const T* at = from.first + walk.offset();
    DL_UNROLL
    for (int i = 0; i < kChunk<T>; ++i) {
      to.at[i] = bit_cast<T>(bits_t<T>(0));
      if (i < count) to.at[i] = *at;
      if (along_depth) {
        walk.next();
        at = from.first + walk.offset();
      } else {
        at += side_step;
      }
    }
  }

 private:
  DL_DEVICE int count_of(const Origin& from, int64_t d, int64_t end) const {
    if (!along_depth) return d < end ? from.sides : 0;
    const int64_t left = end - d;
    return from.sides == 0 || left < 0 ? 0 : left < kChunk<T> ? static_cast<int>(left) : kChunk<T>;
  }
};

// Contribution of an index of positions or taps to an element: its coordinates, and the rest of its
// offset.
struct WindowPart {
  int64_t offset;
  int32_t z, y, x;
};

// The digits of such an index, from the outermost: sample or channel, z, y, x, and the channel in
// channels-last layouts. A coordinate is `add` plus `times` times the digit.
struct WindowIndex {
  Divider z, y, x, inner;
  int64_t outer_step, inner_step;
  int32_t times[3], add[3];
  int32_t count;

  DL_DEVICE WindowPart part(int32_t index) const {
    const int32_t i = inner.split(index), of_x = x.split(index), of_y = y.split(index),
                  of_z = z.split(index);
    return {index * outer_step + i * inner_step, add[0] + of_z * times[0], add[1] + of_y * times[1],
            add[2] + of_x * times[2]};
  }
};

// Increments such an index.
class WindowWalk {
 public:
  DL_DEVICE WindowWalk(const WindowIndex& index, int32_t at) : index_(index) {
    inner_ = index.inner.split(at);
    x_ = index.x.split(at);
    y_ = index.y.split(at);
    z_ = index.z.split(at);
    outer_ = at;
  }
  DL_DEVICE WindowPart part() const {
    return {outer_ * index_.outer_step + inner_ * index_.inner_step,
            index_.add[0] + z_ * index_.times[0], index_.add[1] + y_ * index_.times[1],
            index_.add[2] + x_ * index_.times[2]};
  }
  DL_DEVICE void next() {
    if (++inner_ < index_.inner.by) return;
    inner_ = 0;
    if (++x_ < index_.x.by) return;
    x_ = 0;
    if (++y_ < index_.y.by) return;
    y_ = 0;
    if (++z_ < index_.z.by) return;
    z_ = 0;
    ++outer_;
  }

 private:
  const WindowIndex& index_;
  int32_t inner_, x_, y_, z_, outer_;
};

// Elements of images that windows cover. They are 0 outside the image; if only every `strides`-th
// coordinate holds an element, they are 0 at the other coordinates too.
template <class T>
struct WindowSource {
  static constexpr int kBlocks = 1;  // blocks per multiprocessor, limited by registers
  const T* data;
  int64_t group_step, cell_step;
  WindowIndex side, depth;
  int32_t extents[3];
  Divider strides[3];
  bool strided;
  bool along_depth, whole;

  struct Origin {
    WindowPart part;
    int32_t first;  // on the side
    int64_t offset;
  };
  DL_DEVICE Origin origin(int64_t group, int64_t s) const {
    const auto first = static_cast<int32_t>(s);
    return {side.part(first < side.count ? first : 0), first, group * group_step};
  }

  DL_DEVICE const T* chunk(const Origin& from, int64_t d, int64_t end, int* count) const {
    const T* const at = d < end && from.first < side.count
                            ? element(from.part, depth.part(static_cast<int32_t>(d)))
                            : nullptr;
    *count = at == nullptr ? 0 : kChunk<T>;
    return at == nullptr ? data : at + from.offset;
  }

  DL_DEVICE void gather(const Origin& from, int64_t d, int64_t end, Chunk<T>& to) const {
    const bool on_side = from.first < side.count;
    WindowWalk walk(along_depth ? depth : side, along_depth ? static_cast<int32_t>(d) : from.first);
    const WindowPart other = along_depth ? from.part : depth.part(static_cast<int32_t>(d));
    const int64_t left = !on_side || d >= end ? 0 : along_depth ? end - d : side.count - from.first;
    DL_UNROLL
    for (int i = 0; i < kChunk<T>; ++i) {
      to.at[i] = bit_cast<T>(bits_t<T>(0));
      const T* const at = i < left ? element(other, walk.part()) : nullptr;
      if (at != nullptr) to.at[i] = at[from.offset];
      walk.next();
    }
  }

 private:
  // Null if the element does not exist.
  DL_DEVICE const T* element(const WindowPart& a, const WindowPart& b) const {
    int32_t z = a.z + b.z, y = a.y + b.y, x = a.x + b.x;
    if (z < 0 || y < 0 || x < 0) return nullptr;
    if (strided) {
      const int32_t between = strides[0].split(z) | strides[1].split(y) | strides[2].split(x);
      if (between != 0) return nullptr;
    }
    if (z >= extents[0] || y >= extents[1] || x >= extents[2]) return nullptr;
    const int64_t cell = (int64_t{z} * extents[1] + y) * extents[2] + x;
    return data + a.offset + b.offset + cell * cell_step;
  }
};

// A result tensor with one dimension down and two across; a bias has one element per row.
template <class T>
struct TensorSink {
  using C = compute_t<T>;
  T* narrow;
  C* wide;  // output before rounding; written instead of the tensor if not null
  int64_t group_step, row_step, rows;
  TwoSteps across;
  const T* bias;  // may be null

  DL_FN bool is_transposed() const { return row_step == 1 && across.inner_step != 1; }

  // Store adjacent elements of a row, or of a column if that is how they are stored.
  template <class S, int kCount>
  DL_FN void put(int64_t group, int64_t i, int64_t j, const S (&sums)[kCount], int count) const {
    struct alignas(kCount * sizeof(T)) Packed {
      T at[kCount];
    };
    if (is_transposed()) {
      put_down(group, i, j, sums, count);
      return;
    }
    const C shift = bias == nullptr ? C(0) : cast<C>(bias[group * rows + i]);
    const int64_t line = group * group_step + i * row_step;
    TwoWalk walk(across, static_cast<int32_t>(j));
    if (wide == nullptr && count == kCount && across.inner_step == 1 && walk.left() >= kCount &&
        reinterpret_cast<uintptr_t>(narrow + line + walk.offset()) % sizeof(Packed) == 0) {
      Packed all;
      DL_UNROLL
      for (int e = 0; e < kCount; ++e) all.at[e] = cast<T>(sums[e] + shift);
      *reinterpret_cast<Packed*>(narrow + line + walk.offset()) = all;
      return;
    }
    DL_UNROLL
    for (int e = 0; e < kCount; ++e) {
      if (e < count) {
        const C value = sums[e] + shift;
        if (wide != nullptr) {
          wide[line + walk.offset()] = value;
        } else {
          narrow[line + walk.offset()] = cast<T>(value);
        }
      }
      walk.next();
    }
  }

 private:
  template <class S, int kCount>
  DL_FN void put_down(int64_t group, int64_t i, int64_t j, const S (&sums)[kCount],
                      int count) const {
    struct alignas(kCount * sizeof(T)) Packed {
      T at[kCount];
    };
    const int64_t first = group * group_step + i + across.at(static_cast<int32_t>(j));
    Packed all;
    DL_UNROLL
    for (int e = 0; e < kCount; ++e) {
      if (e >= count) continue;
      const C value = sums[e] + (bias == nullptr ? C(0) : cast<C>(bias[group * rows + i + e]));
      if (wide != nullptr) wide[first + e] = value;
      all.at[e] = cast<T>(value);
    }
    if (wide != nullptr) return;
    if (count == kCount && reinterpret_cast<uintptr_t>(narrow + first) % sizeof(Packed) == 0) {
      *reinterpret_cast<Packed*>(narrow + first) = all;
      return;
    }
    DL_UNROLL
    for (int e = 0; e < kCount; ++e) {
      if (e < count) narrow[first + e] = all.at[e];
    }
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CONVOLVE_SOURCE_H_
