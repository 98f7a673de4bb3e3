// Chances: what makes true or false of a word of the random stream.
#ifndef DL_KERNELS_RANDOM_BERNOULLI_H_
#define DL_KERNELS_RANDOM_BERNOULLI_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

// True with the probability p in [0, 1]: the word is the first digits of a number that is compared
// with p, and further ones are drawn where these are the first digits of p too.
struct BernoulliTrial {
  uint32_t whole;  // of p · 2^32, but not more than the largest word
  double rest;

  BernoulliTrial() = default;
  DL_FN explicit BernoulliTrial(double p)
      : whole(p < 1.0 ? static_cast<uint32_t>(p * 0x1p32) : UINT32_MAX),
        rest(p * 0x1p32 - static_cast<double>(whole)) {}

  // Whether the word decides alone, and how it does then.
  DL_FN bool in_fast_range(uint32_t word) const { return word != whole; }
  DL_FN bool fast(uint32_t word) const { return word < whole; }

  DL_FN bool operator()(uint32_t word, const WordSource& source) const {
    return word == whole ? by_further_digits(rest, source.seed, source.step, source.lane)
                         : word < whole;
  }

 private:
  // By value: of what a call is given an address of, every way to it keeps a copy in memory.
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

// Writes 0 or 1 in the type that is computed in.
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
