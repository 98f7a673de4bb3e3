// Gradients of attention on the CPU. The weights are recomputed block by block from the scores and
// the saved log-sum-exp. Source: Dao et al., FlashAttention (2022), section B.2.
#ifndef DL_KERNELS_CPU_ATTENTION_BACKWARD_H_
#define DL_KERNELS_CPU_ATTENTION_BACKWARD_H_

#include <cstdint>
#include <limits>

#include "dl_kernels/cpu/attention_block.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kKeyBlockBackward = 64;

template <class T, class C>
void write_rows(const Strided4<T>& to, int64_t n, int64_t h, int64_t first, int64_t count,
                int64_t width, const C* from, int64_t step, C scale) {
  for (int64_t i = 0; i < count; ++i) {
    T* line = to.at(n, h, first + i);
    const C* at = from + i * step;
    for (int64_t d = 0; d < width; ++d) line[d * to.column] = cast<T>(at[d] * scale);
  }
}

// scores: in, weights; grads: in, gradients of the weights; out, gradients of the scores.
template <class C>
void score_gradients(int64_t keys, int64_t columns, const C* lse, const C* delta, C* scores,
                     C* grads) {
  for (int64_t k = 0; k < keys; ++k) {
    C* p = scores + k * kQueryBlock;
    C* g = grads + k * kQueryBlock;
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i) {
      const C weight = math::exp(p[i] - lse[i]);
      p[i] = weight;
      g[i] = weight * (g[i] - delta[i]);
    }
  }
}

}  // namespace detail

// One task per key head: the gradients of all query heads that share it are accumulated.
template <class T, class C = compute_t<T>>
void attention_backward(const Launch& launch, const AttentionShape& shape,
                        const Strided4<const T>& grad_out, const Strided4<const T>& q,
                        const Strided4<const T>& k, const Strided4<const T>& v,
                        const Strided4<const T>& out, const Strided4<const C>& lse,
                        const AttentionMask& mask, const AttentionDropout& dropout,
                        const Strided4<T>& grad_q, const Strided4<T>& grad_k,
                        const Strided4<T>& grad_v) {
  using namespace detail;
  using Gemm = SmallGemm<C>;
  const int64_t width = round_up(shape.width, Gemm::kColumns);
  const int64_t value_width = round_up(shape.value_width, Gemm::kColumns);
  const int64_t work = shape.group() * shape.queries * shape.keys * width;
  launch.parallel_for(
      shape.batch * shape.key_heads, grain_for(work), [&](int64_t begin, int64_t end) {
        const int64_t block = kQueryBlock * kKeyBlockBackward;
        const int64_t parts[] = {block,
                                 block,
                                 shape.keys * width,
                                 shape.keys * value_width,
                                 shape.queries * width,
                                 kQueryBlock * width,
                                 kQueryBlock * value_width,
                                 kQueryBlock * width,
                                 kQueryBlock * value_width,
                                 shape.keys * width,
                                 shape.keys * value_width,
                                 dropout.active ? block : 0};
        int64_t total = 0;
        for (const int64_t part : parts) total += part;
        const Workspace<C> space(launch, total);
        C* at[12];
        C* next = space.data();
        for (int i = 0; i < 12; ++i) {
          at[i] = next;
          next += parts[i];
        }
        C *scores = at[0], *grads = at[1], *key_sums = at[2], *value_sums = at[3],
          *query_sums = at[4], *query_copy = at[5], *grad_copy = at[6], *query_columns = at[7],
          *grad_columns = at[8], *factors = at[11];
        const RandomState random = dropout.active ? dropout.opened() : RandomState{};
        for (int64_t item = begin; item < end; ++item) {
          const int64_t n = item / shape.key_heads, kh = item % shape.key_heads;
          const AttentionShape own = shape.of(n);
          const Strided4<const T> queries = shape.query_rows(n, q), outs = shape.query_rows(n, out),
                                  incoming = shape.query_rows(n, grad_out);
          const Strided4<const C> logs = shape.query_rows(n, lse);
          const Rows<C> keys =
              ready_rows<T, C>(shape.key_rows(n, k), n, kh, 0, own.keys, own.width, at[9]);
          const Rows<C> values =
              ready_rows<T, C>(shape.key_rows(n, v), n, kh, 0, own.keys, own.value_width, at[10]);
          for (int64_t i = 0; i < own.keys * width; ++i) key_sums[i] = C(0);
          for (int64_t i = 0; i < own.keys * value_width; ++i) value_sums[i] = C(0);
          for (int64_t h = kh * shape.group(); h < (kh + 1) * shape.group(); ++h) {
            for (int64_t i = 0; i < own.queries * width; ++i) query_sums[i] = C(0);
            for (int64_t query = 0; query < own.queries; query += kQueryBlock) {
              const int64_t count =
                  own.queries - query < kQueryBlock ? own.queries - query : kQueryBlock;
              const Rows<C> rows =
                  ready_rows<T, C>(queries, n, h, query, count, own.width, query_copy);
              const Rows<C> grad =
                  ready_rows<T, C>(incoming, n, h, query, count, own.value_width, grad_copy);
              transpose_rows(rows, count, own.width, static_cast<C>(own.scale), query_columns);
              transpose_rows(grad, count, own.value_width, C(1), grad_columns);
              alignas(64) C delta[kQueryBlock], shift[kQueryBlock];
              for (int64_t i = 0; i < kQueryBlock; ++i) {
                // Infinity makes every weight 0, for padding and for queries without visible keys.
                shift[i] = std::numeric_limits<C>::infinity();
                delta[i] = C(0);
                if (i >= count) continue;
                const C saved = *logs.at(n, h, query + i);
                if (saved == -std::numeric_limits<C>::infinity()) continue;
                shift[i] = saved;
                const T* o = outs.at(n, h, query + i);
                const C* g = grad.data + i * grad.step;
                C dot = C(0);
                for (int64_t d = 0; d < own.value_width; ++d)
                  dot += cast<C>(o[d * out.column]) * g[d];
                delta[i] = dot;
              }
              const int64_t padded = round_up(count, Gemm::kColumns);
              const int64_t key_end = own.end_key(query + count - 1);
              for (int64_t key = own.first_key(query); key < key_end; key += kKeyBlockBackward) {
                const int64_t fill =
                    key_end - key < kKeyBlockBackward ? key_end - key : kKeyBlockBackward;
                const MaskedBlock masked = masked_block<T, C>(mask, n, h, query, count, key, fill);
                if (masked == MaskedBlock::hidden) continue;
                block_scores<T, C>(own, mask, n, h, query, count, key, fill, keys, query_columns,
                                   masked, scores);
                Gemm::template multiply<Order::rows>(
                    fill, padded, own.value_width, values.data + key * values.step, values.step,
                    grad_columns, kQueryBlock, grads, kQueryBlock, false);
                if (dropout.active) {
                  draw_factors(dropout, random, n, h, query, count, key, fill, factors);
                  apply_factors(factors, fill, padded, grads);
                }
                score_gradients(fill, padded, shift, delta, scores, grads);
                if (dropout.active) apply_factors(factors, fill, padded, scores);
                Gemm::template multiply<Order::rows>(
                    fill, value_width, count, scores, kQueryBlock, grad.data, grad.step,
                    value_sums + key * value_width, value_width, true);
                Gemm::template multiply<Order::rows>(fill, width, count, grads, kQueryBlock,
                                                     rows.data, rows.step, key_sums + key * width,
                                                     width, true);
                Gemm::template multiply<Order::columns>(count, width, fill, grads, kQueryBlock,
                                                        keys.data + key * keys.step, keys.step,
                                                        query_sums + query * width, width, true);
              }
            }
            write_rows(shape.query_rows(n, grad_q), n, h, 0, own.queries, own.width, query_sums,
                       width, static_cast<C>(own.scale));
          }
          write_rows(shape.key_rows(n, grad_k), n, kh, 0, own.keys, own.width, key_sums, width,
                     static_cast<C>(own.scale));
          write_rows(shape.key_rows(n, grad_v), n, kh, 0, own.keys, own.value_width, value_sums,
                     value_width, C(1));
        }
      });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ATTENTION_BACKWARD_H_
