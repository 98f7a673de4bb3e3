// Results that attention operators store for their own gradient, in a format private to this
// library. softmax_out holds the log-sum-exp of the scores, dropout_mask the generator state from
// which the gradient recomputes the dropped weights; softmax_max and softmax_sum stay empty.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_STORED_H_
#define DL_KERNELS_ATTENTION_ATTENTION_STORED_H_

#include "dl_kernels/attention/attention_call.h"

DL_KERNELS_BEGIN

struct StoredAttention {
  diopiTensorHandle_t *dropout_mask, *softmax_max, *softmax_sum, *softmax_out;
};

struct StoreStateItem {
  uint8_t* to;
  RandomState state;
  DL_FN void operator()(int64_t) const { AttentionDropout::store(state, to); }
};

inline diopiError_t run_storing_attention(diopiContextHandle_t ctx, AttentionCall call,
                                          diopiTensorHandle_t out, const StoredAttention& stored,
                                          diopiConstTensorHandle_t beside) {
  const char* const op = call.op;
  DL_TRY(call.check_dropout());
  const diopiDtype_t dtype = call.inputs.q.dtype;
  const diopiDtype_t wide = dtype == diopi_dtype_float64 ? dtype : diopi_dtype_float32;
  for (diopiTensorHandle_t* const unused : {stored.softmax_max, stored.softmax_sum})
    DL_TRY(require_output(ctx, op, unused, {0}, diopi_dtype_float32, beside));
  const AttentionShape& shape = call.shape;
  DL_TRY(call.packed_statistics
             ? require_output(ctx, op, stored.softmax_out, {shape.heads, call.inputs.q.rows}, wide,
                              beside)
             : require_output(ctx, op, stored.softmax_out,
                              {shape.batch, shape.heads, shape.queries}, wide, beside));
  *stored.dropout_mask = nullptr;
  if (call.dropout > 0) {
    DL_TRY(require_output(ctx, op, stored.dropout_mask, {AttentionDropout::kStateBytes},
                          diopi_dtype_uint8, beside));
    StoreStateItem item{ref(*stored.dropout_mask).as<uint8_t>(), {}};
    read_generator(call.generator, &item.state.seed, &item.state.offset);
    each(Launch(ctx), 1, 1, item);
  }
  return run_attention(ctx, call, out, *stored.softmax_out);
}

inline diopiError_t run_stored_backward(diopiContextHandle_t ctx, AttentionCall call,
                                        const AttentionResults& results,
                                        diopiConstTensorHandle_t dropout_mask) {
  if (call.dropout > 0) {
    if (dropout_mask == nullptr)
      return fail(call.op, "the dropout mask of the forward pass is needed");
    const TensorRef state = ref(dropout_mask);
    if (state.dtype != diopi_dtype_uint8) return diopiDtypeNotSupported;
    DL_TRY(check_sizes(call.op, "dropout_mask", state, {AttentionDropout::kStateBytes}));
    const DenseInput<uint8_t> bytes(ctx, call.op, state);
    DL_TRY(bytes.status());
    call.stored_state = bytes.data();
    return run_attention_backward(ctx, call, results);
  }
  return run_attention_backward(ctx, call, results);
}

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_STORED_H_
