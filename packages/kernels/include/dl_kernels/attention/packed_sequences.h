// Packed sequences of different lengths for the attention kernels.
#ifndef DL_KERNELS_ATTENTION_PACKED_SEQUENCES_H_
#define DL_KERNELS_ATTENTION_PACKED_SEQUENCES_H_

#include <vector>

#include "dl_kernels/attention/attention_call.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/host_integers.h"

DL_KERNELS_BEGIN

// Check of cumulative lengths: they begin with 0, do not decrease or exceed the number of rows, and
// no length exceeds `longest`.
struct InvalidEnd {
  const int64_t* ends;  // count + 1 entries, the first of which is 0
  int64_t count, rows, longest;

  // Lower bound of an end.
  DL_FN int64_t low(int64_t i) const {
    if (i == count) return rows;
    const int64_t before = i == 0 ? 0 : ends[i - 1];
    return before < 0 ? 0 : before > rows ? rows : before;
  }
  DL_FN int64_t high(int64_t i) const {
    if (i == 0) return 0;
    const int64_t before = ends[i - 1] < 0 ? 0 : ends[i - 1] > rows ? rows : ends[i - 1];
    return longest < rows - before ? before + longest : rows;
  }
  DL_FN bool operator()(int64_t i) const { return ends[i] < low(i) || ends[i] > high(i); }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "cumulative length {value} at position {position} is out of range [{low}, {high})");
    error.value = ends[i];
    error.position = i;
    error.low = low(i);
    error.high = high(i) + 1;
  }
};

// The first row and the length of a sequence, clamped to the existing rows even for invalid ends.
struct SequenceItem {
  int64_t *starts, *lengths;
  InvalidEnd from;
  DL_FN void operator()(int64_t n) const {
    const int64_t rows = from.rows;
    const int64_t start = from.ends[n] < 0 ? 0 : from.ends[n] > rows ? rows : from.ends[n];
    const int64_t end = from.ends[n + 1] < start  ? start
                        : from.ends[n + 1] > rows ? rows
                                                  : from.ends[n + 1];
    starts[n] = start;
    lengths[n] = end - start < from.longest ? end - start : from.longest;
  }
};

// Turns `call` into one over `count` packed sequences, for as long as this object lives.
class PackedSequences {
 public:
  // Cumulative lengths in device memory, beginning with 0.
  diopiError_t open(diopiContextHandle_t ctx, AttentionCall* call, diopiConstTensorHandle_t ends_q,
                    diopiConstTensorHandle_t ends_k, int64_t longest_q, int64_t longest_k) {
    const char* const op = call->op;
    const TensorRef q = ref(ends_q), k = ref(ends_k);
    if (!all_indexes({q, k})) return diopiDtypeNotSupported;
    DL_TRY(check_sizes(op, "the cumulative lengths of queries", q, {kAnySize}));
    if (q.numel < 1) return fail(op, "the cumulative lengths are empty; they must begin with 0");
    DL_TRY(check_sizes(op, "the cumulative lengths of keys", k, {q.numel}));
    const DenseInput<int64_t> from_q(ctx, op, q), from_k(ctx, op, k);
    DL_TRY(first_status(from_q, from_k));
    return open(ctx, call, q.numel - 1, from_q.data(), from_k.data(), longest_q, longest_k);
  }

  // Cumulative lengths in host memory, without the leading 0.
  diopiError_t open(diopiContextHandle_t ctx, AttentionCall* call, diopiSize_t ends_q,
                    diopiSize_t ends_k, int64_t longest_q, int64_t longest_k) {
    if (ends_q.len < 0 || ends_q.len != ends_k.len)
      return fail(call->op, "there are %lld lengths of queries and %lld of keys; they must agree",
                  (long long)ends_q.len, (long long)ends_k.len);
    const Launch launch(ctx);
    const Workspace<int64_t> both(launch, 2 * (ends_q.len + 1));
    const int64_t zero = 0, step = ends_q.len + 1;
    int64_t* const to = both.data();
    copy_host_integers(launch, to, &zero, 1);
    copy_host_integers(launch, to + 1, ends_q.data, ends_q.len);
    copy_host_integers(launch, to + step, &zero, 1);
    copy_host_integers(launch, to + step + 1, ends_k.data, ends_k.len);
    return open(ctx, call, ends_q.len, to, to + step, longest_q, longest_k);
  }

  // Prompts with the given numbers of tokens. Their rows are packed, or padded to `longest` rows
  // each where the tensor has that many.
  diopiError_t open_prompts(diopiContextHandle_t ctx, AttentionCall* call, diopiSize_t lengths,
                            int64_t longest, bool* has_padding) {
    const char* const op = call->op;
    const int64_t rows = call->inputs.q.rows, count = lengths.len;
    if (longest < 0 || longest > INT32_MAX)
      return fail(op, "max_input_len is %lld; it must be from 0 to 2^31 - 1", (long long)longest);
    if (call->inputs.k.rows != rows)
      return fail(op, "query has %lld rows and key %lld; they must agree", (long long)rows,
                  (long long)call->inputs.k.rows);
    int64_t total = 0;
    for (int64_t n = 0; n < count; ++n) {
      const int64_t length = lengths.data[n];
      if (length < 0 || length > longest)
        return fail(op, "sequence %lld has %lld tokens; it must have 0 to max_input_len, %lld",
                    (long long)n, (long long)length, (long long)longest);
      if (__builtin_add_overflow(total, length, &total)) break;
    }
    int64_t padded = 0;
    *has_padding = total != rows;
    if (*has_padding && (__builtin_mul_overflow(count, longest, &padded) || padded != rows))
      return fail(op, "query has %lld rows; the sequences have %lld tokens", (long long)rows,
                  (long long)total);
    std::vector<int64_t> sequences(static_cast<size_t>(2 * count));
    int64_t start = 0;
    for (int64_t n = 0; n < count; ++n) {
      sequences[static_cast<size_t>(n)] = start;
      sequences[static_cast<size_t>(count + n)] = lengths.data[n];
      start += *has_padding ? longest : lengths.data[n];
    }
    const Launch launch(ctx);
    int64_t* const to = sequences_.reserve(launch, 4 * count);
    copy_host_integers(launch, to, sequences.data(), 2 * count);
    copy_host_integers(launch, to + 2 * count, sequences.data(), 2 * count);
    use(call, count, longest, longest);
    return diopiSuccess;
  }

 private:
  void use(AttentionCall* call, int64_t count, int64_t longest_q, int64_t longest_k) {
    AttentionShape& shape = call->shape;
    shape.sequences = sequences_.data();
    shape.batch = count;
    // No sequence is longer than the number of rows.
    shape.queries = longest_q < shape.queries ? longest_q : shape.queries;
    shape.keys = longest_k < shape.keys ? longest_k : shape.keys;
    call->longest_queries = longest_q;
    call->longest_keys = longest_k;
  }

  diopiError_t open(diopiContextHandle_t ctx, AttentionCall* call, int64_t count,
                    const int64_t* ends_q, const int64_t* ends_k, int64_t longest_q,
                    int64_t longest_k) {
    if (longest_q < 0 || longest_k < 0)
      return fail(call->op, "the longest sequences have %lld queries and %lld keys; give 0 or more",
                  (long long)longest_q, (long long)longest_k);
    const Launch launch(ctx);
    const InvalidEnd sides[] = {{ends_q, count, call->inputs.q.rows, longest_q},
                                {ends_k, count, call->inputs.k.rows, longest_k}};
    int64_t* const to = sequences_.reserve(launch, 4 * count);
    for (const InvalidEnd& side : sides) {
      DL_TRY(check_items(launch, call->op, count + 1, side));
      int64_t* const starts = to + (&side - sides) * 2 * count;
      each(launch, count, 4, SequenceItem{starts, starts + count, side});
    }
    use(call, count, longest_q, longest_k);
    return diopiSuccess;
  }

  Workspace<int64_t> sequences_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_PACKED_SEQUENCES_H_
