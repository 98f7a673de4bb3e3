// Loops over the words of a random stream, in the backend's implementation, and distributions.
// docs/random.md of dl-diopi-proto defines which element uses which part of the stream.
//
//   draw_words(launch, state, n, f, arrays...)        calls f(i, word, source, x...) for every i in
//                                                     [0, n)
//   draw_long_words(launch, state, n, f, arrays...)   the same with 64 bits each
//   draw_normals<C>(launch, state, n, f, arrays...)   f(i, number, x...) with standard normal
//                                                     numbers, computed in C
//
// `f` is a functor without references. `arrays` and x are as in parallel/elements.h; without
// arrays, f itself stores the results. If most 32-bit words suffice on their own, f may also have
// `in_fast_range(word)`, and `fast(i, word, x...)` for such words.
#ifndef DL_KERNELS_RANDOM_DRAWS_H_
#define DL_KERNELS_RANDOM_DRAWS_H_

#include "dl_kernels/parallel/elements.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/random/philox.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/draw_loops.h"
#else
#include "dl_kernels/cpu/draw_loops.h"
#endif

DL_KERNELS_BEGIN

// Uniform integers in [0, count): the upper half of the product of a word and the count. Words
// whose lower half is below 2^32 mod count are rejected, which makes all results equally likely.
// Source: Lemire, Fast random integer generation in an interval (TOMACS 2019).
struct Below {
  // Each attempt is rejected with a probability below 1/2.
  static constexpr uint64_t kAttempts = 128;

  uint64_t count;    // at most 2^32
  uint32_t refused;  // 2^32 mod count

  Below() = default;
  DL_FN explicit Below(uint64_t n)
      : count(n), refused(static_cast<uint32_t>((uint64_t(1) << 32) % n)) {}

  DL_FN uint64_t operator()(uint32_t word, const WordSource& source) const {
    for (uint64_t attempt = 1; static_cast<uint32_t>(word * count) < refused && attempt < kAttempts;
         ++attempt) {
      word = source.word(attempt);
    }
    return (word * count) >> 32;
  }
};

// The same from 64-bit words; a count of 0 stands for 2^64.
struct LongBelow {
  uint64_t count;
  uint64_t refused;  // 2^64 mod count

  LongBelow() = default;
  DL_FN explicit LongBelow(uint64_t n) : count(n), refused(n == 0 ? 0 : (0 - n) % n) {}

  DL_FN uint64_t operator()(uint64_t word, const WordSource& source) const {
    if (count == 0) return word;
    for (uint64_t attempt = 1; word * count < refused && attempt < Below::kAttempts; ++attempt)
      word = source.long_word(attempt);
    return upper_half(word, count);
  }

  DL_FN static uint64_t upper_half(uint64_t a, uint64_t b) {
#if defined(DL_UPPER_PRODUCT_INSTRUCTION)
    return gpu::upper_product(a, b);
#else
    return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
  }
};

// The same with a separate count for every element: the remainder is computed only if it can
// matter.
DL_FN uint64_t draw_below(uint64_t word, uint64_t count, const WordSource& source) {
  return word * count < count ? LongBelow(count)(word, source) : LongBelow::upper_half(word, count);
}

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_DRAWS_H_
