// Attention of single queries over keys and values at arbitrary addresses, as in serving a language
// model, where the keys of a sequence are rows of a pool, of pages or of a packed batch.
#ifndef DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_
#define DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_

#include <cmath>

#include "dl_kernels/base/wide.h"

DL_KERNELS_BEGIN

template <class C, class T>
DL_FN C dot(const C* a, const T* b, int64_t n) {
  // Independent partial sums, which the compiler vectorizes.
  constexpr int kLanes = 8;
  C sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    DL_UNROLL
    for (int j = 0; j < kLanes; ++j) sums[j] += a[i + j] * cast<C>(b[i + j]);
  }
  C sum = 0;
  for (; i < n; ++i) sum += a[i] * cast<C>(b[i]);
  for (int j = 0; j < kLanes; ++j) sum += sums[j];
  return sum;
}

// out [n] = sum over t < count of softmax(score)(t) · value(t) [n]. A score of -infinity masks a
// value; if all are masked, the result is 0. Online softmax: partial results are rescaled when a
// new maximum appears. Source: Milakov and Gimelshein, Online normalizer calculation for softmax
// (2018).
template <class C, class Score, class Value>
DL_FN void attend(C* out, int64_t n, int64_t count, const Score& score, const Value& value) {
  C running_max = -INFINITY, normalizer = 0;
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
  for (int64_t t = 0; t < count; ++t) {
    const C s = score(t);
    if (s == -INFINITY) continue;
    if (!(s <= running_max)) {
      const C correction = std::exp(running_max - s);
      normalizer *= correction;
      for (int64_t i = 0; i < n; ++i) out[i] *= correction;
      running_max = s;
    }
    const C weight = std::exp(s - running_max);
    const auto* const row = value(t);
    normalizer += weight;
    for (int64_t i = 0; i < n; ++i) out[i] += weight * cast<C>(row[i]);
  }
  for (int64_t i = 0; i < n && normalizer != 0; ++i) out[i] /= normalizer;
}

// Set columns and rows that belong to no sequence to 0.
template <class C>
struct ZeroItem {
  C* out;
  DL_FN void operator()(int64_t i) const { out[i] = 0; }
};

// Causal attention over whole prompts.
template <class C>
struct ContextItem {
  C* out;
  const C *q, *k, *v;
  const int64_t *lengths, *ends;
  int64_t heads, width, longest;
  C scale;
  DL_FN void operator()(int64_t item) const {
    const int64_t h = item % heads, p = item / heads % longest, n = item / (heads * longest);
    // Lengths and ends are checked separately; this may run with a pair that is inconsistent.
    if (p >= lengths[n] || ends[n] < lengths[n]) return;
    const int64_t first = ends[n] - lengths[n];
    const auto at = [&](const C* all, int64_t t) {
      return all + ((first + t) * heads + h) * width;
    };
    attend(
        out + ((first + p) * heads + h) * width, width, p + 1,
        [&](int64_t t) { return dot(at(q, p), at(k, t), width) * scale; },
        [&](int64_t t) { return at(v, t); });
  }
};

struct EndItem {
  int64_t* ends;
  const int64_t *starts, *lengths;
  DL_FN void operator()(int64_t n) const { ends[n] = starts[n] < 0 ? -1 : starts[n] + lengths[n]; }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_
