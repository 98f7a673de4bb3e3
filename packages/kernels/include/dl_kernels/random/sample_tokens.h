// The next token of each sequence: code shared by top-k and top-p sampling.
#ifndef DL_KERNELS_RANDOM_SAMPLE_TOKENS_H_
#define DL_KERNELS_RANDOM_SAMPLE_TOKENS_H_

#include <cstdint>

#include "dl_kernels/base/wide.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/random/token_draw.h"
#include "dl_kernels/sort/sort.h"

DL_KERNELS_BEGIN

inline bool has_dtype(diopiConstTensorHandle_t tensor, diopiDtype_t dtype) {
  return tensor == nullptr || ref(tensor).dtype == dtype;
}

inline bool has_indexes(diopiConstTensorHandle_t tensor) {
  return tensor == nullptr || (dtype_bit(ref(tensor).dtype) & kIndexes) != 0;
}

// Check an optional tensor with one element per sequence.
inline diopiError_t check_each(const char* op, const char* name, diopiConstTensorHandle_t tensor,
                               int64_t batch) {
  return tensor == nullptr ? diopiSuccess : check_sizes(op, name, ref(tensor), {batch});
}

// Check a sampling parameter, which also has to fit into int32 tensors.
inline diopiError_t check_number(const char* op, const char* name, int64_t value) {
  if (value >= 0 && value <= INT32_MAX) return diopiSuccess;
  return fail(op, "%s is %lld; it must be from 0 to 2^31 - 1", name, (long long)value);
}

inline diopiError_t check_limits(const char* op, diopiTensorHandle_t top_ks,
                                 diopiTensorHandle_t top_ps, diopiTensorHandle_t skip,
                                 int64_t batch, int64_t top_k) {
  if (!has_indexes(top_ks) || !has_dtype(top_ps, diopi_dtype_float32) ||
      !has_dtype(skip, diopi_dtype_bool))
    return diopiDtypeNotSupported;
  DL_TRY(check_number(op, "top_k", top_k));
  DL_TRY(check_each(op, "top_ks", top_ks, batch));
  DL_TRY(check_each(op, "top_ps", top_ps, batch));
  return check_each(op, "skip_decode", skip, batch);
}

// Return the number of candidates to select per sequence. On a GPU, the host cannot read the
// requested number without waiting, so this is the maximum.
inline int64_t most_candidates(const int64_t* top_k, int64_t batch, int64_t vocabulary) {
  int64_t most = 1;
#if DL_KERNELS_GPU
  (void)top_k, (void)batch;
  most = kMostCandidates;
#else
  for (int64_t i = 0; i < batch; ++i) most = top_k[i] > most ? top_k[i] : most;
  most = most < kMostCandidates ? most : kMostCandidates;
#endif
  return most < vocabulary ? most : vocabulary;
}

// Arguments of both sampling operators.
struct Sampling {
  diopiTensorHandle_t output_ids;
  diopiConstTensorHandle_t logits, end_ids;
  diopiTensorHandle_t finished, sequence_lengths;
  int64_t step, batch, vocabulary;
  diopiConstTensorHandle_t top_k;  // null for top-p sampling
  diopiConstTensorHandle_t top_p, skip;
  diopiTensorHandle_t cumulative, log_probabilities;
  diopiGeneratorHandle_t* generators;
};

inline diopiError_t check_sampling(const char* op, const Sampling& s) {
  if (!is_floating(ref(s.logits).dtype)) return diopiDtypeNotSupported;
  for (diopiConstTensorHandle_t x : {s.end_ids, s.top_k, diopiConstTensorHandle_t(s.output_ids),
                                     diopiConstTensorHandle_t(s.sequence_lengths)}) {
    if (!has_indexes(x)) return diopiDtypeNotSupported;
  }
  for (diopiConstTensorHandle_t x : {s.top_p, diopiConstTensorHandle_t(s.cumulative),
                                     diopiConstTensorHandle_t(s.log_probabilities)}) {
    if (!has_dtype(x, diopi_dtype_float32)) return diopiDtypeNotSupported;
  }
  if (!has_dtype(s.finished, diopi_dtype_bool) || !has_dtype(s.skip, diopi_dtype_bool))
    return diopiDtypeNotSupported;
  const TensorRef ids = ref(s.output_ids);
  DL_TRY(check_sizes(op, "logits", ref(s.logits), {s.batch, s.vocabulary}));
  DL_TRY(check_sizes(op, "output_ids", ids, {kAnySize, s.batch}));
  DL_TRY(check_each(op, "end_ids", s.end_ids, s.batch));
  DL_TRY(check_each(op, "finished", s.finished, s.batch));
  DL_TRY(check_each(op, "sequence_lengths", s.sequence_lengths, s.batch));
  DL_TRY(check_each(op, "runtime_top_k", s.top_k, s.batch));
  DL_TRY(check_each(op, "runtime_top_p", s.top_p, s.batch));
  DL_TRY(check_each(op, "skip_decode", s.skip, s.batch));
  DL_TRY(check_each(op, "cum_log_probs", s.cumulative, s.batch));
  DL_TRY(check_each(op, "output_log_probs", s.log_probabilities, s.batch));
  if (s.step < 0 || s.step >= ids.sizes[0])
    return fail(op, "step is %lld; output_ids has %lld steps", (long long)s.step,
                (long long)ids.sizes[0]);
  if (s.vocabulary == 0) return fail(op, "there are no tokens to draw from; give at least one");
  for (int64_t i = 0; i < s.batch; ++i) {
    if (s.generators[i] == nullptr)
      return fail(op, "generator %lld is NULL; give one for each sequence", (long long)i);
  }
  return diopiSuccess;
}

inline diopiError_t sample_tokens(diopiContextHandle_t ctx, const char* op, int64_t fusion_level,
                                  const Sampling& s) {
  if (fusion_level < 0)
    return fail(op, "fusion_level is %lld; it must be at least 0", (long long)fusion_level);
  DL_TRY(check_sampling(op, s));
  const TensorRef ids = ref(s.output_ids), x = ref(s.logits);
  TensorRef now = ids;  // the row of this step
  now.data = static_cast<char*>(ids.data) + s.step * ids.strides[0] * dl_dtype_bytes(ids.dtype);
  now.sizes += 1;
  now.strides += 1;
  now.ndim = 1;
  now.numel = s.batch;
  now.contiguous = s.batch <= 1 || now.strides[0] == 1;
  return dispatch_wide(x.dtype, [&](auto tag) {
    using C = typename decltype(tag)::type;
    const Launch launch(ctx);
    const DenseInput<C> logits(ctx, op, x);
    const DenseInput<int64_t> ends(ctx, op, s.end_ids), top_k(ctx, op, s.top_k);
    const DenseInput<float> top_p(ctx, op, s.top_p);
    const DenseInput<Bool> skip(ctx, op, s.skip);
    const DenseInOut<int64_t> tokens(ctx, op, now), lengths(ctx, op, s.sequence_lengths);
    const DenseInOut<Bool> finished(ctx, op, s.finished);
    const DenseInOut<float> cumulative(ctx, op, s.cumulative);
    const DenseInOut<float> log_probabilities(ctx, op, s.log_probabilities);
    DL_TRY(first_status(logits, ends, top_k, top_p, skip, tokens, lengths, finished, cumulative,
                        log_probabilities));
    const int64_t kept =
        s.top_k == nullptr ? s.vocabulary : most_candidates(top_k.data(), s.batch, s.vocabulary);
    const Workspace<C> values(launch, s.batch * kept);
    const Workspace<int64_t> order(launch, s.batch * kept);
    const Workspace<double> running(launch, s.batch * kept), totals(launch, s.batch),
        uniform(launch, s.batch);
    const DimPlan<3> plan = dense_rows(s.batch, s.vocabulary, kept);
    if (kept == s.vocabulary) {
      DL_TRY(sort_along<C>(launch, {true}, plan, logits.data(), values.data(), order.data()));
    } else {
      DL_TRY(select_along<C>(launch, {true}, plan, logits.data(), kept, true, values.data(),
                             order.data()));
    }
    draw_uniforms(launch, s.generators, s.batch, uniform.data());
    const TokenDraw<C> draw{logits.data(),
                            s.vocabulary,
                            values.data(),
                            order.data(),
                            kept,
                            top_k.data(),
                            top_p.data(),
                            uniform.data(),
                            skip.data(),
                            ends.data(),
                            running.data(),
                            totals.data(),
                            tokens.data(),
                            finished.data(),
                            lengths.data(),
                            cumulative.data(),
                            log_probabilities.data()};
    rows(launch, s.batch, 16 * s.vocabulary, AddWeights<C>{draw});
    each(launch, s.batch, 64, PickToken<C>{draw});
    return finish_all(tokens, lengths, finished, cumulative, log_probabilities);
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_SAMPLE_TOKENS_H_
