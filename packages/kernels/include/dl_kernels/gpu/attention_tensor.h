// Attention on tensor cores. A warp owns 16 queries and keeps their rows, scores and results in
// registers; tiles of keys and of values pass through shared memory alternately: while one is
// multiplied, the other is loaded. Source: Dao, FlashAttention-2 (2023).
#ifndef DL_KERNELS_GPU_ATTENTION_TENSOR_H_
#define DL_KERNELS_GPU_ATTENTION_TENSOR_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_float_rows.h"
#include "dl_kernels/gpu/attention_rows.h"
#include "dl_kernels/gpu/attention_simt.h"

DL_KERNELS_BEGIN

namespace gpu {

// `width` and `value_width` are at most kWidth.
template <class T, int kWidth>
DL_DEVICE void attend(AttentionProblem<T, float>& problem, const AttentionAlignment& whole) {
  using Rows = AttentionRows<T, kWidth>;
  constexpr int kQueries = 16 * kThreads / 32, kKeys = Rows::kKeys, kTiles = kKeys / 8;
  constexpr int kOwnRows = sizeof(T) == 2 ? kQueries : 0;  // rows that pass through shared memory
  constexpr int kRoom = kOwnRows > 2 * kKeys ? kOwnRows : 2 * kKeys;
  DL_SHARED alignas(kRowAlignment) Chunk<T> shared[kRoom * Rows::kPitch];
  Chunk<T>*const keys = shared, *const values = shared + kKeys * Rows::kPitch;
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const int item = static_cast<int>(block_index());
  const int tiles = static_cast<int>(problem.tasks.tiles), of_head = item / tiles;
  const int heads = static_cast<int>(problem.shape.heads), n = of_head / heads, h = of_head % heads;
  const AttentionShape shape = problem.shape.of(n);
  // With causal masks, the last queries have the most work and start first.
  const int first = (tiles - 1 - item % tiles) * kQueries;
  const int queries = static_cast<int>(shape.queries) - first;
  if (queries <= 0) return;
  const int64_t kh = h / shape.group();
  const Strided4<const T> k = shape.key_rows(n, problem.k), v = shape.key_rows(n, problem.v);
  const T *const key_rows = k.at(n, kh, 0), *const value_rows = v.at(n, kh, 0);
  const int width = static_cast<int>(shape.width),
            values_wide = static_cast<int>(shape.value_width);

  const Rows rows(lane);
  const Strided4<const T> q = shape.query_rows(n, problem.q);
  uint32_t query[Rows::kSteps][4];
  Rows::keep(query, shared, q.at(n, h, first), q.row, q.column, queries, width, whole.q);

  // Keys before `end` are visible to some queries.
  const int last = first + (queries < kQueries ? queries : kQueries) - 1;
  const int end = static_cast<int>(shape.end_key(last));
  const auto all_see = [&](int key) {
    const int from = opaque_value(first), to = from + kQueries - 1;
    return queries >= kQueries && key >= shape.first_key(to) && key + kKeys <= shape.end_key(from);
  };
  const int count = static_cast<int>(shape.keys);
  const float scale = static_cast<float>(shape.scale) * kLogOfE;
  // With a negative scale, the largest score belongs to the smallest product: change signs
  // first.
  const bool changed =
      problem.mask.kind != MaskKind::none || problem.mask.slopes != nullptr || !(scale > 0);
  float out[kWidth / 8][4] = {};
  float running_max[2] = {lowest<float>(), lowest<float>()}, normalizer[2] = {0, 0};
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
    rows.multiply(scores, query, shared_address(keys), width);
    float factor = scale;
    if (changed || !all_see(key)) {
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c) {
        DL_UNROLL
        for (int e = 0; e < 4; ++e) scores[c][e] *= scale;
      }
      const AttentionWindow<false> window(shape, opaque_value(first) + warp * 16 + lane / 4);
      window.apply<T>(scores, problem.mask, n, h, key);
      factor = 1;
    }
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      float new_max = lowest<float>();
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c)
        new_max = fmaxf(new_max, fmaxf(scores[c][2 * r], scores[c][2 * r + 1]));
      new_max = fmaxf(new_max, shuffle_xor(new_max, 1));
      new_max = fmaxf(new_max, shuffle_xor(new_max, 2));
      new_max = fmaxf(running_max[r], new_max * factor);
      // If every key so far is masked, the maximum is -infinity and must not be subtracted.
      const float shift = new_max == lowest<float>() ? 0.0f : new_max;
      const float correction = power_of_2(running_max[r] - shift);
      running_max[r] = new_max;
      normalizer[r] *= correction;
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c) {
        DL_UNROLL
        for (int e = 2 * r; e < 2 * r + 2; ++e) {
          scores[c][e] = power_of_2(scores[c][e] * factor - shift);
          normalizer[r] += scores[c][e];
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
    rows.multiply_transposed(out, scores, shared_address(values), values_wide);
  }
  barrier();
  DL_UNROLL
  for (int r = 0; r < 2; ++r) {
    normalizer[r] += shuffle_xor(normalizer[r], 1);
    normalizer[r] += shuffle_xor(normalizer[r], 2);
    const float factor = normalizer[r] == 0.0f ? 0.0f : 1.0f / normalizer[r];
    DL_UNROLL
    for (int c = 0; c < kWidth / 8; ++c) {
      out[c][2 * r] *= factor;
      out[c][2 * r + 1] *= factor;
    }
  }
  const Strided4<T> to = shape.query_rows(n, problem.out);
  Rows::store(shared, out, to.at(n, h, first + warp * 16), to.row, to.column, queries - warp * 16,
              values_wide, whole.out);
  if (problem.lse.data == nullptr || lane % 4 != 0) return;
  const Strided4<float> lse = shape.query_rows(n, problem.lse);
  DL_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int at = first + warp * 16 + lane / 4 + 8 * r;
    if (at < shape.queries) *lse.at(n, h, at) = running_max[r] * kLogOf2 + logf(normalizer[r]);
  }
}

template <class T, int kWidth>
DL_KERNEL void tensor_attention_kernel(AttentionProblem<T, float> problem,
                                       AttentionAlignment whole) {
  if constexpr (AttentionRows<T, kWidth>::kAvailable) attend<T, kWidth>(problem, whole);
}

// Launch the kernel if the operands are suitable and there is no dropout; return true if launched.
template <class T>
bool attention_on_tensor_cores(const Launch& launch, const AttentionProblem<T, float>& given) {
  AttentionProblem<T, float> problem = given;
  const AttentionShape& shape = problem.shape;
  constexpr int64_t kQueries = 16 * kThreads / 32;
  const int64_t tiles = (shape.queries + kQueries - 1) / kQueries;
  const int64_t count = shape.batch * shape.heads * tiles;
  const AttentionAlignment whole{is_whole(given.q), is_whole(given.k), is_whole(given.v), true,
                                 is_whole(given.out)};
  auto* const kernel =
      widest_row(shape) <= 64 ? tensor_attention_kernel<T, 64> : tensor_attention_kernel<T, 128>;
  if (problem.dropout.active || count > kMostOnTensorCores || !suits<T>(shape, whole, kernel))
    return false;
  if (count == 0) return true;
  problem.tasks.tiles = tiles;
  run_blocks(launch.stream(), count, kernel, problem, whole);
  return true;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_TENSOR_H_
