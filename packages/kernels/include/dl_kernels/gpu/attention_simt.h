// Attention on a GPU without tensor cores and without storing the score matrix: a block owns a tile
// of queries and loops over tiles of keys with an online softmax. Source: Dao et al.,
// FlashAttention (2022). A block computes kSide columns of the result; for a larger head dimension,
// several blocks recompute the same scores.
#ifndef DL_KERNELS_GPU_ATTENTION_SIMT_H_
#define DL_KERNELS_GPU_ATTENTION_SIMT_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_tile.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace gpu {

// Online softmax of a thread's rows; each thread sums only its own columns.
template <class C>
struct RunningSoftmax {
  C running_max[kOwn], normalizer[kOwn];

  DL_DEVICE void start() {
    for (int r = 0; r < kOwn; ++r) {
      running_max[r] = lowest<C>();
      normalizer[r] = C(0);
    }
  }

  // Turn scores into weights relative to the new maximum, and rescale `out` to it.
  DL_DEVICE void take(TileSums<C>& scores, TileSums<C>& out) {
    DL_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      C new_max = running_max[r];
      DL_UNROLL
      for (int c = 0; c < kOwn; ++c) new_max = max_nan(new_max, scores.at[r][c]);
      new_max = along_row(new_max, max_nan<C>);
      // If every key so far is masked, the maximum is -infinity and must not be subtracted.
      const C shift = new_max == lowest<C>() ? C(0) : new_max;
      const C correction = math::exp(running_max[r] - shift);
      running_max[r] = new_max;
      normalizer[r] *= correction;
      DL_UNROLL
      for (int c = 0; c < kOwn; ++c) {
        scores.at[r][c] = math::exp(scores.at[r][c] - shift);
        normalizer[r] += scores.at[r][c];
        out.at[r][c] *= correction;
      }
    }
  }

  DL_DEVICE C total(int r) const {
    return along_row(normalizer[r], [](C a, C b) { return a + b; });
  }
};

template <class T, class C>
struct AttentionProblem {
  AttentionShape shape;
  AttentionTasks tasks{0, 0, 0, 0};
  Strided4<const T> q, k, v;
  AttentionMask mask;
  AttentionDropout dropout;
  Strided4<T> out;
  Strided4<C> lse;  // its data may be null
};

template <class T, class C>
DL_KERNEL void attention_kernel(AttentionProblem<T, C> problem) {
  DL_SHARED AttentionScratch<C> scratch;
  const AttentionDropout& dropout = problem.dropout;
  const RandomState random = dropout.active ? dropout.opened() : RandomState{};
  for (int64_t item = block_index(); item < problem.tasks.count; item += block_count()) {
    const AttentionTask task = problem.tasks.at(item);
    const AttentionShape shape = problem.shape.of(task.sample);
    const int64_t n = task.sample, h = task.head, kh = h / shape.group();
    const int64_t queries = tile_extent(task.first, shape.queries);
    const TileOperand<T> q =
        tile_rows(shape.query_rows(n, problem.q), n, h, task.first, queries, shape.width);
    const Strided4<const T> k = shape.key_rows(n, problem.k), v = shape.key_rows(n, problem.v);
    TileSums<C> out;
    out.clear();
    RunningSoftmax<C> softmax;
    softmax.start();
    // A tile beyond a short sequence has no keys. PoCL 6 corrupts memory if it is skipped: no
    // barrier may be in a loop whose body is left early.
    const int64_t end = queries > 0 ? shape.end_key(task.first + queries - 1) : 0;
    for (int64_t key = shape.first_key(task.first); key < end; key += kSide) {
      const int64_t keys = tile_extent(key, end);
      TileSums<C> scores;
      scores.clear();
      add_product(q, tile_rows(k, n, kh, key, keys, shape.width), scratch.slices, scores);
      scores.each([&](int r, int c, C& score) {
        score = masked_score<T>(shape, problem.mask, n, h, task.first + scores.row(r),
                                key + scores.column(c), score);
      });
      softmax.take(scores, out);
      if (dropout.active) {
        scores.each([&](int r, int c, C& weight) {
          weight = dropout.applied(
              random, dropout.number(n, h, task.first + scores.row(r), key + scores.column(c)),
              weight);
        });
      }
      scores.share(scratch.weights);
      add_shared_product(scratch.weights,
                         tile_columns(v, n, kh, key, keys, shape.value_width, task.column),
                         scratch.slices, out);
    }
    C total[kOwn];
    for (int r = 0; r < kOwn; ++r) total[r] = softmax.total(r);
    write_tile(out, shape.query_rows(n, problem.out), task, shape.queries, shape.value_width,
               [&](int r) { return total[r] == C(0) ? C(0) : C(1) / total[r]; });
    if (problem.lse.data == nullptr || task.column != 0 || out.column(0) != 0) continue;
    const Strided4<C> lse = shape.query_rows(n, problem.lse);
    for (int r = 0; r < kOwn; ++r) {
      const int64_t query = task.first + out.row(r);
      if (query < shape.queries)
        *lse.at(n, h, query) = softmax.running_max[r] + math::log(total[r]);
    }
  }
}

// Implements gpu/attention.h.
template <class T, class C>
void attention_in_tiles(const Launch& launch, const AttentionProblem<T, C>& given) {
  AttentionProblem<T, C> problem = given;
  const AttentionShape& shape = problem.shape;
  problem.tasks = AttentionTasks(shape.batch, shape.heads, shape.queries, shape.value_width);
  if (problem.tasks.count == 0) return;
  run_blocks(launch.stream(), problem.tasks.blocks(), attention_kernel<T, C>, problem);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_SIMT_H_
