// Philox4x32-10: random numbers as a function of a seed and a counter, so that any element can be
// drawn by any thread.
//
// The stream is a fact of the contract (dl/handles.h): key = seed, counter = (step, 0) with 64-bit
// halves, and every step gives four 32-bit words. Elements are numbered row-major. Operators draw
// in one of two ways:
//
//   one word each     element i takes word i % 4 of step offset + i / 4;               n elements
//   take ⌈n / 4⌉ steps two words each    element i takes words 2·(i % 2) and 2·(i % 2) + 1 (low,
//   high)
//                     of step offset + i / 2;                                          n elements
//                     take ⌈n / 2⌉ steps
//
// Normal numbers take one word each and are made in pairs by Box and Muller: words 0, 1 give
// elements 0, 1 of a step and words 2, 3 give elements 2, 3.
#ifndef DL_KERNELS_PHILOX_H_
#define DL_KERNELS_PHILOX_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/handles.h"
#include "dl_kernels/numeric.h"
#include "dl_kernels/vector_math.h"

DL_KERNELS_BEGIN

struct Philox {
  uint32_t word[4];

  // The four words of `step`.
  DL_FN Philox(uint64_t seed, uint64_t step) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    uint32_t c0 = static_cast<uint32_t>(step), c1 = static_cast<uint32_t>(step >> 32), c2 = 0,
             c3 = 0;
    for (int round = 0; round < 10; ++round) {
      const uint64_t left = uint64_t(0xd2511f53u) * c0, right = uint64_t(0xcd9e8d57u) * c2;
      const uint32_t n0 = static_cast<uint32_t>(right >> 32) ^ c1 ^ key0;
      const uint32_t n2 = static_cast<uint32_t>(left >> 32) ^ c3 ^ key1;
      c1 = static_cast<uint32_t>(right);
      c3 = static_cast<uint32_t>(left);
      c0 = n0;
      c2 = n2;
      key0 += 0x9e3779b9u;
      key1 += 0xbb67ae85u;
    }
    word[0] = c0;
    word[1] = c1;
    word[2] = c2;
    word[3] = c3;
  }
};

// The state that a generator handle carries.
struct RandomState {
  uint64_t seed, offset;
};

// Reads the state and takes `steps` steps out of it.
inline RandomState take_steps(diopiGeneratorHandle_t generator, int64_t steps) {
  RandomState state{};
  read_generator(generator, &state.seed, &state.offset);
  write_generator(generator, state.seed, state.offset + static_cast<uint64_t>(steps));
  return state;
}

// In [0, 1), with as many bits as T has.
template <class T>
DL_FN compute_t<T> uniform_from(uint32_t word) {
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(word) * 0x1p-32;
  } else {
    constexpr int kBits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    return static_cast<float>(word >> (32 - kBits)) * bit_cast<float>(uint32_t(127 - kBits) << 23);
  }
}

// Two independent normal numbers of mean 0 and deviation 1.
template <class C>
DL_FN void normal_pair(uint32_t first, uint32_t second, C* a, C* b) {
  // In (0, 1]: the logarithm is finite.
  const C u = static_cast<C>(first) * C(0x1p-32) + C(0x1p-33);
  const C radius = std::sqrt(C(-2) * math::log(u));
  const C angle = static_cast<C>(second) * C(6.283185307179586476925 * 0x1p-32);
  *a = radius * std::cos(angle);
  *b = radius * std::sin(angle);
}

DL_KERNELS_END

#endif  // DL_KERNELS_PHILOX_H_
