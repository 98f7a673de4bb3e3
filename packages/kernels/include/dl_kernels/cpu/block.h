// CPU: a block is one core. Its reductions keep many independent accumulators, which vectorize,
// shorten the dependency chain of additions and round better than a single one.
#ifndef DL_KERNELS_CPU_BLOCK_H_
#define DL_KERNELS_CPU_BLOCK_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/lanes.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

class Block {
 public:
  template <class F>
  DL_FN void map(int64_t n, const F& f) const {
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  DL_FN void map_part(int64_t begin, int64_t end, const F& f) const {
    DL_VECTOR_LOOP
    for (int64_t i = begin; i < end; ++i) f(i);
  }

  // `combine` must be associative and commutative up to rounding; `start` is its neutral element.
  template <class T, class Combine, class F>
  DL_FN T reduce(int64_t n, T start, const Combine& combine, const F& f) const {
    // 256 bytes: eight AVX registers, enough to hide the latency of an addition.
    constexpr int kLanes = 256 / (sizeof(T) < 4 ? 4 : sizeof(T));
    constexpr int kLast = 8;
    if (n < kLast) {
      T result = start;
      for (int64_t i = 0; i < n; ++i) result = combine(result, f(i));
      return result;
    }
    if constexpr (detail::TakesRegisters<Combine>::value && std::is_arithmetic_v<T>) {
      constexpr int kRegister = detail::kVectorBytes / static_cast<int>(sizeof(T));
      if (n >= kLanes) return extremum<kLanes, T>(n, combine, f);
      if (n >= kRegister) return extremum<kRegister, T>(n, combine, f);
    }
    T lanes[kLanes];
    for (int j = 0; j < kLanes; ++j) lanes[j] = start;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      DL_VECTOR_LOOP
      for (int j = 0; j < kLanes; ++j) lanes[j] = combine(lanes[j], f(i + j));
    }
    // The remaining elements, at most kLanes - 1, are reduced in vectors of decreasing width.
    rest<kLanes / 2, 0, kLast>(lanes, n, i, combine, f);
    T last = start;
    for (; i < n; ++i) last = combine(last, f(i));
    lanes[0] = combine(lanes[0], last);
    for (int k = kLast; k < kLanes; k += kLast) {
      for (int j = 0; j < kLast; ++j) lanes[j] = combine(lanes[j], lanes[k + j]);
    }
    return combine(combine(combine(lanes[0], lanes[4]), combine(lanes[1], lanes[5])),
                   combine(combine(lanes[2], lanes[6]), combine(lanes[3], lanes[7])));
  }

  // Long sums are split into pieces whose results are added in double, so the error does not grow
  // with n.
  template <class F>
  DL_FN auto sum(int64_t n, const F& f) const {
    using T = std::decay_t<decltype(f(int64_t(0)))>;
    const auto add = [](T a, T b) { return a + b; };
    constexpr int64_t kPiece = 4096;
    if (n <= kPiece) return reduce(n, T(0), add, f);
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    Wide total = 0;
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t count = n - begin < kPiece ? n - begin : kPiece;
      total += reduce(count, T(0), add, [&](int64_t i) { return f(begin + i); });
    }
    return static_cast<T>(total);
  }

  // Compute two sums in one pass: of `first` and of `second` of the pairs f(i).
  template <class F>
  DL_FN auto sum_pair(int64_t n, const F& f) const {
    using T = decltype(f(int64_t(0)).first);
    constexpr int kLanes = 128 / static_cast<int>(sizeof(T));
    constexpr int64_t kPiece = 2048;
    Pair<double> total{0, 0};
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t end = n - begin < kPiece ? n : begin + kPiece;
      T a[kLanes] = {}, b[kLanes] = {};
      int64_t i = begin;
      for (; i + kLanes <= end; i += kLanes) {
        DL_VECTOR_LOOP
        for (int j = 0; j < kLanes; ++j) {
          const Pair<T> both = f(i + j);
          a[j] += both.first;
          b[j] += both.second;
        }
      }
      for (; i < end; ++i) {
        const Pair<T> both = f(i);
        a[i % kLanes] += both.first;
        b[i % kLanes] += both.second;
      }
      for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int j = 0; j < width; ++j) {
          a[j] += a[j + width];
          b[j] += b[j + width];
        }
      }
      total.first += static_cast<double>(a[0]);
      total.second += static_cast<double>(b[0]);
    }
    return total;
  }

  // Scan: call store(i, combination of load(0) … load(i)) for every i.
  template <class T, class Load, class Combine, class Store>
  DL_FN void scan(int64_t n, const Load& load, const Combine& combine, const Store& store) const {
    if (n == 0) return;
    T total = load(0);
    store(0, total);
    for (int64_t i = 1; i < n; ++i) {
      total = combine(total, load(i));
      store(i, total);
    }
  }

 private:
  // An extremum of at least `kLanes` elements, of which it may read some twice.
  template <int kLanes, class T, class Combine, class F>
  DL_FN static T extremum(int64_t n, const Combine& combine, const F& f) {
    T lanes[kLanes];
    const auto add = [&](int64_t first) {
      DL_VECTOR_LOOP
      for (int j = 0; j < kLanes; ++j) lanes[j] = combine(lanes[j], f(first + j));
    };
    DL_VECTOR_LOOP
    for (int j = 0; j < kLanes; ++j) lanes[j] = f(j);
    int64_t i = kLanes;
    for (; i + kLanes <= n; i += kLanes) add(i);
    if (i < n) add(n - kLanes);
    return detail::fold_lanes<kLanes>(lanes, combine);
  }

  // Process groups of `width` elements, then of half as many, down to `least`.
  template <int width, int at, int least, class T, class Combine, class F>
  DL_FN static void rest(T* lanes, int64_t n, int64_t& i, const Combine& combine, const F& f) {
    if (n - i >= width) {
      DL_VECTOR_LOOP
      for (int j = 0; j < width; ++j) lanes[at + j] = combine(lanes[at + j], f(i + j));
      i += width;
    }
    if constexpr (width > least) rest<width / 2, at + width, least>(lanes, n, i, combine, f);
  }
};

// `width` is the number of steps per row, which decides whether threads pay off.
template <class Kernel>
void rows(const Launch& launch, int64_t count, int64_t width, const Kernel& kernel) {
  launch.parallel_for(count, grain_for(width), [&](int64_t begin, int64_t end) {
    const Block block;
    for (int64_t row = begin; row < end; ++row) kernel(block, row);
  });
}

// The same for kernels that only map elements; a core has no idle lanes.
template <class Kernel>
DL_FN void mapped_rows(const Launch& launch, int64_t count, int64_t, int64_t width,
                       const Kernel& kernel) {
  rows(launch, count, width, kernel);
}

// Rows with `count_in_buffer` elements of scratch memory per block: kernel(block, row, buffer).
template <class T, class Kernel>
void rows_with_buffer(const Launch& launch, int64_t count, int64_t width, int64_t count_in_buffer,
                      const Kernel& kernel) {
  launch.parallel_for(count, grain_for(width), [&](int64_t begin, int64_t end) {
    constexpr int64_t kSmall = 1024;
    alignas(64) T small[kSmall];
    T* buffer = small;
    Workspace<T> large;
    if (count_in_buffer > kSmall) buffer = large.reserve(launch, count_in_buffer);
    const Block block;
    for (int64_t row = begin; row < end; ++row) kernel(block, row, buffer);
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_BLOCK_H_
