// Penalties on the logits of a language model, applied before a token is drawn.
#ifndef DL_KERNELS_INDEX_TOKEN_PENALTY_H_
#define DL_KERNELS_INDEX_TOKEN_PENALTY_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

// Check that part i is a valid range of `count` entries.
struct InvalidRange {
  const int64_t* starts;
  int64_t count;
  DL_FN bool operator()(int64_t i) const {
    return starts[i] < 0 || starts[i] > starts[i + 1] || starts[i + 1] > count;
  }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "sequence {position} has an invalid range [{low}, {high}) of {value} tokens");
    error.value = count;
    error.position = i;
    error.low = starts[i];
    error.high = starts[i + 1];
  }
};

// Penalize the tokens that a sequence has generated, by their number of occurrences.
template <class T>
struct PenaltyRow {
  T* logits;
  const T *once, *each_time;
  const int64_t *tokens, *counts, *starts;
  int64_t vocabulary, entries;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    using C = compute_t<T>;
    const int64_t first = starts[row], size = starts[row + 1] - first;
    // Skip invalid ranges, which the check has reported.
    if (first < 0 || size < 0 || size > entries - first) return;
    T* const to = logits + row * vocabulary;
    const C present = cast<C>(once[row]), frequent = cast<C>(each_time[row]);
    const int64_t *const at = tokens + first, *const count = counts + first;
    block.map(size, [=](int64_t i) {
      to[at[i]] = cast<T>(cast<C>(to[at[i]]) - (present + cast<C>(count[i]) * frequent));
    });
  }
};

// Divide positive logits and multiply all other logits, so that each decreases. Source: Keskar et
// al., CTRL (2019).
template <class C>
DL_FN C repetition_penalized(C logit, C factor) {
  return logit > C(0) ? logit / factor : logit * factor;
}

template <class T>
struct PenaltyItem {
  T* logits;
  const T *once, *each_time, *factors;
  const int64_t *offsets, *counts;

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    T* const to = logits + offsets[i];
    const C logit = repetition_penalized(cast<C>(*to), cast<C>(factors[i]));
    *to = cast<T>(logit - (cast<C>(once[i]) + cast<C>(counts[i]) * cast<C>(each_time[i])));
  }
};

// Selects the tokens of a history that count for the penalty.
struct SeenTokens {
  const int64_t* tokens;   // [steps, batch]
  const int64_t* lengths;  // from here to `longest`, a sequence is padding
  int64_t longest, batch, vocabulary;

  DL_FN bool counts(int64_t step, int64_t row) const {
    return step < lengths[row] || step >= longest;
  }
  DL_FN int64_t token(int64_t step, int64_t row) const { return tokens[step * batch + row]; }
  DL_FN bool is_one(int64_t token) const { return token >= 0 && token < vocabulary; }
};

struct BadSeenToken {
  SeenTokens seen;
  DL_FN bool operator()(int64_t i) const {
    const int64_t step = i / seen.batch, row = i % seen.batch;
    return seen.counts(step, row) && !seen.is_one(seen.token(step, row));
  }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "index {value} at position {position} is out of range [{low}, {high})");
    error.value = seen.tokens[i];
    error.position = i;
    error.low = 0;
    error.high = seen.vocabulary;
  }
};

// Compute the new logits of the tokens that a sequence has seen, or write them.
template <class T>
struct RepetitionRow {
  T *logits, *results;
  const float* penalties;
  SeenTokens seen;
  int64_t steps;
  bool multiplies, writes;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    using C = compute_t<T>;
    T *const to = logits + row * seen.vocabulary, *const kept = results + row * steps;
    const C penalty = static_cast<C>(penalties[row]);
    const SeenTokens all = seen;
    const bool scales = multiplies, stores = writes;
    block.map(steps, [=](int64_t step) {
      const int64_t token = all.token(step, row);
      if (!all.counts(step, row) || !all.is_one(token)) return;
      if (stores) {
        to[token] = kept[step];
      } else {
        const C logit = cast<C>(to[token]);
        kept[step] = cast<T>(scales ? repetition_penalized(logit, penalty) : logit - penalty);
      }
    });
  }
};

template <class T>
struct TemperatureItem {
  T* logits;
  const T* bias;  // optional
  const float* temperatures;
  int64_t vocabulary, width;

  DL_FN void operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t at = i % width;
    if (at >= vocabulary) {
      logits[i] = cast<T>(-cast<C>(largest<T>()));
      return;
    }
    const C added = bias == nullptr ? C(0) : cast<C>(bias[at]);
    logits[i] =
        cast<T>((cast<C>(logits[i]) + added) / (static_cast<C>(temperatures[i / width]) + C(1e-6)));
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_TOKEN_PENALTY_H_
