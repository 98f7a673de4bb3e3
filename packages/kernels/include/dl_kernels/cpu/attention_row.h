// Attention of a single query, as in decoding: scores are dot products with dense rows, and the
// result is a weighted sum of rows, so nothing is padded to a tile of queries.
#ifndef DL_KERNELS_CPU_ATTENTION_ROW_H_
#define DL_KERNELS_CPU_ATTENTION_ROW_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/attention/attention_dropout.h"
#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gemm.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace detail {

// scores[i] = q · row i of k, with `width` elements; q has the format of Gemv's `spread`.
template <class T, class C>
void row_scores(const T* k, int64_t row, int64_t count, int64_t width, const C* q, C* scores) {
  using Tile = Gemv<T, C>;
  constexpr int64_t kLanes = Tile::kLanes;
  if (count < kLanes || width < kLanes || width > Tile::kLongest) {
    const int64_t whole = width / kLanes * kLanes;
    const C* rest = q + (whole == width ? 0 : whole + kLanes - width);
    for (int64_t i = 0; i < count; ++i) {
      C normalizer = 0;
      for (int64_t d = 0; d < whole; ++d) normalizer += cast<C>(k[i * row + d]) * q[d];
      for (int64_t d = whole; d < width; ++d) normalizer += cast<C>(k[i * row + d]) * rest[d];
      scores[i] = normalizer;
    }
    return;
  }
  for (int64_t next = 0; next < count; next += kLanes) {
    // The last group of rows overlaps the one before.
    const int64_t i = next + kLanes <= count ? next : count - kLanes;
    Tile::template multiply<1>(k + i * row, row, width, q, 0, scores + i, false);
  }
}

// Apply the mask to the scores of the keys from `key` on.
template <class T, class C>
void mask_row(const AttentionMask& mask, int64_t n, int64_t h, int64_t key, int64_t count,
              C* scores) {
  const int64_t start = n * mask.batch + h * mask.head + key * mask.column;
  const auto hide = [&](bool hidden) {
    const Bool* shift = static_cast<const Bool*>(mask.data) + start;
    for (int64_t i = 0; i < count; ++i) {
      if (cast<bool>(shift[i * mask.column]) == hidden)
        scores[i] = -std::numeric_limits<C>::infinity();
    }
  };
  const auto add = [&](const auto* shift) {
    for (int64_t i = 0; i < count; ++i) scores[i] += cast<C>(shift[start + i * mask.column]);
  };
  switch (mask.kind) {
    case MaskKind::none:
      return;
    case MaskKind::boolean:
      return hide(false);
    case MaskKind::hiding:
      return hide(true);
    case MaskKind::element:
      return add(static_cast<const T*>(mask.data));
    case MaskKind::compute:
      return add(static_cast<const C*>(mask.data));
  }
}

// Return true if single-query attention can read dense rows and has no dropout.
template <class T>
bool has_rows(const Strided4<const T>& k, const Strided4<const T>& v,
              const AttentionDropout& dropout) {
  return k.column == 1 && v.column == 1 && !dropout.active;
}

// Workspace elements of attend_row.
template <class T, class C>
int64_t row_space(const AttentionShape& shape) {
  return shape.keys + Gemv<T, C>::spread_size(shape.width) + shape.value_width;
}

// Compute head h of sample n, which has one query; `own` is the shape of the sample.
template <class T, class C>
void attend_row(const AttentionShape& shape, const AttentionShape& own, int64_t n, int64_t h,
                const Strided4<const T>& q, const Strided4<const T>& k, const Strided4<const T>& v,
                const AttentionMask& mask, const Strided4<T>& out, const Strided4<C>& lse,
                C* space) {
  const int64_t size = Gemv<T, C>::spread_size(own.width), kh = h / shape.group();
  C* const scores = space;
  C* const query = scores + own.keys;
  C* const sums = query + size;
  const int64_t first = own.first_key(0), last = own.end_key(0);
  const int64_t count = last > first ? last - first : 0;
  const C scale = static_cast<C>(own.scale);
  Gemv<T, C>::spread(query, shape.query_rows(n, q).at(n, h, 0), q.column, own.width);
  for (int64_t d = 0; d < size; ++d) query[d] *= scale;
  row_scores(shape.key_rows(n, k).at(n, kh, first), k.row, count, own.width, query, scores);
  mask_row<T>(mask, n, h, first, count, scores);
  const C slope = mask.slopes == nullptr ? C(0) : static_cast<C>(mask.slope(n, h));
  C max_score = -std::numeric_limits<C>::infinity(), normalizer = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t distance = own.shift() - first - i;
    if (mask.slopes != nullptr)
      scores[i] -= slope * static_cast<C>(distance < 0 ? -distance : distance);
    max_score = max_nan(max_score, scores[i]);
  }
  // If every key is masked, the maximum is -infinity and must not be subtracted.
  const C shift = max_score == -std::numeric_limits<C>::infinity() ? C(0) : max_score;
  DL_VECTOR_LOOP
  for (int64_t i = 0; i < count; ++i) scores[i] = math::exp(scores[i] - shift);
  for (int64_t i = 0; i < count; ++i) normalizer += scores[i];
  for (int64_t d = 0; d < own.value_width; ++d) sums[d] = 0;
  add_products(1, own.value_width, count, Matrix<const C>{scores, 0, 1},
               shape.key_rows(n, v).at(n, kh, first), v.row, sums, own.value_width);
  const C factor = normalizer == C(0) ? C(0) : C(1) / normalizer;
  T* to = shape.query_rows(n, out).at(n, h, 0);
  for (int64_t d = 0; d < own.value_width; ++d)
    to[d * out.column] = count == 0 ? cast<T>(C(0)) : cast<T>(sums[d] * factor);
  const Strided4<C> logs = shape.query_rows(n, lse);
  if (logs.data != nullptr) *logs.at(n, h, 0) = max_score + std::log(normalizer);
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ATTENTION_ROW_H_
