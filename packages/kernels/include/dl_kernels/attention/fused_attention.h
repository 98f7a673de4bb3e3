// A fused attention layer of a language model: project rows to queries, keys and values, rotate
// queries and keys, append keys and values to a cache, and attend over the cache. The rotation is
// the rotary position embedding of Su et al., RoFormer (2021).
#ifndef DL_KERNELS_ATTENTION_FUSED_ATTENTION_H_
#define DL_KERNELS_ATTENTION_FUSED_ATTENTION_H_

#include <cmath>

#include "dl_kernels/attention/attention.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/index/indexes.h"
#include "dl_kernels/matrix/rows_product.h"

DL_KERNELS_BEGIN

// Answer a workspace query with 0: scratch memory is allocated by the host, not the caller.
inline bool answer_workspace_query(int64_t* size) {
  if (size == nullptr || *size >= 0) return false;
  *size = 0;
  return true;
}

// Position of a row's token in its sequence, and its slot in the cache.
struct TokenPosition {
  int64_t sample, position, slot;
  bool skipped;
};

// Positions for prompts of equal length that follow a history of equal length.
struct PromptPositions {
  int64_t length, history;
  DL_FN TokenPosition operator()(int64_t row) const {
    const int64_t position = history + row % length;
    return {row / length, position, position, false};
  }
};

// Positions for one new token of each sequence.
struct NewTokenPositions {
  const Bool* finished;
  const int64_t *padding, *lengths;
  int64_t step, slots;
  DL_FN TokenPosition operator()(int64_t n) const {
    // Unsigned arithmetic wraps around: padding may have any value.
    const uint64_t position = static_cast<uint64_t>(step) - 1 - static_cast<uint64_t>(padding[n]);
    return {n, static_cast<int64_t>(position), lengths[n] % slots, cast<bool>(finished[n])};
  }
};

// The length of a finished sequence is ignored.
struct RunningLengthItem {
  int64_t* to;
  const int64_t* lengths;
  const Bool* finished;
  DL_FN void operator()(int64_t n) const { to[n] = cast<bool>(finished[n]) ? 0 : lengths[n]; }
};

// Lengths in AttentionShape's format: one query for each unfinished sequence, and its cached keys.
struct TokenSequenceItem {
  int64_t* to;
  NewTokenPositions from;
  int64_t batch;
  DL_FN void operator()(int64_t n) const {
    to[n] = to[2 * batch + n] = 0;
    to[batch + n] = cast<bool>(from.finished[n]) ? 0 : 1;
    to[3 * batch + n] = from.lengths[n] < from.slots ? from.lengths[n] + 1 : from.slots;
  }
};

class TokenSequences {
 public:
  diopiError_t open(diopiContextHandle_t ctx, const char* op, const TensorRef& finished,
                    const TensorRef& padding, const TensorRef& lengths, int64_t step,
                    int64_t slots) {
    const Launch launch(ctx);
    const int64_t batch = finished.numel;
    const DenseInput<Bool> done(ctx, op, finished);
    const DenseInput<int64_t> pads(ctx, op, padding), given(ctx, op, lengths);
    DL_TRY(first_status(done, pads, given));
    // The kernels read this copy after this function has released its inputs.
    copy_bytes(launch, finished_.reserve(launch, batch), done.data(), batch);
    copy_bytes(launch, padding_.reserve(launch, batch), pads.data(), 8 * batch);
    running_.reserve(launch, batch);
    each(launch, batch, 1, RunningLengthItem{running_.data(), given.data(), finished_.data()});
    DL_TRY(check_indexes(launch, op, running_.data(), batch, 0, int64_t{1} << 62, lengths_));
    positions_ = {finished_.data(), padding_.data(), lengths_.data(), step, slots};
    each(launch, batch, 4,
         TokenSequenceItem{sequences_.reserve(launch, 4 * batch), positions_, batch});
    return diopiSuccess;
  }

  const NewTokenPositions& positions() const { return positions_; }
  const int64_t* lengths() const { return sequences_.data(); }

 private:
  Workspace<Bool> finished_;
  Workspace<int64_t> padding_, running_, sequences_;
  CheckedIndexes lengths_;
  NewTokenPositions positions_{};
};

// Rotates a pair of adjacent elements in a head of queries or keys.
template <class T, class Positions>
struct RotateItem {
  T* rows;
  Positions positions;
  int64_t heads, pairs, width, columns;
  double theta;
  DL_FN void operator()(int64_t item) const {
    const int64_t pair = item % pairs, h = item / pairs % heads, row = item / (pairs * heads);
    const TokenPosition token = positions(row);
    if (token.skipped) return;
    using C = compute_t<T>;
    // float32 has too few digits for the angle of a large position.
    const double angle = static_cast<double>(token.position) *
                         std::pow(theta, -static_cast<double>(pair) / static_cast<double>(pairs));
    const C cosine = static_cast<C>(std::cos(angle)), sine = static_cast<C>(std::sin(angle));
    T* const at = rows + row * columns + h * width + 2 * pair;
    const C x = cast<C>(at[0]), y = cast<C>(at[1]);
    at[0] = cast<T>(x * cosine - y * sine);
    at[1] = cast<T>(x * sine + y * cosine);
  }
};

template <class T, class Positions>
struct StoreItem {
  const T* rows;  // the first key of the first row
  Strided4<T> keys, values;
  Positions positions;
  int64_t heads, width, columns;
  DL_FN void operator()(int64_t item) const {
    const int64_t d = item % width, h = item / width % heads, row = item / (width * heads);
    const TokenPosition token = positions(row);
    if (token.skipped) return;
    const T* const from = rows + row * columns + h * width + d;
    keys.at(token.sample, h, token.slot)[d * keys.column] = from[0];
    values.at(token.sample, h, token.slot)[d * values.column] = from[heads * width];
  }
};

struct FusedLayer {
  const char* op;
  int64_t heads, key_heads, width, slots, rotated;
  double theta;

  TensorRef rows_{}, weight_{}, bias_{}, keys_{}, values_{};
  int64_t layer_ = 0;

  diopiError_t open(diopiTensorHandle_t inoutput, diopiConstTensorHandle_t weight,
                    diopiConstTensorHandle_t bias, diopiTensorHandle_t key_cache,
                    diopiTensorHandle_t value_cache, int64_t layer, int64_t fusion_level) {
    if (fusion_level < 0)
      return fail(op, "fusion_level is %lld; it must be at least 0", (long long)fusion_level);
    DL_TRY(check_positive(op, {{"local_head_num", heads},
                               {"local_kv_head_num", key_heads},
                               {"size_per_head", width},
                               {"max_seq_len", slots}}));
    if (heads % key_heads != 0)
      return fail(op, "local_head_num is %lld; it must be a multiple of local_kv_head_num, %lld",
                  (long long)heads, (long long)key_heads);
    if (rotated < 0 || rotated > width || rotated % 2 != 0)
      return fail(op, "rotary_embedding is %lld; it must be even, from 0 to size_per_head, %lld",
                  (long long)rotated, (long long)width);
    int64_t columns = 0;
    if (heads > (int64_t{1} << 60) ||
        __builtin_mul_overflow(heads + 2 * key_heads, width, &columns))
      return fail(op,
                  "the columns of qkv_weight overflow int64: local_head_num is %lld, "
                  "size_per_head %lld",
                  (long long)heads, (long long)width);
    rows_ = ref(inoutput);
    weight_ = ref(weight);
    keys_ = ref(key_cache);
    values_ = ref(value_cache);
    if (!alike<kFloats>({rows_, weight_, keys_, values_})) return diopiDtypeNotSupported;
    DL_TRY(check_sizes(op, "inoutput", rows_, {kAnySize, heads * width}));
    DL_TRY(check_sizes(op, "qkv_weight", weight_, {heads * width, columns}));
    if (bias != nullptr) {
      bias_ = ref(bias);
      if (bias_.dtype != rows_.dtype) return diopiDtypeNotSupported;
      if (bias_.ndim == 2) {
        DL_TRY(check_sizes(op, "qkv_bias", bias_, {1, columns}));
      } else {
        DL_TRY(check_sizes(op, "qkv_bias", bias_, {columns}));
      }
    }
    DL_TRY(check_sizes(op, "key_cache", keys_, {kAnySize, kAnySize, key_heads, slots, width}));
    DL_TRY(check_sizes(op, "value_cache", values_,
                       {keys_.sizes[0], keys_.sizes[1], key_heads, slots, width}));
    if (layer < 0 || layer >= keys_.sizes[0])
      return fail(op, "layer_id is %lld; the caches have %lld layers", (long long)layer,
                  (long long)keys_.sizes[0]);
    layer_ = layer;
    return diopiSuccess;
  }

  int64_t batch() const { return keys_.sizes[1]; }
  int64_t tokens() const { return rows_.sizes[0]; }
  int64_t columns() const { return (heads + 2 * key_heads) * width; }

  // Call use(tag, rows) with the projected rows, [tokens, columns()].
  template <class F>
  diopiError_t run(diopiContextHandle_t ctx, const F& use) const {
    return dispatch<kFloats>(rows_.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Launch launch(ctx);
      const Workspace<T> projected(launch, tokens() * columns());
      rows_product<T>(launch, tokens(), columns(), heads * width, matrix_of<const T>(rows_),
                      matrix_of<const T>(weight_), bias_.as<const T>(),
                      bias_.data == nullptr ? 0 : bias_.strides[bias_.ndim - 1],
                      Matrix<T>{projected.data(), columns(), 1});
      return use(tag, projected);
    });
  }

  template <class T, class Positions>
  void rotate_and_store(diopiContextHandle_t ctx, const Workspace<T>& rows,
                        const Positions& positions) const {
    const Launch launch(ctx);
    const int64_t rotated_heads = heads + key_heads;
    each(launch, tokens() * rotated_heads * (rotated / 2), 64,
         RotateItem<T, Positions>{rows.data(), positions, rotated_heads, rotated / 2, width,
                                  columns(), theta});
    each(launch, tokens() * key_heads * width, 4,
         StoreItem<T, Positions>{rows.data() + heads * width, cache<T>(keys_), cache<T>(values_),
                                 positions, key_heads, width, columns()});
  }

  AttentionShape shape(int64_t queries, int64_t keys) const {
    AttentionShape all{};
    all.batch = batch();
    all.heads = heads;
    all.key_heads = key_heads;
    all.queries = queries;
    all.keys = keys;
    all.width = all.value_width = width;
    all.scale = 1 / std::sqrt(static_cast<double>(width));
    all.left = all.right = -1;
    return all;
  }

  // Overwrites the projected rows.
  template <class T>
  void attend(diopiContextHandle_t ctx, const AttentionShape& shape,
              const Workspace<T>& rows) const {
    const Strided4<const T> q{rows.data(), shape.queries * columns(), width, columns(), 1};
    const Strided4<T> out{rows_.as<T>(), shape.queries * rows_.strides[0], width * rows_.strides[1],
                          rows_.strides[0], rows_.strides[1]};
    attention<T>(Launch(ctx), shape, q, constant(cache<T>(keys_)), constant(cache<T>(values_)),
                 AttentionMask{}, AttentionDropout{}, out, Strided4<compute_t<T>>{});
  }

 private:
  template <class T>
  Strided4<T> cache(const TensorRef& tensor) const {
    return {tensor.as<T>() + layer_ * tensor.strides[0], tensor.strides[1], tensor.strides[2],
            tensor.strides[3], tensor.strides[4]};
  }
  template <class T>
  static Strided4<const T> constant(const Strided4<T>& tensor) {
    return {tensor.data, tensor.batch, tensor.head, tensor.row, tensor.column};
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_FUSED_ATTENTION_H_
