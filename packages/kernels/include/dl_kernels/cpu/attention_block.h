// Code shared by attention and its gradient on the CPU: operands prepared for the tiles, and the
// scores of a block of keys with a block of queries. Scores are stored transposed, keys by queries:
// the softmax over keys is then vectorized over queries, and the scores are an operand of the next
// product without a transposition.
#ifndef DL_KERNELS_CPU_ATTENTION_BLOCK_H_
#define DL_KERNELS_CPU_ATTENTION_BLOCK_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dl_kernels/attention/attention_dropout.h"
#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/small_gemm.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kQueryBlock = 64;

inline int64_t round_up(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

// A matrix of the compute type whose rows are dense and padded to whole tiles.
template <class C>
struct Rows {
  const C* data;
  int64_t step;
};

// Used in place if the tiles can read it, otherwise copied and padded with zeros.
template <class T, class C>
Rows<C> ready_rows(const Strided4<const T>& tensor, int64_t n, int64_t h, int64_t first,
                   int64_t count, int64_t width, C* copy) {
  const T* from = tensor.at(n, h, first);
  const int64_t padded = round_up(width, SmallGemm<C>::kColumns);
  if constexpr (std::is_same_v<T, C>) {
    if (tensor.column == 1 && padded == width) return {from, tensor.row};
  }
  for (int64_t i = 0; i < count; ++i) {
    const T* line = from + i * tensor.row;
    C* to = copy + i * padded;
    if (tensor.column == 1) {
      DL_VECTOR_LOOP
      for (int64_t d = 0; d < width; ++d) to[d] = cast<C>(line[d]);
    } else {
      for (int64_t d = 0; d < width; ++d) to[d] = cast<C>(line[d * tensor.column]);
    }
    for (int64_t d = width; d < padded; ++d) to[d] = C(0);
  }
  return {copy, padded};
}

// to[d][i] = scale · rows[i][d] for kQueryBlock columns i, zero from `count` on.
template <class C>
void transpose_rows(const Rows<C>& rows, int64_t count, int64_t width, C scale, C* to) {
  constexpr int64_t kSide = 8;
  const int64_t columns = round_up(count, SmallGemm<C>::kColumns);
  for (int64_t d0 = 0; d0 < width; d0 += kSide) {
    const int64_t d1 = d0 + kSide < width ? d0 + kSide : width;
    int64_t i = 0;
    for (; d1 - d0 == kSide && i + kSide <= count; i += kSide) {
      C square[kSide][kSide];
      for (int64_t j = 0; j < kSide; ++j) {
        const C* from = rows.data + (i + j) * rows.step + d0;
        for (int64_t d = 0; d < kSide; ++d) square[j][d] = from[d] * scale;
      }
      for (int64_t d = 0; d < kSide; ++d) {
        C* line = to + (d0 + d) * kQueryBlock + i;
        for (int64_t j = 0; j < kSide; ++j) line[j] = square[j][d];
      }
    }
    for (int64_t d = d0; d < d1; ++d) {
      for (int64_t j = i; j < columns; ++j) {
        to[d * kQueryBlock + j] = j < count ? rows.data[j * rows.step + d] * scale : C(0);
      }
    }
  }
}

// Effect of a mask on a block of scores.
enum class MaskedBlock { visible, mixed, hidden };

// Return whether `is` holds for no element, some or all elements of a block of a mask.
template <class M, class F>
MaskedBlock masked_block(const AttentionMask& mask, int64_t start, int64_t queries, int64_t keys,
                         const F& is) {
  const M* from = static_cast<const M*>(mask.data) + start;
  const int64_t rows = mask.row == 0 ? 1 : queries, columns = mask.column == 0 ? 1 : keys;
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const M* line = from + i * mask.row;
    int in_row = 0;
    if (mask.column == 1) {
      DL_VECTOR_LOOP
      for (int64_t k = 0; k < columns; ++k) in_row += is(line[k]);
    } else {
      for (int64_t k = 0; k < columns; ++k) in_row += is(line[k * mask.column]);
    }
    count += in_row;
    if (count != 0 && count != (i + 1) * columns) return MaskedBlock::mixed;
  }
  return count == 0 ? MaskedBlock::visible : MaskedBlock::hidden;
}

// Blocks that are hidden from all queries need no scores. Source: Dong et al., "Flex Attention: A
// Programming Model for Generating Optimized Attention Kernels" (2024), section 4.2.
template <class T, class C>
MaskedBlock masked_block(const AttentionMask& mask, int64_t n, int64_t h, int64_t query,
                         int64_t queries, int64_t key, int64_t keys) {
  const int64_t start = n * mask.batch + h * mask.head + query * mask.row + key * mask.column;
  const auto by_value = [&](auto sample) {
    using M = decltype(sample);
    constexpr C kHidden = -std::numeric_limits<C>::infinity();
    const auto hides = [](M value) { return cast<C>(value) == kHidden; };
    // Other values change the scores.
    const MaskedBlock found = masked_block<M>(mask, start, queries, keys, hides);
    return found == MaskedBlock::hidden ? found : MaskedBlock::mixed;
  };
  switch (mask.kind) {
    case MaskKind::boolean:
      return masked_block<uint8_t>(mask, start, queries, keys, [](uint8_t x) { return x == 0; });
    case MaskKind::hiding:
      return masked_block<uint8_t>(mask, start, queries, keys, [](uint8_t x) { return x != 0; });
    case MaskKind::element:
      return by_value(T{});
    case MaskKind::compute:
      return by_value(C{});
    default:
      return MaskedBlock::visible;
  }
}

template <class M, bool kHides = false, class C>
void add_mask(const AttentionMask& mask, int64_t n, int64_t h, int64_t query, int64_t queries,
              int64_t key, int64_t keys, C* scores) {
  const M* from = static_cast<const M*>(mask.data) + n * mask.batch + h * mask.head +
                  query * mask.row + key * mask.column;
  const auto apply = [](C* score, M value) {
    if constexpr (kIsBool<M>) {
      if (cast<bool>(value) == kHides) *score = -std::numeric_limits<C>::infinity();
    } else {
      *score += cast<C>(value);
    }
  };
  for (int64_t k = 0; k < keys; ++k) {
    C* line = scores + k * kQueryBlock;
    const M* at = from + k * mask.column;
    if (mask.row == 0) {
      for (int64_t i = 0; i < queries; ++i) apply(line + i, *at);
    } else {
      for (int64_t i = 0; i < queries; ++i) apply(line + i, at[i * mask.row]);
    }
  }
}

// Subtract the slope times the distance of query and key.
template <class C>
void add_distances(const AttentionShape& shape, C slope, int64_t query, int64_t queries,
                   int64_t key, int64_t keys, C* scores) {
  for (int64_t k = 0; k < keys; ++k) {
    C* line = scores + k * kQueryBlock;
    const int64_t signed_distance = query + shape.shift() - key - k;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t distance =
          signed_distance + i < 0 ? -(signed_distance + i) : signed_distance + i;
      line[i] -= slope * static_cast<C>(distance);
    }
  }
}

// factors[key][query] of a block of weights: 0 for dropped weights.
template <class C>
void draw_factors(const AttentionDropout& dropout, const RandomState& state, int64_t n, int64_t h,
                  int64_t query, int64_t queries, int64_t key, int64_t keys, C* factors) {
  constexpr int64_t kSteps = 16;
  const C scale = static_cast<C>(dropout.scale);
  for (int64_t i = 0; i < kQueryBlock; ++i) {
    if (i >= queries) {
      for (int64_t k = 0; k < keys; ++k) factors[k * kQueryBlock + i] = C(0);
      continue;
    }
    const uint64_t number = dropout.number(n, h, query + i, key);
    int64_t k = -static_cast<int64_t>(number % 4);
    for (uint64_t step = state.offset + number / 4; k < keys; step += kSteps) {
      alignas(64) Philox words[kSteps];
      for (int64_t s = 0; s < kSteps; ++s)
        words[s] = Philox(state.seed, step + static_cast<uint64_t>(s));
      for (int64_t e = 0; e < 4 * kSteps; ++e, ++k) {
        if (k < 0 || k >= keys) continue;
        const WordSource source{state.seed, step + static_cast<uint64_t>(e / 4), e % 4};
        factors[k * kQueryBlock + i] =
            dropout.kept(words[e / 4].word[e % 4], source) ? scale : C(0);
      }
    }
  }
}

template <class C>
void apply_factors(const C* factors, int64_t keys, int64_t columns, C* block) {
  for (int64_t k = 0; k < keys; ++k) {
    const C* by = factors + k * kQueryBlock;
    C* line = block + k * kQueryBlock;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i) line[i] = by[i] == C(0) ? C(0) : line[i] * by[i];
  }
}

// Masked scores of keys key … key + keys - 1 and queries query … query + queries - 1, as
// scores[key][query].
template <class T, class C>
void block_scores(const AttentionShape& shape, const AttentionMask& mask, int64_t n, int64_t h,
                  int64_t query, int64_t queries, int64_t key, int64_t keys, const Rows<C>& k,
                  const C* q, MaskedBlock masked, C* scores) {
  const int64_t columns = round_up(queries, SmallGemm<C>::kColumns);
  SmallGemm<C>::template multiply<Order::rows>(keys, columns, shape.width, k.data + key * k.step,
                                               k.step, q, kQueryBlock, scores, kQueryBlock, false);
  switch (masked == MaskedBlock::visible ? MaskKind::none : mask.kind) {
    case MaskKind::none:
      break;
    case MaskKind::boolean:
      add_mask<Bool>(mask, n, h, query, queries, key, keys, scores);
      break;
    case MaskKind::hiding:
      add_mask<Bool, true>(mask, n, h, query, queries, key, keys, scores);
      break;
    case MaskKind::element:
      add_mask<T>(mask, n, h, query, queries, key, keys, scores);
      break;
    case MaskKind::compute:
      add_mask<C>(mask, n, h, query, queries, key, keys, scores);
      break;
  }
  if (mask.slopes != nullptr)
    add_distances(shape, static_cast<C>(mask.slope(n, h)), query, queries, key, keys, scores);
  const int64_t last = query + queries - 1;
  if (shape.first_key(last) <= key && shape.end_key(query) >= key + keys) return;
  constexpr C kMasked = -std::numeric_limits<C>::infinity();
  for (int64_t j = 0; j < keys; ++j) {
    // First and one-past-last of the queries that attend to this key.
    const int64_t first = shape.first_query(key + j) - query;
    const int64_t end = shape.end_query(key + j) - query;
    C* line = scores + j * kQueryBlock;
    for (int64_t i = 0; i < first && i < queries; ++i) line[i] = kMasked;
    for (int64_t i = end < 0 ? 0 : end; i < queries; ++i) line[i] = kMasked;
  }
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ATTENTION_BLOCK_H_
