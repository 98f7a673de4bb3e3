// Attention of halves on tensor cores. A warp has 16 queries, whose rows, scores and results it
// keeps in registers; tiles of keys and of their values pass through shared memory in turns: while
// the scores of one are made, the other is on its way. Source: Dao, FlashAttention-2 (2023).
#ifndef DL_KERNELS_GPU_ATTENTION_TENSOR_H_
#define DL_KERNELS_GPU_ATTENTION_TENSOR_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_rows.h"
#include "dl_kernels/gpu/attention_simt.h"

DL_KERNELS_BEGIN

namespace gpu {

// What the kernel was made for; `width` and `value_width` are at most kWidth.
template <class T, int kWidth>
DL_KERNEL void tensor_attention_kernel(AttentionProblem<T, float> problem,
                                       AttentionAlignment whole) {
  using Rows = AttentionRows<T, kWidth>;
  constexpr int kQueries = 16 * kThreads / 32, kKeys = 64, kTiles = kKeys / 8;
  static_assert(kQueries == 2 * kKeys, "the queries take the place of a tile of keys and values");
  DL_SHARED Chunk<T> shared[2][kKeys * Rows::kLine];
  Chunk<T>*const keys = shared[0], *const values = shared[1];
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const int64_t item = block_index(), tiles = problem.tasks.tiles, of_head = item / tiles;
  const int64_t n = of_head / problem.shape.heads, h = of_head % problem.shape.heads;
  const AttentionShape shape = problem.shape.of(n);
  // Where queries see what came before, the last ones have most to do and begin first.
  const int first = static_cast<int>(tiles - 1 - item % tiles) * kQueries;
  const int queries = static_cast<int>(shape.queries) - first;
  if (queries <= 0) return;
  const int64_t kh = h / shape.group();
  const Strided4<const T> k = shape.key_rows(n, problem.k), v = shape.key_rows(n, problem.v);
  const T *const key_rows = k.at(n, kh, 0), *const value_rows = v.at(n, kh, 0);
  const int width = static_cast<int>(shape.width),
            values_wide = static_cast<int>(shape.value_width);

  const Strided4<const T> q = shape.query_rows(n, problem.q);
  Rows::template load<kQueries>(keys, q.at(n, h, first), q.row, q.column, queries, width, whole.q);
  commit_copies();
  wait_for_copies<0>();
  barrier();
  uint32_t query[kWidth / 16][4];
  DL_UNROLL
  for (int step = 0; step < kWidth / 16; ++step)
    Rows::left(query[step], shared_address(keys), warp * 16, step, lane);
  barrier();

  AttentionWindow<false> window;
  window.start(shape, first + warp * 16 + lane / 4);
  // All queries see the keys from `all_from` to `all_to`; some, those from `key` to `end`.
  const int last = first + (queries < kQueries ? queries : kQueries) - 1;
  const int end = static_cast<int>(shape.end_key(last));
  const int all_from = static_cast<int>(shape.first_key(last));
  const int all_to = queries < kQueries ? 0 : static_cast<int>(shape.end_key(first));
  const int count = static_cast<int>(shape.keys);
  const bool masked = problem.mask.kind != MaskKind::none || problem.mask.slopes != nullptr;
  const float scale = static_cast<float>(shape.scale) * kLogOfE;
  float out[kWidth / 8][4] = {};
  float top[2] = {lowest<float>(), lowest<float>()}, total[2] = {0, 0};
  int key = static_cast<int>(shape.first_key(first));
  if (key < end)
    Rows::template load<kKeys>(keys, key_rows + int64_t{key} * k.row, k.row, k.column, count - key,
                               width, whole.k);
  commit_copies();
  for (; key < end; key += kKeys) {
    wait_for_copies<0>();
    barrier();
    Rows::template load<kKeys>(values, value_rows + int64_t{key} * v.row, v.row, v.column,
                               count - key, values_wide, whole.v);
    commit_copies();
    float scores[kTiles][4] = {};
    DL_UNROLL
    for (int step = 0; step < kWidth / 16; ++step) {
      if (16 * step >= width) break;
      Rows::multiply(scores, query[step], shared_address(keys), step, lane);
    }
    DL_UNROLL
    for (int c = 0; c < kTiles; ++c) {
      DL_UNROLL
      for (int e = 0; e < 4; ++e) scores[c][e] *= scale;
    }
    if (masked || key < all_from || key + kKeys > all_to)
      window.apply<T>(scores, shape, problem.mask, n, h, key, lane);
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      float now = top[r];
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c)
        now = fmaxf(now, fmaxf(scores[c][2 * r], scores[c][2 * r + 1]));
      now = fmaxf(now, shuffle_xor(now, 1));
      now = fmaxf(now, shuffle_xor(now, 2));
      // Where every key so far is hidden, nothing may be subtracted from infinity.
      const float shift = now == lowest<float>() ? 0.0f : now;
      const float correction = exp2f(top[r] - shift);
      top[r] = now;
      total[r] *= correction;
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c) {
        DL_UNROLL
        for (int e = 2 * r; e < 2 * r + 2; ++e) {
          scores[c][e] = exp2f(scores[c][e] - shift);
          total[r] += scores[c][e];
        }
      }
      DL_UNROLL
      for (int c = 0; c < kWidth / 8; ++c) {
        out[c][2 * r] *= correction;
        out[c][2 * r + 1] *= correction;
      }
    }
    wait_for_copies<0>();
    barrier();
    if (key + kKeys < end)
      Rows::template load<kKeys>(keys, key_rows + int64_t{key + kKeys} * k.row, k.row, k.column,
                                 count - key - kKeys, width, whole.k);
    commit_copies();
    DL_UNROLL
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t weights[kParts][4];
      as_left<T>(weights, scores, step);
      Rows::multiply_turned(out, weights, shared_address(values), step, values_wide, lane);
    }
  }
  barrier();
  DL_UNROLL
  for (int r = 0; r < 2; ++r) {
    total[r] += shuffle_xor(total[r], 1);
    total[r] += shuffle_xor(total[r], 2);
    const float factor = total[r] == 0.0f ? 0.0f : 1.0f / total[r];
    DL_UNROLL
    for (int c = 0; c < kWidth / 8; ++c) {
      out[c][2 * r] *= factor;
      out[c][2 * r + 1] *= factor;
    }
  }
  const Strided4<T> to = shape.query_rows(n, problem.out);
  Rows::store(keys + warp * 16 * Rows::kLine, out, to.at(n, h, first + warp * 16), to.row,
              to.column, queries - warp * 16, values_wide, whole.out, lane);
  if (problem.lse.data == nullptr || lane % 4 != 0) return;
  const Strided4<float> lse = shape.query_rows(n, problem.lse);
  DL_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int at = first + warp * 16 + lane / 4 + 8 * r;
    if (at < shape.queries) *lse.at(n, h, at) = top[r] * kLogOf2 + logf(total[r]);
  }
}

// Whether it was launched: rows are not too wide, and nothing is dropped.
template <class T>
bool attention_on_tensor_cores(const Launch& launch, const AttentionProblem<T, float>& given) {
  AttentionProblem<T, float> problem = given;
  const AttentionShape& shape = problem.shape;
  const int64_t widest = shape.width > shape.value_width ? shape.width : shape.value_width;
  constexpr int64_t kQueries = 16 * kThreads / 32, kMost = 1 << 30;
  const int64_t tiles = (shape.queries + kQueries - 1) / kQueries;
  const int64_t count = shape.batch * shape.heads * tiles;
  if (widest > 128 || problem.dropout.active || count > kMost || shape.queries > kMost ||
      shape.keys > kMost)
    return false;
  if (count == 0) return true;
  problem.tasks.tiles = tiles;
  const AttentionAlignment whole{is_whole(given.q), is_whole(given.k), is_whole(given.v), false,
                                 is_whole(given.out)};
  run_blocks(launch.stream(), count,
             widest <= 64 ? tensor_attention_kernel<T, 64> : tensor_attention_kernel<T, 128>,
             problem, whole);
  return true;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_TENSOR_H_
