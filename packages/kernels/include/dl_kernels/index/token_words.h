// Lists of words of several tokens each, and sequences that end with such a word, for banned words
// and stop words in a language-model server.
#ifndef DL_KERNELS_INDEX_TOKEN_WORDS_H_
#define DL_KERNELS_INDEX_TOKEN_WORDS_H_

#include <cstdint>
#include <limits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/wide.h"

DL_KERNELS_BEGIN

// The tokens of one word; absent if `size` is 0.
struct Word {
  const int64_t* tokens;
  int64_t size;
};

// Lists of words: for each list, a row of tokens and a row with the end of each word.
struct WordLists {
  const int64_t* data;
  int64_t length;
  bool shared;  // one list for all sequences

  DL_FN Word word(int64_t sequence, int64_t at) const {
    const int64_t* tokens = data + (shared ? 0 : sequence * 2 * length);
    const int64_t* ends = tokens + length;
    const int64_t start = at == 0 ? 0 : ends[at - 1], end = ends[at];
    const bool good = start >= 0 && start < end && end <= length;
    return {tokens + (good ? start : 0), good ? end - start : 0};
  }
};

// Check that words end within their list.
struct BadWordEnd {
  WordLists lists;

  DL_FN int64_t end(int64_t i) const {
    const int64_t list = i / lists.length;
    return lists.data[(2 * list + 1) * lists.length + i % lists.length];
  }
  DL_FN bool operator()(int64_t i) const { return end(i) > lists.length; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "word {position} ends at {value}; its list has {high} tokens");
    error.value = end(i);
    error.position = i % lists.length;
    error.high = lists.length;
  }
};

// The tokens of all sequences, one row per step.
struct TokenHistory {
  const int64_t* tokens;
  int64_t width, offset;

  // Return true if the steps before `steps` end with the `size` tokens of a word.
  DL_FN bool ends_with(int64_t sequence, int64_t steps, const int64_t* word, int64_t size) const {
    if (size > steps) return false;
    const int64_t* column = tokens + offset + sequence;
    for (int64_t k = 1; k <= size; ++k) {
      if (column[(steps - k) * width] != word[size - k]) return false;
    }
    return true;
  }
};

template <class T>
struct BanItem {
  T* logits;
  WordLists words;
  TokenHistory history;
  int64_t vocabulary, steps;
  DL_FN void operator()(int64_t b) const {
    for (int64_t w = 0; w < words.length; ++w) {
      const Word word = words.word(b, w);
      if (word.size == 0) continue;
      const int64_t banned = word.tokens[word.size - 1];
      if (banned > 0 && banned < vocabulary &&
          history.ends_with(b, steps, word.tokens, word.size - 1)) {
        logits[b * vocabulary + banned] = cast<T>(-std::numeric_limits<float>::infinity());
      }
    }
  }
};

struct StopItem {
  Bool* finished;
  WordLists words;
  TokenHistory history;
  int64_t steps;
  DL_FN void operator()(int64_t b) const {
    bool over = static_cast<bool>(finished[b]);
    for (int64_t w = 0; w < words.length && !over; ++w) {
      const Word word = words.word(b, w);
      over = word.size > 0 && history.ends_with(b, steps, word.tokens, word.size);
    }
    finished[b] = Bool(over);
  }
};

// A view of the first rows of a matrix.
class FirstRows {
 public:
  FirstRows(const TensorRef& matrix, int64_t rows)
      : sizes_{rows, matrix.sizes[1]}, tensor_(matrix) {
    tensor_.sizes = sizes_;
    tensor_.numel = rows * sizes_[1];
  }
  FirstRows(const FirstRows&) = delete;
  FirstRows& operator=(const FirstRows&) = delete;

  const TensorRef& tensor() const { return tensor_; }

 private:
  int64_t sizes_[2];
  TensorRef tensor_;
};

// The checked words and sequences of a call.
class WordSearch {
 public:
  // The first `steps` rows of `output_ids` are known.
  WordSearch(diopiContextHandle_t ctx, const char* op, const TensorRef& words, int64_t length,
             bool shared, const FirstRows& known, int64_t offset)
      : words_(ctx, op, words),
        tokens_(ctx, op, known.tensor()),
        lists{words_.data(), length, shared},
        history{tokens_.data(), known.tensor().sizes[1], offset} {}

  diopiError_t status() const { return first_status(words_, tokens_); }

 private:
  DenseInput<int64_t> words_, tokens_;

 public:
  const WordLists lists;
  const TokenHistory history;
};

// Arguments shared by the two criteria that use words.
inline diopiError_t check_words(const char* op, const TensorRef& words, int64_t length, bool shared,
                                const TensorRef& ids, int64_t offset, int64_t batch,
                                int64_t steps) {
  if (shared) {
    DL_TRY(check_sizes(op, "bad_words", words, {2, length}));
  } else {
    DL_TRY(check_sizes(op, "the list of words", words, {batch, 2, length}));
  }
  DL_TRY(check_sizes(op, "output_ids", ids, {kAnySize, kAnySize}));
  if (steps < 0 || steps > ids.sizes[0])
    return fail(op, "%lld steps are needed; output_ids has %lld", (long long)steps,
                (long long)ids.sizes[0]);
  if (offset < 0 || batch > ids.sizes[1] || offset > ids.sizes[1] - batch)
    return fail(op, "id_offset is %lld for %lld sequences; output_ids has %lld columns",
                (long long)offset, (long long)batch, (long long)ids.sizes[1]);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_TOKEN_WORDS_H_
