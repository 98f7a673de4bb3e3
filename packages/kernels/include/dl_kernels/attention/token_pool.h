// Keys and values of all sequences in a shared pool (KV cache): the rows of their tokens, and
// attention over these rows.
#ifndef DL_KERNELS_ATTENTION_TOKEN_POOL_H_
#define DL_KERNELS_ATTENTION_TOKEN_POOL_H_

#include "dl_kernels/attention/token_attention.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/index/indexes.h"

DL_KERNELS_BEGIN

// Finds the tokens of each sequence. Of the first `longest` entries of the sequence's row of
// `table`, the last `length` are its pool rows; the columns of its scores begin at `start`.
struct PoolItem {
  int64_t *rows_of_tokens, *ends;
  const int64_t *table, *starts, *lengths;
  int64_t longest, columns;
  DL_FN void operator()(int64_t n) const {
    for (int64_t t = 0; t < longest; ++t)
      rows_of_tokens[n * longest + t] =
          t < lengths[n] ? table[n * columns + longest - lengths[n] + t] : 0;
    // The end of the scores; negative if they begin before the first column.
    ends[n] = starts[n] < 0 ? -1 : starts[n] + lengths[n];
  }
};

struct KeepItem {
  int64_t* to;
  const int64_t* from;
  DL_FN void operator()(int64_t i) const { to[i] = from[i]; }
};

class TokenPool {
 public:
  diopiError_t open(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t b_loc,
                    diopiConstTensorHandle_t b_start_loc, diopiConstTensorHandle_t b_seq_len,
                    int64_t batch, int64_t longest, int64_t rows, int64_t scores) {
    const TensorRef t = ref(b_loc), s = ref(b_start_loc), l = ref(b_seq_len);
    if (!all_indexes({t, s, l})) return diopiDtypeNotSupported;
    if (longest < 0)
      return fail(op, "max_input_len is %lld; it must be at least 0", (long long)longest);
    DL_TRY(check_sizes(op, "b_loc", t, {batch, kAnySize}));
    if (t.sizes[1] < longest)
      return fail(op, "b_loc has %lld columns; max_input_len is %lld", (long long)t.sizes[1],
                  (long long)longest);
    DL_TRY(check_sizes(op, "b_start_loc", s, {batch}));
    DL_TRY(check_sizes(op, "b_seq_len", l, {batch}));
    const Launch launch(ctx);
    const DenseInput<int64_t> table(ctx, op, t), begin(ctx, op, s), given(ctx, op, l);
    DL_TRY(first_status(table, begin, given));
    // The kernels read these checked copies after this function has released its inputs.
    lengths_storage_.reserve(launch, batch);
    each(launch, batch, 1, KeepItem{lengths_storage_.data(), given.data()});
    DL_TRY(check_indexes(launch, op, lengths_storage_.data(), batch, 0, longest + 1, lengths_));
    token_rows_storage_.reserve(launch, batch * longest);
    ends_storage_.reserve(launch, batch);
    each(launch, batch, longest,
         PoolItem{token_rows_storage_.data(), ends_storage_.data(), table.data(), begin.data(),
                  lengths_.data(), longest, t.sizes[1]});
    DL_TRY(check_indexes(launch, op, ends_storage_.data(), batch, 0, scores + 1, ends_));
    return check_indexes(launch, op, token_rows_storage_.data(), batch * longest, 0, rows,
                         token_rows_);
  }

  const int64_t* token_rows() const { return token_rows_.data(); }
  const int64_t* lengths() const { return lengths_.data(); }
  const int64_t* ends() const { return ends_.data(); }

 private:
  Workspace<int64_t> lengths_storage_, token_rows_storage_, ends_storage_;
  CheckedIndexes lengths_, ends_, token_rows_;
};

template <class C>
struct PutRowItem {
  C* out;
  const C* rows;
  const int64_t* rows_of_tokens;
  int64_t width;
  DL_FN void operator()(int64_t i) const {
    out[rows_of_tokens[i / width] * width + i % width] = rows[i];
  }
};

template <class C>
struct TokenScoreItem {
  C* out;
  const C *q, *k;
  const int64_t *rows_of_tokens, *lengths, *ends;
  int64_t heads, width, longest, scores;
  C scale;
  DL_FN void operator()(int64_t item) const {
    const int64_t t = item % longest, h = item / longest % heads, n = item / (longest * heads);
    // Lengths and ends are checked separately: if one is invalid, they may be inconsistent.
    if (t >= lengths[n] || ends[n] < lengths[n]) return;
    const C* const key = k + (rows_of_tokens[n * longest + t] * heads + h) * width;
    out[h * scores + ends[n] - lengths[n] + t] =
        dot(q + (n * heads + h) * width, key, width) * scale;
  }
};

template <class C>
struct TokenReduceItem {
  C* out;
  const C *logits, *v;
  const int64_t *rows_of_tokens, *lengths, *ends;
  int64_t heads, width, longest, scores;
  DL_FN void operator()(int64_t item) const {
    const int64_t h = item % heads, n = item / heads;
    const C* const from = logits + h * scores + ends[n] - lengths[n];
    const int64_t* const rows = rows_of_tokens + n * longest;
    attend(
        out + item * width, width, ends[n] < lengths[n] ? 0 : lengths[n],
        [&](int64_t t) { return from[t]; },
        [&](int64_t t) { return v + (rows[t] * heads + h) * width; });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_TOKEN_POOL_H_
