// Attention on the CPU without storing the score matrix: an online softmax over blocks of keys.
// Sources: Dao et al., FlashAttention (2022); Milakov and Gimelshein, Online normalizer calculation
// for softmax (2018).
#ifndef DL_KERNELS_CPU_ATTENTION_H_
#define DL_KERNELS_CPU_ATTENTION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dl_kernels/cpu/attention_block.h"
#include "dl_kernels/cpu/attention_row.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kKeyBlock = 128;

// Online softmax state of a block of queries.
template <class C>
struct RunningSoftmax {
  C running_max[kQueryBlock], normalizer[kQueryBlock], correction[kQueryBlock];

  void start() {
    for (int64_t i = 0; i < kQueryBlock; ++i) {
      running_max[i] = -std::numeric_limits<C>::infinity();
      normalizer[i] = C(0);
    }
  }

  // Turn scores into weights relative to the new maximum.
  void take(C* scores, int64_t keys, int64_t columns) {
    alignas(64) C new_max[kQueryBlock], block_sum[kQueryBlock];
    for (int64_t i = 0; i < columns; ++i) {
      new_max[i] = running_max[i];
      block_sum[i] = C(0);
    }
    for (int64_t k = 0; k < keys; ++k) {
      const C* line = scores + k * kQueryBlock;
      DL_VECTOR_LOOP
      for (int64_t i = 0; i < columns; ++i) new_max[i] = max_nan(new_max[i], line[i]);
    }
    for (int64_t i = 0; i < columns; ++i) {
      correction[i] = running_max[i];
      running_max[i] = new_max[i];
      // If every key so far is masked, the maximum is -infinity and must not be subtracted.
      new_max[i] = new_max[i] == -std::numeric_limits<C>::infinity() ? C(0) : new_max[i];
    }
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i) correction[i] = math::exp(correction[i] - new_max[i]);
    for (int64_t k = 0; k < keys; ++k) {
      C* line = scores + k * kQueryBlock;
      DL_VECTOR_LOOP
      for (int64_t i = 0; i < columns; ++i) {
        const C weight = math::exp(line[i] - new_max[i]);
        line[i] = weight;
        block_sum[i] += weight;
      }
    }
    for (int64_t i = 0; i < columns; ++i)
      normalizer[i] = normalizer[i] * correction[i] + block_sum[i];
  }
};

}  // namespace detail

// `lse` receives the log-sum-exp of each query's scores. A query without visible keys gets zeros.
// Dropped weights count in the normalizer.
template <class T, class C = compute_t<T>>
void attention(const Launch& launch, const AttentionShape& shape, const Strided4<const T>& q,
               const Strided4<const T>& k, const Strided4<const T>& v, const AttentionMask& mask,
               const AttentionDropout& dropout, const Strided4<T>& out, const Strided4<C>& lse) {
  using namespace detail;
  using Gemm = SmallGemm<C>;
  const int64_t width = round_up(shape.width, Gemm::kColumns);
  const int64_t value_width = round_up(shape.value_width, Gemm::kColumns);
  const int64_t blocks = (shape.queries + kQueryBlock - 1) / kQueryBlock;
  // Decided per sample, so that a sample's result does not depend on other samples.
  const bool rows = has_rows(k, v, dropout), tiles = !rows || shape.queries > 1;
  const int64_t work = (tiles ? kQueryBlock * (width + value_width) / 8 : width) * shape.keys;
  launch.parallel_for(
      shape.batch * shape.heads * blocks, grain_for(work), [&](int64_t begin, int64_t end) {
        const int64_t parts[] = {kQueryBlock * kKeyBlock,
                                 kQueryBlock * width,
                                 kQueryBlock * width,
                                 kQueryBlock * value_width,
                                 shape.keys * width,
                                 shape.keys * value_width,
                                 dropout.active ? kQueryBlock * kKeyBlock : 0};
        int64_t total = 0;
        for (const int64_t part : parts) total += tiles ? part : 0;
        total = std::max(total, row_space<T, C>(shape));
        const Workspace<C> space(launch, total);
        C* scores = space.data();
        C* query_copy = scores + parts[0];
        C* columns = query_copy + parts[1];
        C* sums = columns + parts[2];
        C* key_copy = sums + parts[3];
        C* value_copy = key_copy + parts[4];
        C* factors = value_copy + parts[5];
        const RandomState random = dropout.active ? dropout.opened() : RandomState{};
        int64_t ready = -1;
        Rows<C> keys{}, values{};
        RunningSoftmax<C> softmax;
        for (int64_t item = begin; item < end; ++item) {
          const int64_t n = item / blocks / shape.heads, h = item / blocks % shape.heads;
          const int64_t kh = h / shape.group();
          const int64_t query = item % blocks * kQueryBlock;
          const AttentionShape own = shape.of(n);
          if (query >= own.queries) continue;
          if (rows && own.queries == 1) {
            attend_row<T, C>(shape, own, n, h, q, k, v, mask, out, lse, scores);
            ready = -1;  // the copies shared this memory
            continue;
          }
          if (ready != n * shape.key_heads + kh) {
            keys = ready_rows<T, C>(shape.key_rows(n, k), n, kh, 0, own.keys, own.width, key_copy);
            values = ready_rows<T, C>(shape.key_rows(n, v), n, kh, 0, own.keys, own.value_width,
                                      value_copy);
            ready = n * shape.key_heads + kh;
          }
          const int64_t count =
              own.queries - query < kQueryBlock ? own.queries - query : kQueryBlock;
          transpose_rows(
              ready_rows<T, C>(shape.query_rows(n, q), n, h, query, count, own.width, query_copy),
              count, own.width, static_cast<C>(own.scale), columns);
          softmax.start();
          const int64_t padded = round_up(count, Gemm::kColumns);
          const int64_t key_end = own.end_key(query + count - 1);
          bool first = true;
          for (int64_t key = own.first_key(query); key < key_end; key += kKeyBlock) {
            const int64_t fill = key_end - key < kKeyBlock ? key_end - key : kKeyBlock;
            const MaskedBlock masked = masked_block<T, C>(mask, n, h, query, count, key, fill);
            if (masked == MaskedBlock::hidden) continue;
            block_scores<T, C>(own, mask, n, h, query, count, key, fill, keys, columns, masked,
                               scores);
            softmax.take(scores, fill, padded);
            if (dropout.active) {
              draw_factors(dropout, random, n, h, query, count, key, fill, factors);
              apply_factors(factors, fill, padded, scores);
            }
            for (int64_t i = 0; !first && i < count; ++i) {
              const C factor = softmax.correction[i];
              C* line = sums + i * value_width;
              for (int64_t d = 0; factor != C(1) && d < value_width; ++d) line[d] *= factor;
            }
            Gemm::template multiply<Order::columns>(count, value_width, fill, scores, kQueryBlock,
                                                    values.data + key * values.step, values.step,
                                                    sums, value_width, !first);
            first = false;
          }
          const Strided4<T> results = shape.query_rows(n, out);
          const Strided4<C> logs = shape.query_rows(n, lse);
          for (int64_t i = 0; i < count; ++i) {
            const C normalizer = softmax.normalizer[i];
            const C factor = normalizer == C(0) ? C(0) : C(1) / normalizer;
            const C* from = sums + i * value_width;
            T* to = results.at(n, h, query + i);
            if (first) {
              for (int64_t d = 0; d < shape.value_width; ++d) to[d * out.column] = cast<T>(C(0));
            } else if (out.column == 1) {
              DL_VECTOR_LOOP
              for (int64_t d = 0; d < shape.value_width; ++d) to[d] = cast<T>(from[d] * factor);
            } else {
              for (int64_t d = 0; d < shape.value_width; ++d)
                to[d * out.column] = cast<T>(from[d] * factor);
            }
            if (logs.data != nullptr)
              *logs.at(n, h, query + i) = softmax.running_max[i] + std::log(normalizer);
          }
        }
      });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ATTENTION_H_
