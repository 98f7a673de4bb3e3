// Philox4x32-10, a counter-based generator: random numbers are a function of a seed and a counter,
// so any thread can draw any element. Source: Salmon et al., Parallel random numbers: as easy as 1,
// 2, 3 (SC 2011). The assignment of the stream to elements is part of the contract: docs/random.md
// of dl-diopi-proto.
#ifndef DL_KERNELS_RANDOM_PHILOX_H_
#define DL_KERNELS_RANDOM_PHILOX_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/handles.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/math/vector_math.h"
#include "dl_kernels/math/vector_trigonometry.h"

DL_KERNELS_BEGIN

struct Philox {
  uint32_t word[4];

  Philox() = default;

  // The four words of `step`; `attempt` > 0 gives further words after a rejection.
  DL_FN Philox(uint64_t seed, uint64_t step, uint64_t attempt = 0) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    uint32_t c0 = static_cast<uint32_t>(step), c1 = static_cast<uint32_t>(step >> 32);
    uint32_t c2 = static_cast<uint32_t>(attempt), c3 = static_cast<uint32_t>(attempt >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t left = product(0xd2511f53u, c0), right = product(0xcd9e8d57u, c2);
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

 private:
  DL_FN static uint64_t product(uint32_t a, uint32_t b) {
#if DL_KERNELS_GPU
    return gpu::wide_product(a, b);
#else
    return uint64_t(a) * b;
#endif
  }
};

// Return one of the two 64-bit numbers of a step.
DL_FN uint64_t long_lane(const Philox& random, int64_t lane) {
  return random.word[2 * lane] | static_cast<uint64_t>(random.word[2 * lane + 1]) << 32;
}

// The origin of an element's word, from which the words of further, rare attempts are derived.
struct WordSource {
  uint64_t seed, step;
  int64_t lane;

  DL_COLD_FN uint32_t word(uint64_t attempt) const {
    return Philox(seed, step, attempt).word[lane];
  }
  DL_COLD_FN uint64_t long_word(uint64_t attempt) const {
    return long_lane(Philox(seed, step, attempt), lane);
  }
};

// Number of steps for n elements that use one word, or two.
DL_FN int64_t word_steps(int64_t n) { return (n + 3) / 4; }
DL_FN int64_t long_word_steps(int64_t n) { return (n + 1) / 2; }

// The state of a generator handle.
struct RandomState {
  uint64_t seed, offset;
};

// Read the state and advance the generator by `steps` steps.
inline RandomState take_steps(diopiGeneratorHandle_t generator, int64_t steps) {
  RandomState state{};
  read_generator(generator, &state.seed, &state.offset);
  write_generator(generator, state.seed, state.offset + static_cast<uint64_t>(steps));
  return state;
}

// Uniform in [0, 1), with as many digits as a float or a double has.
DL_FN float unit_float(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
DL_FN double unit_double(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Box-Muller transform: two independent standard normal numbers from a number in (0, 1], whose
// logarithm is finite, and an angle. Source: Box and Muller, A note on the generation of random
// normal deviates (1958).
template <class C>
DL_FN void normal_pair(C u, C angle, C* pair) {
  const C radius = std::sqrt(C(-2) * math::log(u));
  C sine, cosine;
  math::sine_and_cosine(angle, &sine, &cosine);
  pair[0] = radius * cosine;
  pair[1] = radius * sine;
}

inline constexpr double kTwoPi = 6.283185307179586476925;

// The normal numbers of a step, in their compute type.
template <class C>
inline constexpr int64_t kNormalsPerStep = std::is_same_v<C, double> ? 2 : 4;

DL_FN void normal_pair_of_words(uint32_t first, uint32_t second, float* pair) {
  normal_pair(static_cast<float>(first) * 0x1p-32f + 0x1p-33f,
              static_cast<float>(second) * static_cast<float>(kTwoPi * 0x1p-32), pair);
}

DL_FN void normals_of(const Philox& random, float* numbers) {
  normal_pair_of_words(random.word[0], random.word[1], numbers);
  normal_pair_of_words(random.word[2], random.word[3], numbers + 2);
}

DL_FN void normals_of(const Philox& random, double* numbers) {
  normal_pair(unit_double(long_lane(random, 0)) + 0x1p-54,
              unit_double(long_lane(random, 1)) * kTwoPi, numbers);
}

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_PHILOX_H_
