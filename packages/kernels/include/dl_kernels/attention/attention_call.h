// Arguments shared by the attention operators, as they are passed to the kernels.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_CALL_H_
#define DL_KERNELS_ATTENTION_ATTENTION_CALL_H_

#include <initializer_list>

#include "dl_kernels/attention/attention.h"
#include "dl_kernels/attention/attention_operands.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/random/draws.h"

DL_KERNELS_BEGIN

// Open a mask, broadcast to [N, H, S, S']. With `hides`, true masks a key; otherwise, false.
// With `per_sequence`, a mask of three dimensions has a matrix for each sequence, not each head.
template <class T>
diopiError_t attention_mask(const char* op, diopiConstTensorHandle_t handle, bool hides,
                            bool per_sequence, const AttentionShape& shape, AttentionMask* mask) {
  if (handle == nullptr) return diopiSuccess;
  const TensorRef tensor = ref(handle);
  const bool is_byte = tensor.dtype == diopi_dtype_uint8 && hides;
  if (tensor.dtype == diopi_dtype_bool || is_byte) {
    mask->kind = hides ? MaskKind::hiding : MaskKind::boolean;
  } else if (tensor.dtype == dtype_of<T>() && !hides) {
    mask->kind = MaskKind::element;
  } else if (tensor.dtype == dtype_of<compute_t<T>>() && !hides) {
    mask->kind = MaskKind::compute;
  } else {
    return diopiDtypeNotSupported;
  }
  mask->data = tensor.data;
  const int64_t extents[4] = {shape.batch, shape.heads, shape.queries, shape.keys};
  int64_t* strides[4] = {&mask->batch, &mask->head, &mask->row, &mask->column};
  if (tensor.ndim > 4)
    return fail(op, "the mask has %lld dimensions; it may have at most 4", (long long)tensor.ndim);
  for (int64_t own = 0; own < tensor.ndim; ++own) {
    const bool is_sequence = per_sequence && tensor.ndim == 3 && own == 0;
    const int64_t d = is_sequence ? 0 : own + 4 - tensor.ndim, has = tensor.sizes[own];
    if (has != 1 && has != extents[d]) {
      return fail(op, "the mask has %lld elements in dim %lld and cannot be broadcast to %lld",
                  (long long)has, (long long)own, (long long)extents[d]);
    }
    *strides[d] = has == 1 ? 0 : tensor.strides[own];
  }
  return diopiSuccess;
}

// Slopes [H] or [N, H] of a linear bias on the distance between query and key. Source: Press et
// al., Train Short, Test Long: Attention with Linear Biases (ALiBi, 2022).
inline diopiError_t attention_slopes(const char* op, diopiConstTensorHandle_t handle,
                                     const AttentionShape& shape, AttentionMask* mask) {
  if (handle == nullptr) return diopiSuccess;
  const TensorRef tensor = ref(handle);
  if (tensor.dtype != diopi_dtype_float32) return diopiDtypeNotSupported;
  if (tensor.ndim == 2) {
    DL_TRY(check_sizes(op, "alibi_slopes", tensor, {shape.batch, shape.heads}));
    mask->slope_batch = tensor.strides[0];
    mask->slope_head = tensor.strides[1];
  } else {
    DL_TRY(check_sizes(op, "alibi_slopes", tensor, {shape.heads}));
    mask->slope_head = tensor.strides[0];
  }
  mask->slopes = tensor.as<const float>();
  return diopiSuccess;
}

// The arguments of a call; the fields are filled in as they are checked.
struct AttentionCall {
  const char* op = nullptr;
  AttentionInputs inputs{};
  AttentionShape shape{};
  diopiConstTensorHandle_t mask = nullptr;
  bool mask_hides = false;
  bool mask_per_sequence = false;
  diopiConstTensorHandle_t slopes = nullptr;
  double dropout = 0;
  diopiGeneratorHandle_t generator = nullptr;
  const uint8_t* stored_state = nullptr;  // serialized generator state, instead of a generator
  int64_t longest_queries = -1,
          longest_keys = -1;  // sizes by which weights are numbered; negative: the actual ones

  // Rows that belong to no sequence are set to 0.
  bool has_padding = false;

  // True: a row of statistics for each query of all packed samples. False: [N, H, S] with the
  // largest S.
  bool packed_statistics = false;

  // DIOPI counts windows and the diagonal from the end when there are more keys than queries.
  void set_window(bool is_causal, int64_t left, int64_t right) {
    shape.from_end = true;
    shape.left = left < 0 ? -1 : left;
    shape.right = is_causal ? 0 : right < 0 ? -1 : right;
  }

  int64_t numbered_queries() const { return longest_queries < 0 ? shape.queries : longest_queries; }
  int64_t numbered_keys() const { return longest_keys < 0 ? shape.keys : longest_keys; }

  diopiError_t check_dropout() const {
    if (!(dropout >= 0 && dropout <= 1))
      return fail(op, "the dropout probability %g is not in [0, 1]", dropout);
    if (dropout > 0 && generator == nullptr && stored_state == nullptr)
      return fail(op, "dropout needs a generator");
    int64_t weights = shape.batch;
    const bool too_many = __builtin_mul_overflow(weights, shape.heads, &weights) ||
                          __builtin_mul_overflow(weights, numbered_queries(), &weights) ||
                          __builtin_mul_overflow(weights, numbered_keys(), &weights);
    if (dropout > 0 && too_many)
      return fail(op,
                  "%lld samples of %lld heads, %lld queries and %lld keys have too many weights: "
                  "their number overflows int64",
                  (long long)shape.batch, (long long)shape.heads, (long long)numbered_queries(),
                  (long long)numbered_keys());
    return diopiSuccess;
  }

  // Reserve the generator's steps for all weights.
  AttentionDropout open_dropout() const {
    AttentionDropout opened{};
    if (dropout == 0) return opened;
    opened.active = true;
    opened.kept = BernoulliTrial(1.0 - dropout);
    opened.scale = dropout < 1 ? 1.0 / (1.0 - dropout) : 0.0;
    opened.heads = shape.heads;
    opened.queries = numbered_queries();
    opened.keys = numbered_keys();
    opened.stored = stored_state;
    if (stored_state == nullptr) {
      opened.state = take_steps(
          generator, word_steps(shape.batch * shape.heads * opened.queries * opened.keys));
    }
    return opened;
  }

  diopiError_t check_statistics(diopiConstTensorHandle_t lse) const {
    if (lse == nullptr) return diopiSuccess;
    const TensorRef tensor = ref(lse);
    if (!is_floating(tensor.dtype)) return diopiDtypeNotSupported;
    const bool fits =
        packed_statistics
            ? tensor.ndim == 2 && tensor.sizes[0] == shape.heads && tensor.sizes[1] == inputs.q.rows
            : tensor.ndim == 3 && tensor.sizes[0] == shape.batch &&
                  tensor.sizes[1] == shape.heads && tensor.sizes[2] == numbered_queries();
    if (fits) return diopiSuccess;
    if (packed_statistics)
      return fail(op, "the log-sum-exp must have the shape [%lld, %lld]", (long long)shape.heads,
                  (long long)inputs.q.rows);
    return fail(op, "the log-sum-exp must have the shape [%lld, %lld, %lld]",
                (long long)shape.batch, (long long)shape.heads, (long long)numbered_queries());
  }

  template <class C>
  Strided4<C> statistics(C* data) const {
    if (packed_statistics) return {data, 0, inputs.q.rows, 1, 0};
    return {data, shape.heads * numbered_queries(), numbered_queries(), 1, 0};
  }

  template <class T>
  diopiError_t open_mask(AttentionMask* opened) const {
    *opened = {};
    DL_TRY(attention_slopes(op, slopes, shape, opened));
    AttentionShape broadcast = shape;
    broadcast.queries = numbered_queries();
    broadcast.keys = numbered_keys();
    return attention_mask<T>(op, mask, mask_hides, mask_per_sequence, broadcast, opened);
  }
};

inline diopiError_t run_attention(diopiContextHandle_t ctx, const AttentionCall& call,
                                  diopiTensorHandle_t out, diopiTensorHandle_t lse) {
  const AttentionInputs& in = call.inputs;
  AttentionOperand o;
  DL_TRY(in.open_like(call.op, "the output", out, in.q, in.v.width, &o));
  DL_TRY(call.check_statistics(lse));
  DL_TRY(call.check_dropout());
  return dispatch<kFloats>(in.q.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    AttentionMask mask;
    DL_TRY(call.open_mask<T>(&mask));
    const Launch launch(ctx);
    const DenseOutput<C> logs(ctx, call.op, lse);
    DL_TRY(logs.status());
    if (call.has_padding) DL_TRY(fill_elements(ctx, call.op, ref(out), integer_scalar(0)));
    const bool has_gaps = call.shape.sequences != nullptr && !call.packed_statistics;
    if (has_gaps && lse != nullptr)
      clear_bytes(launch, logs.data(), ref(lse).numel * int64_t{sizeof(C)});
    attention<T>(launch, call.shape, in.q.as<const T>(), in.k.as<const T>(), in.v.as<const T>(),
                 mask, call.open_dropout(), o.as<T>(), call.statistics(logs.data()));
    return logs.finish();
  });
}

struct AttentionResults {
  diopiTensorHandle_t grad_q, grad_k, grad_v;
  diopiConstTensorHandle_t grad_out, out, lse;
};

inline diopiError_t run_attention_backward(diopiContextHandle_t ctx, const AttentionCall& call,
                                           const AttentionResults& results) {
  const AttentionInputs& in = call.inputs;
  const char* const op = call.op;
  AttentionOperand grad, o, gq, gk, gv;
  DL_TRY(in.open_like(op, "grad_out", results.grad_out, in.q, in.v.width, &grad));
  DL_TRY(in.open_like(op, "the output", results.out, in.q, in.v.width, &o));
  DL_TRY(in.open_like(op, "grad_q", results.grad_q, in.q, in.q.width, &gq));
  DL_TRY(in.open_like(op, "grad_k", results.grad_k, in.k, in.k.width, &gk));
  DL_TRY(in.open_like(op, "grad_v", results.grad_v, in.v, in.v.width, &gv));
  if (results.lse == nullptr) return fail(op, "the log-sum-exp of the forward pass is needed");
  DL_TRY(call.check_statistics(results.lse));
  DL_TRY(call.check_dropout());
  if (ref(results.grad_out).numel == 0) {
    // Without rows, the gradients are zero, whatever the number of heads.
    DL_TRY(fill_elements(ctx, op, ref(results.grad_q), integer_scalar(0)));
    DL_TRY(fill_elements(ctx, op, ref(results.grad_k), integer_scalar(0)));
    return fill_elements(ctx, op, ref(results.grad_v), integer_scalar(0));
  }
  return dispatch<kFloats>(in.q.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    AttentionMask mask;
    DL_TRY(call.open_mask<T>(&mask));
    const DenseInput<C> logs(ctx, op, results.lse);
    DL_TRY(logs.status());
    attention_backward<T>(Launch(ctx), call.shape, grad.as<const T>(), in.q.as<const T>(),
                          in.k.as<const T>(), in.v.as<const T>(), o.as<const T>(),
                          call.statistics(logs.data()), mask, call.open_dropout(), gq.as<T>(),
                          gk.as<T>(), gv.as<T>());
    return diopiSuccess;
  });
}

// Write the dropout mask of a call's weights, without advancing the generator.
inline diopiError_t write_kept_weights(diopiContextHandle_t ctx, const AttentionCall& call,
                                       diopiTensorHandle_t kept) {
  if (kept == nullptr) return fail(call.op, "return_debug_mask needs a debug_attn_mask");
  DL_TRY(call.check_dropout());
  const TensorRef tensor = ref(kept);
  DL_TRY(check_sizes(
      call.op, "debug_attn_mask", tensor,
      {call.shape.batch, call.shape.heads, call.numbered_queries(), call.numbered_keys()}));
  if (call.dropout == 0) return fill_elements(ctx, call.op, tensor, integer_scalar(1));
  const DenseOutput<Bool> drawn(ctx, call.op, tensor);
  DL_TRY(drawn.status());
  RandomState state{};
  read_generator(call.generator, &state.seed, &state.offset);
  draw_words(Launch(ctx), state, tensor.numel, BernoulliDraw{BernoulliTrial(1.0 - call.dropout)},
             Writes<Bool>{drawn.data()});
  return drawn.finish();
}

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_CALL_H_
