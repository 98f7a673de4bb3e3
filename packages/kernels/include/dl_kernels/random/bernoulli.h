// Bernoulli trials from words of the random stream.
#ifndef DL_KERNELS_RANDOM_BERNOULLI_H_
#define DL_KERNELS_RANDOM_BERNOULLI_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

// True with probability p in [0, 1]: the word is compared with the first 32 binary digits of p, and
// further digits are drawn if they are equal.
struct BernoulliTrial {
  uint32_t whole;  // p · 2^32, saturated to the largest word
  double rest;

  BernoulliTrial() = default;
  DL_FN explicit BernoulliTrial(double p)
      : whole(p < 1.0 ? static_cast<uint32_t>(p * 0x1p32) : UINT32_MAX),
        rest(p * 0x1p32 - static_cast<double>(whole)) {}

  // Return true if the word decides alone; `fast` gives the result then.
  DL_FN bool in_fast_range(uint32_t word) const { return word != whole; }
  DL_FN bool fast(uint32_t word) const { return word < whole; }

  DL_FN bool operator()(uint32_t word, const WordSource& source) const {
    return word == whole ? by_further_digits(rest, source.seed, source.step, source.lane)
                         : word < whole;
  }

 private:
  // Passed by value: if an address escaped, all callers would keep a copy in memory.
  DL_COLD_FN static bool by_further_digits(double digits, uint64_t seed, uint64_t step,
                                           int64_t lane) {
    const WordSource source{seed, step, lane};
    for (uint64_t attempt = 1; attempt < 3; ++attempt) {
      digits *= 0x1p32;
      const double drawn = source.word(attempt);
      if (drawn >= digits) return false;
      if (drawn + 1.0 <= digits) return true;
      digits -= drawn;
    }
    return false;
  }
};

// Writes 0 or 1 in the compute type.
struct BernoulliDraw {
  BernoulliTrial trial;

  template <class C>
  DL_FN void operator()(int64_t, uint32_t word, const WordSource& source, C& y) const {
    y = cast<C>(trial(word, source));
  }
  DL_FN bool in_fast_range(uint32_t word) const { return trial.in_fast_range(word); }
  template <class C>
  DL_FN void fast(int64_t, uint32_t word, C& y) const {
    y = cast<C>(trial.fast(word));
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_BERNOULLI_H_
