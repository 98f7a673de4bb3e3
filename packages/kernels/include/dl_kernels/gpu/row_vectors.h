// Vectorized loads and stores: adjacent elements that a thread accesses with 16 bytes at a time.
#ifndef DL_KERNELS_GPU_ROW_VECTORS_H_
#define DL_KERNELS_GPU_ROW_VECTORS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int kVectorBytes = 16;

// Elements of T per access.
template <class T>
inline constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(T));

// `N` elements, in accesses of 16 bytes or one shorter access.
template <class T, int N>
struct alignas(sizeof(T) * N < kVectorBytes ? sizeof(T) * N : kVectorBytes) Packed {
  T at[N];
};

template <class T>
DL_FN bool is_aligned(const T* address, int elements) {
  const int64_t bytes = static_cast<int64_t>(sizeof(T)) * elements;
  return reinterpret_cast<uintptr_t>(address) % (bytes < kVectorBytes ? bytes : kVectorBytes) == 0;
}

template <class C, class T, int N>
DL_DEVICE void load_vector(const T* from, C (&to)[N]) {
  Packed<T, N> loaded;
  if constexpr (sizeof(T) * N % kVectorBytes == 0) {
    constexpr int kPieces = static_cast<int>(sizeof(T)) * N / kVectorBytes;
    uint32_t words[kPieces * 4];
    DL_UNROLL
    for (int k = 0; k < kPieces; ++k) {
      uint32_t four[4];
      load_words(reinterpret_cast<const unsigned char*>(from) + k * kVectorBytes, four);
      __builtin_memcpy(words + k * 4, four, sizeof(four));
    }
    if constexpr (std::is_same_v<T, BFloat16> && std::is_same_v<C, float>) {
      // One instruction each; compilers would otherwise shift the upper half down and up again.
      DL_UNROLL
      for (int j = 0; j < N; ++j)
        to[j] = bit_cast<float>(j % 2 == 0 ? words[j / 2] << 16 : words[j / 2] & 0xffff0000u);
      return;
    }
    __builtin_memcpy(&loaded, words, sizeof(words));
  } else {
    loaded = *reinterpret_cast<const Packed<T, N>*>(from);
  }
  DL_UNROLL
  for (int j = 0; j < N; ++j) to[j] = cast<C>(loaded.at[j]);
}

// Load a whole vector, or as many elements as exist.
template <class C, class T, int N>
DL_DEVICE void load_some(const T* from, bool whole, int count, C (&to)[N]) {
  if (whole) {
    load_vector(from, to);
  } else {
    DL_UNROLL
    for (int j = 0; j < N; ++j) {
      if (j < count) to[j] = cast<C>(from[j]);
    }
  }
}

template <class T, class C, int N>
DL_DEVICE void store_vector(T* to, const C (&from)[N]) {
  Packed<T, N> stored;
  DL_UNROLL
  for (int j = 0; j < N; ++j) stored.at[j] = cast<T>(from[j]);
  if constexpr (sizeof(T) * N % kVectorBytes == 0) {
    constexpr int kPieces = static_cast<int>(sizeof(T)) * N / kVectorBytes;
    uint32_t words[kPieces][4];
    __builtin_memcpy(words, &stored, sizeof(words));
    DL_UNROLL
    for (int k = 0; k < kPieces; ++k)
      store_words(reinterpret_cast<unsigned char*>(to) + k * kVectorBytes, words[k]);
  } else {
    *reinterpret_cast<Packed<T, N>*>(to) = stored;
  }
}

template <class T, class C, int N>
DL_DEVICE void store_some(T* to, bool whole, int count, const C (&from)[N]) {
  if (whole) {
    store_vector(to, from);
  } else {
    DL_UNROLL
    for (int j = 0; j < N; ++j) {
      if (j < count) to[j] = cast<T>(from[j]);
    }
  }
}

// Return the smallest power of two that is not less than `count`, but at most `most`, itself a
// power of two.
inline int power_of_two(int64_t count, int most) {
  int power = 1;
  while (power < count && power < most) power *= 2;
  return power;
}

// Rarely needed, and too long to be inlined.
template <class U>
DL_COLD_FN U wide_quotient(U a, U b) {
  return a / b;
}

DL_DEVICE int64_t quotient_of(int64_t a, int64_t b) {
  if (a <= UINT32_MAX && b <= UINT32_MAX)
    return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return static_cast<int64_t>(wide_quotient(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}
DL_DEVICE int64_t remainder_of(int64_t a, int64_t b) { return a - quotient_of(a, b) * b; }

// Compute the element offsets of row `index`, with 32-bit divisions if possible.
template <class Plan, int N>
DL_DEVICE void row_offsets(const Plan& plan, int64_t index, int64_t (&offsets)[N]) {
  DL_UNROLL
  for (int k = 0; k < N; ++k) offsets[k] = 0;
  DL_NO_UNROLL
  for (int d = plan.ndim - 1; d > 0; --d) {
    const int64_t extent = plan.shape[d], rest = quotient_of(index, extent);
    const int64_t at = index - rest * extent;
    index = rest;
    if constexpr (N == 1) {
      offsets[0] += at * plan.strides[0][d];
    } else {
      DL_UNROLL
      for (int k = 0; k < N; ++k) offsets[k] += at * plan.strides[k][d];
    }
  }
  DL_UNROLL
  for (int k = 0; k < N; ++k) offsets[k] += index * plan.strides[k][0];
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ROW_VECTORS_H_
