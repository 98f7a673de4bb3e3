// Gradients of attention on a GPU without tensor cores. The weights are recomputed, tile by tile,
// from the scores and the saved log-sum-exp: once for the query gradient, in blocks that own
// queries, and once for the key and value gradients, in blocks that own keys. No sum is shared by
// several blocks. Source: Dao et al., FlashAttention (2022), section B.2.
#ifndef DL_KERNELS_GPU_ATTENTION_BACKWARD_SIMT_H_
#define DL_KERNELS_GPU_ATTENTION_BACKWARD_SIMT_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_tile.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace gpu {

// Terms of a query: the log-sum-exp, subtracted from its scores, and the value subtracted from the
// gradients of its weights.
template <class C>
struct QueryTerms {
  C lse, delta;
};

template <class T, class C>
struct AttentionGradients {
  AttentionShape shape;
  Strided4<const T> grad_out, q, k, v;
  AttentionMask mask;
  AttentionDropout dropout;
  const QueryTerms<C>* terms;  // [batch, heads, queries]

  DL_DEVICE QueryTerms<C> terms_of(const AttentionShape& own, int64_t n, int64_t h,
                                   int64_t query) const {
    // Infinity makes every weight 0.
    if (query >= own.queries) return {highest<C>(), C(0)};
    return terms[index_of(n, h, query)];
  }
  DL_FN int64_t index_of(int64_t n, int64_t h, int64_t query) const {
    return (n * shape.heads + h) * shape.queries + query;
  }
};

template <class T, class C>
struct QueryTermsItem {
  QueryTerms<C>* to;
  AttentionShape shape;
  Strided4<const T> grad_out, out;
  Strided4<const C> lse;
  C factor;  // conversion of logarithms to another base

  DL_FN void operator()(int64_t i) const {
    const int64_t query = i % shape.queries, of_head = i / shape.queries;
    const int64_t n = of_head / shape.heads, h = of_head % shape.heads;
    if (query >= shape.of(n).queries) return;
    const C saved = *shape.query_rows(n, lse).at(n, h, query);
    C dot = C(0);
    if (saved == lowest<C>()) {  // query without visible keys
      to[i] = {highest<C>(), dot};
      return;
    }
    const T* o = shape.query_rows(n, out).at(n, h, query);
    const T* g = shape.query_rows(n, grad_out).at(n, h, query);
    for (int64_t d = 0; d < shape.value_width; ++d)
      dot += cast<C>(o[d * out.column]) * cast<C>(g[d * grad_out.column]);
    to[i] = {saved * factor, dot};
  }
};

template <class T, class C>
DL_KERNEL void query_gradient_kernel(AttentionTasks tasks, AttentionGradients<T, C> problem,
                                     Strided4<T> grad_q) {
  DL_SHARED AttentionScratch<C> scratch;
  const AttentionDropout& dropout = problem.dropout;
  const RandomState random = dropout.active ? dropout.opened() : RandomState{};
  for (int64_t item = block_index(); item < tasks.count; item += block_count()) {
    const AttentionTask task = tasks.at(item);
    const AttentionShape shape = problem.shape.of(task.sample);
    const int64_t n = task.sample, h = task.head, kh = h / shape.group();
    const int64_t queries = tile_extent(task.first, shape.queries);
    const TileOperand<T> q =
        tile_rows(shape.query_rows(n, problem.q), n, h, task.first, queries, shape.width);
    const TileOperand<T> g = tile_rows(shape.query_rows(n, problem.grad_out), n, h, task.first,
                                       queries, shape.value_width);
    const Strided4<const T> k = shape.key_rows(n, problem.k), v = shape.key_rows(n, problem.v);
    TileSums<C> out;
    out.clear();
    QueryTerms<C> terms[kOwn];
    DL_UNROLL
    for (int r = 0; r < kOwn; ++r)
      terms[r] = problem.terms_of(shape, n, h, task.first + out.row(r));
    // As in attention_kernel, a tile beyond a short sequence is not skipped, but has no keys.
    const int64_t end = queries > 0 ? shape.end_key(task.first + queries - 1) : 0;
    for (int64_t key = shape.first_key(task.first); key < end; key += kSide) {
      const int64_t keys = tile_extent(key, end);
      TileSums<C> scores, grads;
      scores.clear();
      grads.clear();
      add_product(q, tile_rows(k, n, kh, key, keys, shape.width), scratch.slices, scores);
      add_product(g, tile_rows(v, n, kh, key, keys, shape.value_width), scratch.slices, grads);
      grads.each([&](int r, int c, C& grad) {
        const C score = masked_score<T>(shape, problem.mask, n, h, task.first + grads.row(r),
                                        key + grads.column(c), scores.at[r][c]);
        if (dropout.active) {
          grad = dropout.applied(
              random, dropout.number(n, h, task.first + grads.row(r), key + grads.column(c)), grad);
        }
        grad = math::exp(score - terms[r].lse) * (grad - terms[r].delta);
      });
      grads.share(scratch.weights);
      add_shared_product(scratch.weights,
                         tile_columns(k, n, kh, key, keys, shape.width, task.column),
                         scratch.slices, out);
    }
    const C scale = static_cast<C>(shape.scale);
    write_tile(out, shape.query_rows(n, grad_q), task, shape.queries, shape.width,
               [=](int) { return scale; });
  }
}

template <class T, class C>
DL_KERNEL void key_gradients_kernel(AttentionTasks tasks, AttentionGradients<T, C> problem,
                                    Strided4<T> grad_k, Strided4<T> grad_v) {
  DL_SHARED AttentionScratch<C> scratch;
  const AttentionDropout& dropout = problem.dropout;
  const RandomState random = dropout.active ? dropout.opened() : RandomState{};
  for (int64_t item = block_index(); item < tasks.count; item += block_count()) {
    const AttentionTask task = tasks.at(item);
    const AttentionShape shape = problem.shape.of(task.sample);
    const int64_t n = task.sample, kh = task.head, key = task.first;
    const int64_t keys = tile_extent(key, shape.keys);
    const TileOperand<T> k = tile_rows(shape.key_rows(n, problem.k), n, kh, key, keys, shape.width);
    const TileOperand<T> v =
        tile_rows(shape.key_rows(n, problem.v), n, kh, key, keys, shape.value_width);
    const Strided4<const T> q = shape.query_rows(n, problem.q),
                            g = shape.query_rows(n, problem.grad_out);
    TileSums<C> of_keys, of_values;
    of_keys.clear();
    of_values.clear();
    const int64_t begin = shape.first_query(key);
    const int64_t end = keys > 0 ? shape.end_query(key + keys - 1) : 0;
    for (int64_t h = kh * shape.group(); h < (kh + 1) * shape.group(); ++h) {
      for (int64_t query = begin; query < end; query += kSide) {
        const int64_t queries = tile_extent(query, end);
        TileSums<C> weights, grads;
        weights.clear();
        grads.clear();
        add_product(k, tile_rows(q, n, h, query, queries, shape.width), scratch.slices, weights);
        add_product(v, tile_rows(g, n, h, query, queries, shape.value_width), scratch.slices,
                    grads);
        DL_UNROLL
        for (int c = 0; c < kOwn; ++c) {
          const int64_t at = query + weights.column(c);
          const QueryTerms<C> terms = problem.terms_of(shape, n, h, at);
          DL_UNROLL
          for (int r = 0; r < kOwn; ++r) {
            C& weight = weights.at[r][c];
            weight = math::exp(
                masked_score<T>(shape, problem.mask, n, h, at, key + weights.row(r), weight) -
                terms.lse);
            C& grad = grads.at[r][c];
            if (!dropout.active) {
              grad = weight * (grad - terms.delta);
              continue;
            }
            const bool kept = dropout.keeps(random, dropout.number(n, h, at, key + weights.row(r)));
            const C factor = static_cast<C>(dropout.scale);
            grad = weight * ((kept ? grad * factor : C(0)) - terms.delta);
            weight = kept ? weight * factor : C(0);
          }
        }
        weights.share(scratch.weights);
        if (task.column < shape.value_width) {
          add_shared_product(scratch.weights,
                             tile_columns(g, n, h, query, queries, shape.value_width, task.column),
                             scratch.slices, of_values);
        }
        grads.share(scratch.weights);
        if (task.column < shape.width) {
          add_shared_product(scratch.weights,
                             tile_columns(q, n, h, query, queries, shape.width, task.column),
                             scratch.slices, of_keys);
        }
      }
    }
    const C scale = static_cast<C>(shape.scale);
    write_tile(of_keys, shape.key_rows(n, grad_k), task, shape.keys, shape.width,
               [=](int) { return scale; });
    write_tile(of_values, shape.key_rows(n, grad_v), task, shape.keys, shape.value_width,
               [](int) { return C(1); });
  }
}

// Launches the kernels for grad_q, grad_k and grad_v, given the query terms. A separate class
// template: hipcc 5.2 mangles kernels differently when an explicitly instantiated function names
// them.
template <class T, class C>
void attention_gradients_in_tiles(const Launch& launch, const AttentionGradients<T, C>& problem,
                                  const Strided4<T>& grad_q, const Strided4<T>& grad_k,
                                  const Strided4<T>& grad_v) {
  const AttentionShape& shape = problem.shape;
  const AttentionTasks of_queries(shape.batch, shape.heads, shape.queries, shape.width);
  if (of_queries.count > 0) {
    run_blocks(launch.stream(), of_queries.blocks(), query_gradient_kernel<T, C>, of_queries,
               problem, grad_q);
  }
  const int64_t widest = shape.width > shape.value_width ? shape.width : shape.value_width;
  const AttentionTasks of_keys(shape.batch, shape.key_heads, shape.keys, widest);
  if (of_keys.count > 0) {
    run_blocks(launch.stream(), of_keys.blocks(), key_gradients_kernel<T, C>, of_keys, problem,
               grad_k, grad_v);
  }
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_BACKWARD_SIMT_H_
