// Gradients of attention of halves on tensor cores. A warp has 16 queries, or keys, whose rows and
// gradients it keeps in registers; tiles of the others pass through shared memory, the next one
// while one is multiplied. Keys and values take turns of their own: the sums of both would not fit
// into registers. Source: Dao, FlashAttention-2 (2023).
#ifndef DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_
#define DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_backward_simt.h"
#include "dl_kernels/gpu/attention_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

enum class GradientOf { queries, keys, values };

// `heads` and `tiles` are those of the rows that the gradient has.
template <class T, int kWidth, GradientOf kOf>
DL_KERNEL void tensor_gradient_kernel(AttentionGradients<T, float> problem, int64_t heads,
                                      int64_t tiles, Strided4<T> grad, AttentionAlignment whole) {
  using Rows = AttentionRows<T, kWidth>;
  constexpr bool kOfKeys = kOf != GradientOf::queries, kOfValues = kOf == GradientOf::values;
  constexpr int kOwn = 16 * kThreads / 32, kTile = kWidth <= 64 ? 64 : 32, kTiles = kTile / 8;
  static_assert(kOwn * kWidth <= 4 * kTile * kWidth, "own rows take the place of the tiles");
  DL_SHARED Chunk<T> shared[2][2][kTile * Rows::kLine];
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const int64_t of_head = block_index() / tiles, n = of_head / heads, head = of_head % heads;
  const AttentionShape shape = problem.shape.of(n);
  const int first = static_cast<int>(block_index() % tiles) * kOwn;
  const int left = static_cast<int>(kOfKeys ? shape.keys : shape.queries) - first;
  if (left <= 0) return;
  const int width = static_cast<int>(shape.width),
            value_width = static_cast<int>(shape.value_width);
  const int64_t group = shape.group(), kh = kOfKeys ? head : head / group;
  const Strided4<const T> q = shape.query_rows(n, problem.q), k = shape.key_rows(n, problem.k),
                          v = shape.key_rows(n, problem.v),
                          g = shape.query_rows(n, problem.grad_out);

  // A row times one of `others` is a score; times one of `other_grads`, a weight's gradient.
  const Strided4<const T>&own = kOfKeys ? k : q, &own_grads = kOfKeys ? v : g;
  const Strided4<const T>&others = kOfKeys ? q : k, &other_grads = kOfKeys ? g : v;
  uint32_t row[kWidth / 16][4], row_grads[kWidth / 16][4];
  Chunk<T>* const whole_shared = &shared[0][0][0];
  const auto keep = [&](uint32_t (&to)[kWidth / 16][4], const Strided4<const T>& from, int columns,
                        bool aligned) {
    Rows::template load<kOwn>(whole_shared, from.at(n, head, first), from.row, from.column, left,
                              columns, aligned);
    commit_copies();
    wait_for_copies<0>();
    barrier();
    DL_UNROLL
    for (int step = 0; step < kWidth / 16; ++step)
      Rows::left(to[step], shared_address(whole_shared), warp * 16, step, lane);
    barrier();
  };
  keep(row, own, width, kOfKeys ? whole.k : whole.q);
  if constexpr (!kOfValues)
    keep(row_grads, own_grads, value_width, kOfKeys ? whole.v : whole.grad_out);

  AttentionWindow<kOfKeys> window;
  window.start(shape, first + warp * 16 + lane / 4);
  const int last = first + (left < kOwn ? left : kOwn) - 1;
  const int count = static_cast<int>(kOfKeys ? shape.queries : shape.keys);
  const int begin = static_cast<int>(kOfKeys ? shape.first_query(first) : shape.first_key(first));
  const int end = static_cast<int>(kOfKeys ? shape.end_query(last) : shape.end_key(last));
  // All rows see the columns from `all_from` to `all_to`.
  const int all_from = static_cast<int>(kOfKeys ? shape.first_query(last) : shape.first_key(last));
  const int all_to =
      left < kOwn ? 0 : static_cast<int>(kOfKeys ? shape.end_query(first) : shape.end_key(first));
  const bool masked = problem.mask.kind != MaskKind::none || problem.mask.slopes != nullptr;
  const float scale = static_cast<float>(shape.scale) * kLogOfE;
  // Weights of keys that nobody looks at are so small that halves of them would be denormal; none
  // is above 1.
  constexpr float kRaised = kOfValues ? 12 : 0;
  QueryTerms<float> own_terms[2];
  if constexpr (!kOfKeys) {
    DL_UNROLL
    for (int r = 0; r < 2; ++r)
      own_terms[r] = problem.terms_of(shape, n, head, first + warp * 16 + lane / 4 + 8 * r);
  }

  const auto load = [&](int64_t h, int at, int stage) {
    const int64_t of = kOfKeys ? h : kh;
    Rows::template load<kTile>(shared[stage][0], others.at(n, of, at), others.row, others.column,
                               count - at, width, kOfKeys ? whole.q : whole.k);
    Rows::template load<kTile>(shared[stage][1], other_grads.at(n, of, at), other_grads.row,
                               other_grads.column, count - at, value_width,
                               kOfKeys ? whole.grad_out : whole.v);
  };
  float out[kWidth / 8][4] = {};
  int64_t h = kOfKeys ? kh * group : head;
  const int64_t last_head = kOfKeys ? h + group - 1 : h;
  if (begin < end) load(h, begin, 0);
  commit_copies();
  for (int at = begin, stage = 0; at < end; stage ^= 1) {
    const bool next_head = at + kTile >= end;
    const int64_t then_head = next_head ? h + 1 : h;
    const int then = next_head ? begin : at + kTile;
    const bool more = then_head <= last_head;
    wait_for_copies<0>();
    barrier();
    if (more) load(then_head, then, stage ^ 1);
    commit_copies();
    const uint32_t rows = shared_address(shared[stage][0]),
                   grads = shared_address(shared[stage][1]);
    float scores[kTiles][4] = {};
    DL_UNROLL
    for (int step = 0; step < kWidth / 16; ++step) {
      if (16 * step >= width) break;
      Rows::multiply(scores, row[step], rows, step, lane);
    }
    DL_UNROLL
    for (int c = 0; c < kTiles; ++c) {
      DL_UNROLL
      for (int e = 0; e < 4; ++e) scores[c][e] *= scale;
    }
    if (masked || at < all_from || at + kTile > all_to)
      window.template apply<T>(scores, shape, problem.mask, n, h, at, lane);
    float changes[kTiles][4] = {};
    if constexpr (!kOfValues) {
      DL_UNROLL
      for (int step = 0; step < kWidth / 16; ++step) {
        if (16 * step >= value_width) break;
        Rows::multiply(changes, row_grads[step], grads, step, lane);
      }
    }
    DL_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      QueryTerms<float> terms{};
      if constexpr (kOfKeys)
        terms = problem.terms_of(shape, n, h, at + i / 2 * 8 + lane % 4 * 2 + i % 2);
      DL_UNROLL
      for (int r = 0; r < 2; ++r) {
        const QueryTerms<float> used = kOfKeys ? terms : own_terms[r];
        float& weight = scores[i / 2][2 * r + i % 2];
        weight = exp2f(weight - used.lse * kLogOfE + kRaised);
        if constexpr (!kOfValues) weight *= changes[i / 2][2 * r + i % 2] - used.delta;
      }
    }
    DL_UNROLL
    for (int step = 0; step < kTile / 16; ++step) {
      uint32_t weights[kParts][4];
      as_left<T>(weights, scores, step);
      Rows::multiply_turned(out, weights, kOfValues ? grads : rows, step,
                            kOfValues ? value_width : width, lane);
    }
    if (!more) break;
    h = then_head;
    at = then;
  }
  barrier();
  const float factor = kOfValues ? exp2f(-kRaised) : static_cast<float>(shape.scale);
  DL_UNROLL
  for (int c = 0; c < kWidth / 8; ++c) {
    DL_UNROLL
    for (int e = 0; e < 4; ++e) out[c][e] *= factor;
  }
  const Strided4<T> to = kOfKeys ? shape.key_rows(n, grad) : shape.query_rows(n, grad);
  Rows::store(whole_shared + warp * 16 * Rows::kLine, out, to.at(n, head, first + warp * 16),
              to.row, to.column, left - warp * 16, kOfValues ? value_width : width, whole.out,
              lane);
}

template <class T>
struct GradientTargets {
  Strided4<T> q, k, v;
};

// Whether they were launched: rows are not too wide, and nothing is dropped.
template <class T>
bool attention_gradients_on_tensor_cores(const Launch& launch,
                                         const AttentionGradients<T, float>& problem,
                                         const GradientTargets<T>& to) {
  const AttentionShape& shape = problem.shape;
  const int64_t widest = shape.width > shape.value_width ? shape.width : shape.value_width;
  constexpr int64_t kOwn = 16 * kThreads / 32, kMost = 1 << 30;
  const int64_t of_queries = (shape.queries + kOwn - 1) / kOwn;
  const int64_t of_keys = (shape.keys + kOwn - 1) / kOwn;
  if (widest > 128 || problem.dropout.active || shape.queries > kMost || shape.keys > kMost ||
      shape.batch * shape.heads * of_queries > kMost ||
      shape.batch * shape.key_heads * of_keys > kMost)
    return false;
  AttentionAlignment whole{is_whole(problem.q), is_whole(problem.k), is_whole(problem.v),
                           is_whole(problem.grad_out), false};
  const auto run = [&](auto* kernel, int64_t heads, int64_t tiles, const Strided4<T>& grad) {
    whole.out = is_whole(grad);
    if (shape.batch * heads * tiles > 0)
      run_blocks(launch.stream(), shape.batch * heads * tiles, kernel, problem, heads, tiles, grad,
                 whole);
  };
  const bool narrow = widest <= 64;
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::queries>
             : tensor_gradient_kernel<T, 128, GradientOf::queries>,
      shape.heads, of_queries, to.q);
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::keys>
             : tensor_gradient_kernel<T, 128, GradientOf::keys>,
      shape.key_heads, of_keys, to.k);
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::values>
             : tensor_gradient_kernel<T, 128, GradientOf::values>,
      shape.key_heads, of_keys, to.v);
  return true;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_
