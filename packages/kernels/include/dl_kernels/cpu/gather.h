// Conversion between strided memory of any element type and small dense buffers of the compute
// type.
#ifndef DL_KERNELS_CPU_GATHER_H_
#define DL_KERNELS_CPU_GATHER_H_

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace detail {

// Elements of a buffer; several buffers fit into the first-level cache together.
inline constexpr int64_t kChunk = 256;

template <class C, class T>
DL_FN void load_dense(C* to, const T* from, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) {
    for (; i + 8 <= n; i += 8) {
      _mm256_storeu_ps(
          to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
  }
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<T, Half>) {
    for (; i + 4 <= n; i += 4)
      vst1q_f32(to + i, vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16*>(from + i))));
  }
#endif
  DL_VECTOR_LOOP
  for (int64_t j = i; j < n; ++j) to[j] = cast<C>(from[j]);
}

template <class T, class C>
DL_FN void store_dense(T* to, const C* from, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
    }
  }
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<T, Half>) {
    for (; i + 4 <= n; i += 4)
      vst1_f16(reinterpret_cast<__fp16*>(to + i), vcvt_f16_f32(vld1q_f32(from + i)));
  }
#endif
  DL_VECTOR_LOOP
  for (int64_t j = i; j < n; ++j) to[j] = cast<T>(from[j]);
}

template <class C, class T>
__attribute__((noinline)) void gather(C* to, const T* from, int64_t step, int64_t n) {
  if (step == 1) {
    load_dense(to, from, n);
  } else if (step == 0) {
    const C value = cast<C>(*from);
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (step == 2) {
    // Loops with constant steps vectorize.
    for (int64_t i = 0; i < n; ++i) to[i] = cast<C>(from[2 * i]);
  } else if (step == -1) {
    for (int64_t i = 0; i < n; ++i) to[i] = cast<C>(from[-i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = cast<C>(from[i * step]);
  }
}

template <class T, class C>
__attribute__((noinline)) void scatter(T* to, int64_t step, const C* from, int64_t n) {
  if (step == 1) {
    store_dense(to, from, n);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * step] = cast<T>(from[i]);
  }
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GATHER_H_
