// Attention of single queries over keys and values that lie anywhere: what serving a language model
// needs, where the keys of a sequence are rows of a pool, of pages, or of a packed batch.
#ifndef DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_
#define DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_

#include <cmath>

#include "dl_kernels/base/wide.h"

DL_KERNELS_BEGIN

template <class C>
DL_FN C dot(const C* a, const C* b, int64_t n) {
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// out [n] = softmax of score(t), t < count, times value(t) [n]. A score of -infinity hides a value;
// where all are hidden, the result is 0.
template <class C, class Score, class Value>
DL_FN void attend(C* out, int64_t n, int64_t count, const Score& score, const Value& value) {
  C top = -INFINITY, total = 0;
  for (int64_t t = 0; t < count; ++t) {
    const C s = score(t);
    top = s > top || s != s ? s : top;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
  if (top == -INFINITY) return;
  for (int64_t t = 0; t < count; ++t) {
    const C weight = std::exp(score(t) - top);
    const C* const row = value(t);
    total += weight;
    for (int64_t i = 0; i < n; ++i) out[i] += weight * row[i];
  }
  for (int64_t i = 0; i < n; ++i) out[i] /= total;
}

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_TOKEN_ATTENTION_H_
