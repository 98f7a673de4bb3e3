// Dropout of attention weights. Whether a weight is kept is a function of the generator state and
// of the weight's index, so the kernels recompute it where they need it and no tensor of the size
// of all weights is stored. docs/random.md of dl-diopi-proto defines which weight uses which random
// word.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_DROPOUT_H_
#define DL_KERNELS_ATTENTION_ATTENTION_DROPOUT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/random/bernoulli.h"
#include "dl_kernels/random/philox.h"

DL_KERNELS_BEGIN

struct AttentionDropout {
  bool active;
  BernoulliTrial kept;
  double scale;  // factor of the weights that are kept
  int64_t heads, queries, keys;
  RandomState state;
  const uint8_t* stored;  // generator state as kStateBytes bytes in device memory, or null

  static constexpr int64_t kStateBytes = 16;

  static DL_FN void store(const RandomState& state, uint8_t* to) {
    for (int i = 0; i < 8; ++i) {
      to[i] = static_cast<uint8_t>(state.seed >> (8 * i));
      to[8 + i] = static_cast<uint8_t>(state.offset >> (8 * i));
    }
  }

  DL_FN RandomState opened() const {
    if (stored == nullptr) return state;
    RandomState found{0, 0};
    for (int i = 0; i < 8; ++i) {
      found.seed |= static_cast<uint64_t>(stored[i]) << (8 * i);
      found.offset |= static_cast<uint64_t>(stored[8 + i]) << (8 * i);
    }
    return found;
  }

  // Return the linear index of a weight in [batch, heads, queries, keys].
  DL_FN uint64_t number(int64_t n, int64_t h, int64_t query, int64_t key) const {
    const auto row = static_cast<uint64_t>(n * heads + h) * static_cast<uint64_t>(queries) +
                     static_cast<uint64_t>(query);
    return row * static_cast<uint64_t>(keys) + static_cast<uint64_t>(key);
  }

  DL_FN bool keeps(const RandomState& from, uint64_t number) const {
    const uint64_t step = from.offset + number / 4;
    const auto lane = static_cast<int64_t>(number % 4);
    return kept(Philox(from.seed, step).word[lane], WordSource{from.seed, step, lane});
  }

  // Apply dropout to the weight with this index.
  template <class C>
  DL_FN C applied(const RandomState& from, uint64_t number, C weight) const {
    return keeps(from, number) ? weight * static_cast<C>(scale) : C(0);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_DROPOUT_H_
