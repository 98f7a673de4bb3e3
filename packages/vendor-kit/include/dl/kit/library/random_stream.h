// The random numbers of the contract's generators, computed on the host: docs/random.md of
// dl-diopi-proto defines the stream, and the names in quotes are its sections.
#ifndef DL_KIT_LIBRARY_RANDOM_STREAM_H_
#define DL_KIT_LIBRARY_RANDOM_STREAM_H_

#include <cstdint>
#include <cstring>

#include "diopi/diopirt.h"
#include "dl/handles.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

namespace library {

// Philox4x32-10. Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3
// (SC 2011), with the constants of its table 2.
struct PhiloxWords {
  uint32_t word[4];

  PhiloxWords(uint64_t seed, uint64_t step, uint64_t attempt) {
    uint32_t counter[4] = {static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32),
                           static_cast<uint32_t>(attempt), static_cast<uint32_t>(attempt >> 32)};
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53u} * counter[0];
      const uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
      const uint32_t mixed[4] = {
          static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
          static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
      std::memcpy(counter, mixed, sizeof counter);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    std::memcpy(word, counter, sizeof word);
  }
};

// "Integers": a range up to this takes one word, of which at most one in 256 is rejected.
inline bool is_short_range(uint64_t range) { return range != 0 && range <= uint64_t{1} << 24; }

// The stream of a generator from its offset on. Element i takes one word or two.
class RandomStream {
 public:
  // Advances the generator by the steps of `count` elements with `words` (1 or 2) each.
  RandomStream(diopiGeneratorHandle_t handle, int64_t count, int words) : words_(words) {
    auto* const generator = reinterpret_cast<dl_generator_prefix_t*>(handle);
    if (generator == nullptr || generator->magic != DL_GENERATOR_MAGIC)
      throw Error(DL_INVALID_ARGUMENT, "a handle is not a generator");
    seed_ = generator->seed;
    first_ = generator->offset;
    const int64_t per_step = 4 / words;
    generator->offset += static_cast<uint64_t>((count + per_step - 1) / per_step);
  }

  uint32_t word(int64_t i, uint64_t attempt = 0) const { return words(i / 4, attempt).word[i % 4]; }
  uint64_t long_word(int64_t i, uint64_t attempt = 0) const {
    const PhiloxWords drawn = words(i / 2, attempt);
    const int lane = static_cast<int>(i % 2) * 2;
    return drawn.word[lane] | static_cast<uint64_t>(drawn.word[lane + 1]) << 32;
  }

  // "Integers": one of `range` integers, or of 2^64 for 0, without bias.
  uint64_t below(int64_t i, uint64_t range) const {
    constexpr uint64_t kLastAttempt = 127;
    const bool is_short = is_short_range(range);
    for (uint64_t attempt = 0;; ++attempt) {
      if (is_short) {
        const uint64_t product = uint64_t{word(i, attempt)} * range;
        const uint32_t refused = static_cast<uint32_t>((uint64_t{1} << 32) % range);
        if (static_cast<uint32_t>(product) >= refused || attempt == kLastAttempt)
          return product >> 32;
      } else {
        const uint64_t drawn = long_word(i, attempt);
        if (range == 0) return drawn;
        if (drawn * range >= (0 - range) % range || attempt == kLastAttempt)
          return static_cast<uint64_t>((static_cast<unsigned __int128>(drawn) * range) >> 64);
      }
    }
  }
  // "Bernoulli and dropout": a number in [0, 1) with further words as its later digits.
  bool trial(int64_t i, double p) const {
    if (p >= 1.0) return true;
    double digits = p * 0x1p32;
    for (uint64_t attempt = 0; attempt < 3; ++attempt) {
      const double drawn = word(i, attempt);
      if (drawn >= digits) return false;
      if (drawn + 1.0 <= digits) return true;
      digits = (digits - drawn) * 0x1p32;
    }
    return false;
  }
  int words() const { return words_; }

 private:
  PhiloxWords words(int64_t step, uint64_t attempt) const {
    return PhiloxWords(seed_, first_ + static_cast<uint64_t>(step), attempt);
  }

  uint64_t seed_ = 0, first_ = 0;
  int words_;
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_RANDOM_STREAM_H_
