// Gradients of attention on tensor cores. A warp owns 16 queries or keys and keeps their rows and
// gradients in registers, as far as these suffice; tiles of the other operand pass through shared
// memory. Key and value gradients are computed in separate passes: the sums of both would not fit
// into registers. Source: Dao, FlashAttention-2 (2023).
#ifndef DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_
#define DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_

#include <cstdint>

#include "dl_kernels/gpu/attention_backward_simt.h"
#include "dl_kernels/gpu/attention_float_rows.h"
#include "dl_kernels/gpu/attention_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

enum class GradientOf { queries, keys, values };

// Operands of the score gradients: kept in registers, or reloaded for each tile.
template <class Rows, bool kKept>
struct RowGradients {
  uint32_t all[Rows::kSteps][4];

  template <class... A>
  DL_DEVICE void begin(A... arguments) {
    Rows::keep(all, arguments...);
  }
};
template <class Rows>
struct RowGradients<Rows, false> {
  typename Rows::Source all;

  template <class Shared, class T>
  DL_DEVICE void begin(Shared*, const T* from, int64_t row_step, int64_t, int rows, int width,
                       bool) {
    all = Rows::source(from, row_step, rows, width);
  }
};

// Load the terms of `count` queries to shared memory, followed by zeros that are never used.
template <int kCount>
DL_DEVICE void load_terms(QueryTerms<float>* to, const QueryTerms<float>* from, int count) {
  const int i = thread_index();
  if (i >= kCount) return;
  if constexpr (kAsyncCopies) {
    copy_eight_async(shared_address(to + i), i < count ? from + i : from, i < count ? 8 : 0);
  } else {
    to[i] = i < count ? from[i] : QueryTerms<float>{0, 0};
  }
}

// The rows of a block, recomputed where they are needed because registers are scarce.
struct GradientRows {
  int n, head, first;
};
DL_DEVICE GradientRows gradient_rows(int heads, int tiles) {
  const int item = opaque_value(static_cast<int>(block_index())), of_head = item / tiles;
  return {of_head / heads, of_head % heads, item % tiles * (16 * kThreads / 32)};
}

// `heads` and `tiles` refer to the rows of the gradient.
template <class T, int kWidth, GradientOf kOf>
DL_DEVICE void make_gradient(const AttentionGradients<T, float>& problem, int heads, int tiles,
                             const Strided4<T>& grad, const AttentionAlignment& whole) {
  using Rows = AttentionRows<T, kWidth>;
  constexpr bool kOfKeys = kOf != GradientOf::queries, kOfValues = kOf == GradientOf::values;
  constexpr int kOwn = 16 * kThreads / 32, kTile = sizeof(T) == 2 && kWidth <= 64 ? 64 : 32;
  constexpr int kTiles = kTile / 8;
  constexpr int kOwnRows = sizeof(T) == 2 ? kOwn : 0;  // rows that pass through shared memory
  constexpr int kRoom = kOwnRows > 2 * kTile ? kOwnRows : 2 * kTile;
  DL_SHARED alignas(kRowAlignment) Chunk<T> shared[kRoom * Rows::kPitch];
  DL_SHARED alignas(16) QueryTerms<float> terms[kOfKeys ? kTile : kOwn];
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  const GradientRows own_rows = gradient_rows(heads, tiles);
  const int n = own_rows.n, head = own_rows.head, first = own_rows.first;
  const AttentionShape shape = problem.shape.of(n);
  const int left = static_cast<int>(kOfKeys ? shape.keys : shape.queries) - first;
  if (left <= 0) return;
  const int width = static_cast<int>(shape.width),
            value_width = static_cast<int>(shape.value_width);
  const int group = static_cast<int>(shape.group()), kh = kOfKeys ? head : head / group;
  const Strided4<const T> q = shape.query_rows(n, problem.q), k = shape.key_rows(n, problem.k),
                          v = shape.key_rows(n, problem.v),
                          g = shape.query_rows(n, problem.grad_out);

  // Own rows times `others` are scores; own rows times `other_grads` are gradients of
  // weights.
  const Strided4<const T>&own = kOfKeys ? k : q, &own_grads = kOfKeys ? v : g;
  const Strided4<const T>&others = kOfKeys ? q : k, &other_grads = kOfKeys ? g : v;
  const Rows rows(lane);
  uint32_t row[Rows::kSteps][4];
  Rows::keep(row, shared, own.at(n, head, first), own.row, own.column, left, width,
             kOfKeys ? whole.k : whole.q);
  RowGradients<Rows, Rows::kKeepsPairs> row_grads;
  if constexpr (!kOfValues)
    row_grads.begin(shared, own_grads.at(n, head, first), own_grads.row, own_grads.column, left,
                    value_width, kOfKeys ? whole.v : whole.grad_out);

  const int last = first + (left < kOwn ? left : kOwn) - 1;
  const int count = static_cast<int>(kOfKeys ? shape.queries : shape.keys);
  const int begin = static_cast<int>(kOfKeys ? shape.first_query(first) : shape.first_key(first));
  const int end = static_cast<int>(kOfKeys ? shape.end_query(last) : shape.end_key(last));
  const auto all_see = [&](int at) {
    const int from = opaque_value(first), to = from + kOwn - 1;
    return left >= kOwn && at >= (kOfKeys ? shape.first_query(to) : shape.first_key(to)) &&
           at + kTile <= (kOfKeys ? shape.end_query(from) : shape.end_key(from));
  };
  const bool masked = problem.mask.kind != MaskKind::none || problem.mask.slopes != nullptr;
  const float scale = static_cast<float>(shape.scale) * kLogOfE;
  // The weights are at most 1, and tiny ones would be subnormal in half precision: scale them by
  // 2^kRaised.
  constexpr float kRaised = kOfValues ? 12 : 0;

  // Double buffering with two tensors: while a tile of one is multiplied, the next tile of the
  // other is loaded. The operand that the weights are multiplied with comes second.
  Chunk<T>* const buffers[2] = {shared, shared + kTile * Rows::kPitch};
  const uint32_t tile_rows = shared_address(buffers[kOfValues ? 0 : 1]),
                 tile_grads = shared_address(buffers[kOfValues ? 1 : 0]);
  const auto load = [&](int buffer, int h, int at) {
    const int of = opaque_value(kOfKeys ? h : kh);
    if (buffer == (kOfValues ? 0 : 1)) {
      Rows::template load<kTile>(buffers[buffer], others.at(n, of, at), others.row, others.column,
                                 count - at, width, kOfKeys ? whole.q : whole.k);
      if constexpr (kOfKeys)
        load_terms<kTile>(terms, problem.terms + problem.index_of(n, h, at), count - at);
    } else {
      Rows::template load<kTile>(buffers[buffer], other_grads.at(n, of, at), other_grads.row,
                                 other_grads.column, count - at, value_width,
                                 kOfKeys ? whole.grad_out : whole.v);
    }
    commit_copies();
  };
  float scores[kTiles][4], changes[kTiles][4];
  // Turn scores into weights, or into gradients of scores.
  const auto weigh = [&](int h, int at) {
    DL_UNROLL
    for (int c = 0; c < kTiles; ++c) {
      DL_UNROLL
      for (int e = 0; e < 4; ++e) scores[c][e] = 0;
    }
    rows.multiply(scores, row, tile_rows, width);
    float factor = scale;
    if (masked || !all_see(at)) {
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c) {
        DL_UNROLL
        for (int e = 0; e < 4; ++e) scores[c][e] *= scale;
      }
      const GradientRows here = gradient_rows(heads, tiles);
      const AttentionWindow<kOfKeys> window(shape, here.first + warp * 16 + lane / 4);
      window.template apply<T>(scores, problem.mask, here.n, kOfKeys ? h : here.head, at);
      factor = 1;
    }
    QueryTerms<float> of_rows[2];
    DL_UNROLL
    for (int r = 0; r < 2; ++r) {
      if constexpr (!kOfKeys) of_rows[r] = terms[warp * 16 + lane / 4 + 8 * r];
    }
    DL_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      QueryTerms<float> of_column{};
      if constexpr (kOfKeys) of_column = terms[i / 2 * 8 + lane % 4 * 2 + i % 2];
      DL_UNROLL
      for (int r = 0; r < 2; ++r) {
        const QueryTerms<float> used = kOfKeys ? of_column : of_rows[r];
        float& weight = scores[i / 2][2 * r + i % 2];
        weight = power_of_2(weight * factor - (used.lse - kRaised));
        if constexpr (!kOfValues) weight *= changes[i / 2][2 * r + i % 2] - used.delta;
      }
    }
  };
  float out[kWidth / 8][4] = {};
  int h = kOfKeys ? kh * group : head;
  const int last_head = kOfKeys ? h + group - 1 : h;
  if (begin < end) {
    if constexpr (!kOfKeys)
      load_terms<kOwn>(terms, problem.terms + problem.index_of(n, head, first), left);
    load(0, h, begin);
    load(1, h, begin);
    wait_for_copies<1>();
    barrier();
  }
  for (int at = begin; at < end;) {
    const bool next_head = at + kTile >= end;
    const int then_head = next_head ? h + 1 : h;
    const int then = next_head ? begin : at + kTile;
    const bool more = then_head <= last_head;
    if constexpr (kOfValues) {
      weigh(h, at);
    } else {
      DL_UNROLL
      for (int c = 0; c < kTiles; ++c) {
        DL_UNROLL
        for (int e = 0; e < 4; ++e) changes[c][e] = 0;
      }
      rows.multiply(changes, row_grads.all, tile_grads, value_width);
    }
    wait_for_copies<0>();
    barrier();
    if (more) load(0, then_head, then);
    if constexpr (!kOfValues) weigh(h, at);
    rows.multiply_transposed(out, scores, shared_address(buffers[1]),
                             kOfValues ? value_width : width);
    if (!more) break;
    wait_for_copies<0>();
    barrier();
    load(1, then_head, then);
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
  const GradientRows here = gradient_rows(heads, tiles);
  const Strided4<T> to = kOfKeys ? shape.key_rows(here.n, grad) : shape.query_rows(here.n, grad);
  Rows::store(shared, out, to.at(here.n, here.head, here.first + warp * 16), to.row, to.column,
              left - warp * 16, kOfValues ? value_width : width, whole.out);
}

template <class T, int kWidth, GradientOf kOf>
DL_KERNEL void tensor_gradient_kernel(AttentionGradients<T, float> problem, int heads, int tiles,
                                      Strided4<T> grad, AttentionAlignment whole) {
  if constexpr (AttentionRows<T, kWidth>::kAvailable)
    make_gradient<T, kWidth, kOf>(problem, heads, tiles, grad, whole);
}

template <class T>
struct GradientTargets {
  Strided4<T> q, k, v;
};

// Return true if the gradients can use tensor cores: the operands are suitable and there is no
// dropout.
template <class T>
bool attention_gradients_suit_tensor_cores(const AttentionGradients<T, float>& problem,
                                           const GradientTargets<T>& to) {
  const AttentionShape& shape = problem.shape;
  const AttentionAlignment whole{is_whole(problem.q), is_whole(problem.k), is_whole(problem.v),
                                 is_whole(problem.grad_out),
                                 is_whole(to.q) && is_whole(to.k) && is_whole(to.v)};
  return !problem.dropout.active &&
         shape.batch * shape.heads * (shape.queries / 128 + 1) <= kMostOnTensorCores &&
         shape.batch * shape.key_heads * (shape.keys / 128 + 1) <= kMostOnTensorCores &&
         suits<T>(shape, whole, tensor_gradient_kernel<T, 64, GradientOf::queries>);
}

// Launch the kernels for suitable operands. The log-sum-exp terms are to base 2.
template <class T>
void attention_gradients_on_tensor_cores(const Launch& launch,
                                         const AttentionGradients<T, float>& problem,
                                         const GradientTargets<T>& to) {
  const AttentionShape& shape = problem.shape;
  constexpr int64_t kOwn = 16 * kThreads / 32;
  const int64_t of_queries = (shape.queries + kOwn - 1) / kOwn;
  const int64_t of_keys = (shape.keys + kOwn - 1) / kOwn;
  AttentionAlignment whole{is_whole(problem.q), is_whole(problem.k), is_whole(problem.v),
                           is_whole(problem.grad_out), false};
  const auto run = [&](auto* kernel, int64_t heads, int64_t tiles, const Strided4<T>& grad) {
    whole.out = is_whole(grad);
    if (shape.batch * heads * tiles > 0)
      run_blocks(launch.stream(), shape.batch * heads * tiles, kernel, problem,
                 static_cast<int>(heads), static_cast<int>(tiles), grad, whole);
  };
  const bool narrow = widest_row(shape) <= 64;
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::queries>
             : tensor_gradient_kernel<T, 128, GradientOf::queries>,
      shape.heads, of_queries, to.q);
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::keys>
             : tensor_gradient_kernel<T, 128, GradientOf::keys>,
      shape.key_heads, of_keys, to.k);
  run(narrow ? tensor_gradient_kernel<T, 64, GradientOf::values>
             : tensor_gradient_kernel<T, 128, GradientOf::values>,
      shape.key_heads, of_keys, to.v);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_BACKWARD_TENSOR_H_
