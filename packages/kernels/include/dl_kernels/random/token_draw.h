// Draw of the next token of each sequence of a language model among its most likely tokens.
#ifndef DL_KERNELS_RANDOM_TOKEN_DRAW_H_
#define DL_KERNELS_RANDOM_TOKEN_DRAW_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/vector_math.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/random/philox.h"
#include "dl_kernels/random/running_weights.h"

DL_KERNELS_BEGIN

// Upper bound of k in top-k sampling.
inline constexpr int64_t kMostCandidates = 1024;

// Generator states are passed as kernel arguments, this many at a time.
inline constexpr int64_t kStatesAtOnce = 64;

struct FirstUniform {
  RandomState states[kStatesAtOnce];
  double* out;
  DL_FN void operator()(int64_t i) const {
    out[i] = unit_double(long_lane(Philox(states[i].seed, states[i].offset), 0));
  }
};

// Draw a uniform number from each generator, and advance it by a step.
inline void draw_uniforms(const Launch& launch, diopiGeneratorHandle_t* generators, int64_t count,
                          double* out) {
  for (int64_t first = 0; first < count; first += kStatesAtOnce) {
    FirstUniform draw{};
    draw.out = out + first;
    const int64_t some = count - first < kStatesAtOnce ? count - first : kStatesAtOnce;
    for (int64_t i = 0; i < some; ++i) draw.states[i] = take_steps(generators[first + i], 1);
    each(launch, some, 64, draw);
  }
}

// Inputs and outputs of a draw; optional ones may be null.
template <class C>
struct TokenDraw {
  const C* logits;  // [batch, vocabulary]
  int64_t vocabulary;
  const C* values;       // [batch, kept], in descending order of likelihood
  const int64_t* order;  // their tokens
  int64_t kept;
  const int64_t* top_k;  // optional
  const float* top_p;
  const double* uniform;
  const Bool* skip;  // optional
  const int64_t* end_ids;
  double *running, *totals;  // [batch, kept] and [batch]
  int64_t* tokens;
  Bool* finished;                         // optional
  int64_t* lengths;                       // optional
  float *cumulative, *log_probabilities;  // optional

  DL_FN bool skips(int64_t row) const { return skip != nullptr && static_cast<bool>(skip[row]); }
  DL_FN bool has_ended(int64_t row) const {
    return finished != nullptr && static_cast<bool>(finished[row]);
  }
  DL_FN int64_t candidates(int64_t row) const {
    if (top_k == nullptr) return kept;
    return top_k[row] < 1 ? 1 : (top_k[row] < kept ? top_k[row] : kept);
  }
  // Weight relative to the most likely token.
  DL_FN double weight(int64_t row, C logit) const {
    return math::exp(static_cast<double>(logit) - static_cast<double>(values[row * kept]));
  }
};

// Cumulative weights of a sequence's candidates, and the sum of all weights if requested.
template <class C>
struct AddWeights {
  TokenDraw<C> draw;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    const TokenDraw<C>& d = draw;
    if (d.skips(row) || d.has_ended(row)) return;
    const C* values = d.values + row * d.kept;
    double* running = d.running + row * d.kept;
    block.template scan<double>(
        d.candidates(row), [&](int64_t i) { return d.weight(row, values[i]); },
        [](double a, double b) { return a + b; }, [=](int64_t i, double sum) { running[i] = sum; });
    if (d.top_k == nullptr || d.cumulative == nullptr) return;
    const C* logits = d.logits + row * d.vocabulary;
    const double total =
        block.sum(d.vocabulary, [&](int64_t i) { return d.weight(row, logits[i]); });
    double* to = d.totals + row;
    block.map(1, [=](int64_t) { *to = total; });
  }
};

template <class C>
struct PickToken {
  TokenDraw<C> draw;

  DL_FN void operator()(int64_t row) const {
    const TokenDraw<C>& d = draw;
    const bool ended = d.has_ended(row);
    if (d.finished != nullptr) d.finished[row] = Bool(ended);  // any byte but 0 is true
    if (d.skips(row)) return;
    if (ended) {
      d.tokens[row] = d.end_ids[row];
      if (d.log_probabilities != nullptr) d.log_probabilities[row] = 0.0f;
    } else {
      pick(row);
    }
    if (d.finished == nullptr || d.lengths == nullptr) return;
    if (!ended) ++d.lengths[row];
    d.finished[row] = Bool(d.tokens[row] == d.end_ids[row]);
  }

 private:
  DL_FN void pick(int64_t row) const {
    const TokenDraw<C>& d = draw;
    const int64_t count = d.candidates(row);
    const double* running = d.running + row * d.kept;
    const C* values = d.values + row * d.kept;
    const float given = d.top_p[row];
    const double share = given > 0.0f ? (given < 1.0f ? static_cast<double>(given) : 1.0) : 0.0;
    const double sum = running[count - 1];
    int64_t at = find_weight(running, count, d.uniform[row] * share * sum);
    // NaN logits have no weights; the first token is used then.
    while (at > 0 && !(d.weight(row, values[at]) > 0.0)) --at;
    d.tokens[row] = d.order[row * d.kept + at];
    const double behind = static_cast<double>(values[at]) - static_cast<double>(values[0]);
    if (d.cumulative != nullptr) {
      const double total = d.top_k == nullptr ? sum : d.totals[row];
      const double more = behind - math::log(kSmallest + total);
      d.cumulative[row] = static_cast<float>(static_cast<double>(d.cumulative[row]) + more);
    }
    if (d.log_probabilities != nullptr) {
      const double of = d.top_k == nullptr ? kSmallest + sum : sum;
      d.log_probabilities[row] = static_cast<float>(behind - math::log(of));
    }
  }

  static constexpr double kSmallest = 1e-6;  // a constant of the schema
};

DL_KERNELS_END

#endif  // DL_KERNELS_RANDOM_TOKEN_DRAW_H_
