// Sampling parameters of each sequence (top-k, top-p), completed with defaults.
#ifndef DL_KERNELS_RANDOM_TOKEN_LIMITS_H_
#define DL_KERNELS_RANDOM_TOKEN_LIMITS_H_

#include <cstdint>

#include "dl_kernels/base/boolean.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/random/token_draw.h"

DL_KERNELS_BEGIN

// The parameters of one sequence of a call.
struct Limits {
  int64_t *top_ks, k;
  float *top_ps, p;
  bool has_ks, has_ps;

  DL_FN int64_t k_of(int64_t i) const { return has_ks ? top_ks[i] : k; }
  DL_FN float p_of(int64_t i) const { return has_ps ? top_ps[i] : p; }
  // Clamp to [0, 1]; NaN propagates.
  DL_FN static float limited(float p) { return p < 0.0f ? 0.0f : (p > 1.0f ? 1.0f : p); }
};

struct TopKLimitsItem {
  Limits limits;
  Bool* skip;
  DL_FN void operator()(int64_t i) const {
    int64_t k = limits.k_of(i);
    float p = limits.p_of(i);
    if (k == 0 && p == 0.0f) k = 1;
    if (k > 0 && p == 0.0f) p = 1.0f;
    limits.top_ks[i] = k > kMostCandidates ? kMostCandidates : k;
    limits.top_ps[i] = Limits::limited(p);
    skip[i] = Bool(k == 0);
  }
};

struct TopPLimitsItem {
  Limits limits;
  Bool* skip;
  float *initial, *decays, *least;
  int64_t* resets;
  float decay, smallest;
  int64_t reset;
  DL_FN void operator()(int64_t i) const {
    int64_t k = limits.k_of(i);
    const float p = limits.p_of(i);
    if (k == 0 && p == 0.0f) k = 1;
    limits.top_ks[i] = k;
    limits.top_ps[i] = initial[i] = Limits::limited(p);
    skip[i] = Bool(k > 0);
    decays[i] = decay > 0.0f && decay <= 1.0f ? decay : 1.0f;
    least[i] = smallest > 0.0f && smallest <= 1.0f ? smallest : 0.5f;
    resets[i] = reset;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_TOKEN_LIMITS_H_
