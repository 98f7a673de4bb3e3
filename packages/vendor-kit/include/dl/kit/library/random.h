// Random numbers that the host draws into page-locked memory and copies to the device, for
// libraries whose own generators give other numbers than the contract (docs/random.md of
// dl-diopi-proto; the names in quotes are its sections).
#ifndef DL_KIT_LIBRARY_RANDOM_H_
#define DL_KIT_LIBRARY_RANDOM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/helpers.h"
#include "dl/kit/library/host_elements.h"
#include "dl/kit/library/plan.h"
#include "dl/kit/library/random_stream.h"

DL_KIT_BEGIN

namespace library {

inline void check_storable(const View& out) {
  if (is_complex(out)) refuse(std::string("random numbers of ") + dtype_name(out.dtype));
}

// Declines probabilities outside [0, 1], and NaN.
inline void check_probability(double p) {
  if (!(p >= 0.0 && p <= 1.0)) refuse("the probability " + std::to_string(p));
}

inline Action draw_bernoulli(Call&, diopiGeneratorHandle_t generator, double p, const View& out) {
  check_storable(out);
  check_probability(p);
  return [=](Call& call) {
    const RandomStream stream(generator, out.numel(), 1);
    fill_from_host(call, out, [&](void* memory) {
      for (int64_t i = 0; i < out.numel(); ++i)
        store(memory, i, out.dtype, stream.trial(i, p) ? 1 : 0);
    });
  };
}
inline Action draw_bernoulli_of(Call&, diopiGeneratorHandle_t generator, const View& probabilities,
                                const View& out) {
  check_storable(out);
  if (!is_floating(probabilities)) refuse("probabilities that are not floating-point numbers");
  if (!same_shape(probabilities, out)) refuse("probabilities of another shape than the draws");
  return [=](Call& call) {
    const void* const p = read_to_host(call, probabilities);
    for (int64_t i = 0; i < out.numel(); ++i) check_probability(load(p, i, probabilities.dtype));
    const RandomStream stream(generator, out.numel(), 1);
    fill_from_host(call, out, [&](void* memory) {
      for (int64_t i = 0; i < out.numel(); ++i)
        store(memory, i, out.dtype, stream.trial(i, load(p, i, probabilities.dtype)) ? 1 : 0);
    });
  };
}

// "Uniform numbers", computed in C and limited to the numbers of the dtype in the range.
template <class C>
void draw_uniform_of(void* memory, const RandomStream& stream, const View& out, double from,
                     double to) {
  constexpr int kDigits = std::is_same_v<C, double> ? 53 : 24;
  const C low = static_cast<C>(from), high = static_cast<C>(to);
  for (int64_t i = 0; i < out.numel(); ++i) {
    C u;
    if constexpr (std::is_same_v<C, double>)
      u = static_cast<C>(stream.long_word(i) >> (64 - kDigits)) * 0x1p-53;
    else
      u = static_cast<C>(stream.word(i) >> (32 - kDigits)) * 0x1p-24F;
    store(memory, i, out.dtype, low + u * (high - low));
  }
}
// The largest number of a dtype below a bound, and the smallest not below it.
inline double neighbor(double bound, int32_t dtype, bool below) {
  const auto rounded = [dtype](double value) {
    unsigned char element[8];
    store(element, 0, dtype, value);
    return load(element, 0, dtype);
  };
  double found = rounded(bound);
  if (below ? found < bound : found >= bound) return found;
  const double direction = below ? -INFINITY : INFINITY;
  if (dtype == diopi_dtype_float64) return std::nextafter(found, direction);
  if (dtype == diopi_dtype_float32)
    return std::nextafter(static_cast<float>(found), static_cast<float>(direction));
  // Neighbors of 16-bit numbers are neighbors as integers, separately for each sign.
  unsigned char element[8];
  store(element, 0, dtype, found);
  uint16_t bits;
  std::memcpy(&bits, element, sizeof bits);
  const bool is_negative = (bits & 0x8000) != 0, is_zero = (bits & 0x7FFF) == 0;
  if (is_zero)
    bits = below ? 0x8001 : 0x0001;
  else
    bits = static_cast<uint16_t>(bits + (below == is_negative ? 1 : -1));
  std::memcpy(element, &bits, sizeof bits);
  return load(element, 0, dtype);
}
inline Action draw_uniform(Call&, diopiGeneratorHandle_t generator, double from, double to,
                           const View& out) {
  if (!is_floating(out)) refuse("uniform numbers that are not floating-point numbers");
  if (!(from <= to) || !std::isfinite(from) || !std::isfinite(to))
    refuse("uniform numbers from " + std::to_string(from) + " to " + std::to_string(to));
  return [=](Call& call) {
    const bool is_double = out.dtype == diopi_dtype_float64;
    const RandomStream stream(generator, out.numel(), is_double ? 2 : 1);
    const double low = neighbor(from, out.dtype, false), high = neighbor(to, out.dtype, true);
    fill_from_host(call, out, [&](void* memory) {
      if (is_double)
        draw_uniform_of<double>(memory, stream, out, from, to);
      else
        draw_uniform_of<float>(memory, stream, out, from, to);
      for (int64_t i = 0; i < out.numel(); ++i) {
        const double drawn = load(memory, i, out.dtype);
        if (low > high)
          store(memory, i, out.dtype, from);
        else if (drawn < low || drawn > high)
          store(memory, i, out.dtype, drawn < low ? low : high);
      }
    });
  };
}

// "Normal numbers": the Box-Muller transform. Source: Box, Muller (Annals of Mathematical
// Statistics 29, 1958).
template <class C>
void draw_normal_of(void* memory, const RandomStream& stream, const View& out, double mean,
                    double deviation) {
  constexpr C kTwoPi = static_cast<C>(6.283185307179586476925L);
  for (int64_t i = 0; i < out.numel(); i += 2) {
    C u, v, half;
    if constexpr (std::is_same_v<C, double>) {
      u = static_cast<C>(stream.long_word(i) >> 11) * 0x1p-53;
      v = static_cast<C>(stream.long_word(i + 1) >> 11) * 0x1p-53;
      half = 0x1p-54;
    } else {
      u = static_cast<C>(stream.word(i)) * 0x1p-32F;
      v = static_cast<C>(stream.word(i + 1)) * 0x1p-32F;
      half = 0x1p-33F;
    }
    const C radius = std::sqrt(C(-2) * std::log(u + half));
    const C angle = kTwoPi * v;
    const C numbers[2] = {radius * std::cos(angle), radius * std::sin(angle)};
    for (int64_t k = 0; k < 2 && i + k < out.numel(); ++k)
      store(memory, i + k, out.dtype,
            static_cast<C>(mean) + static_cast<C>(deviation) * numbers[k]);
  }
}
inline Action draw_normal(Call&, diopiGeneratorHandle_t generator, double mean, double deviation,
                          const View& out) {
  if (!is_floating(out)) refuse("normal numbers that are not floating-point numbers");
  if (deviation < 0.0) refuse("the standard deviation " + std::to_string(deviation));
  return [=](Call& call) {
    const bool is_double = out.dtype == diopi_dtype_float64;
    const RandomStream stream(generator, (out.numel() + 1) / 2 * 2, is_double ? 2 : 1);
    fill_from_host(call, out, [&](void* memory) {
      if (is_double)
        draw_normal_of<double>(memory, stream, out, mean, deviation);
      else
        draw_normal_of<float>(memory, stream, out, mean, deviation);
    });
  };
}

// The integers that a dtype represents without gaps: from the smallest to the largest one.
struct Integers {
  int64_t smallest;
  uint64_t largest;
  bool is_exact;  // others are not rounded to them
};
inline Integers integers_of(int32_t dtype) {
  const auto digits = [](int count) {
    return Integers{-(int64_t{1} << count), uint64_t{1} << count, false};
  };
  const auto bits = [](int count, bool is_signed) {
    const uint64_t largest = ~uint64_t{0} >> (64 - count + (is_signed ? 1 : 0));
    return Integers{is_signed ? -static_cast<int64_t>(largest) - 1 : 0, largest, true};
  };
  switch (dtype) {
    case diopi_dtype_bfloat16:
      return digits(8);
    case diopi_dtype_float16:
      return digits(11);
    case diopi_dtype_float32:
      return digits(24);
    case diopi_dtype_float64:
      return digits(53);
    case diopi_dtype_bool:
      return bits(1, false);
    default:
      return bits(static_cast<int>(8 * dl_dtype_bytes(dtype)),
                  dtype == diopi_dtype_int8 || dtype == diopi_dtype_int16 ||
                      dtype == diopi_dtype_int32 || dtype == diopi_dtype_int64);
  }
}

// "Integers" from `from` to before `to`, or to the largest integer of the dtype for NULL.
inline Action draw_integers(Call&, diopiGeneratorHandle_t generator, int64_t from,
                            const int64_t* to, const View& out) {
  check_storable(out);
  if (to != nullptr && *to <= from) refuse("integers of an empty range");
  const Integers all = integers_of(out.dtype);
  const uint64_t last = to == nullptr ? all.largest : static_cast<uint64_t>(*to) - 1;
  const bool starts = !all.is_exact || from >= all.smallest;
  const bool ends = to == nullptr  ? from < 0 || static_cast<uint64_t>(from) <= last
                    : all.is_exact ? *to <= 0 || last <= all.largest
                                   : true;
  if (!starts || !ends) refuse(std::string("integers that ") + dtype_name(out.dtype) + " lacks");
  return [=](Call& call) {
    const uint64_t range = last - static_cast<uint64_t>(from) + 1;  // 0 stands for 2^64
    const RandomStream stream(generator, out.numel(), is_short_range(range) ? 1 : 2);
    fill_from_host(call, out, [&](void* memory) {
      for (int64_t i = 0; i < out.numel(); ++i)
        store(memory, i, out.dtype,
              static_cast<int64_t>(static_cast<uint64_t>(from) + stream.below(i, range)));
    });
  };
}

// "Integers", randperm. Source: Durstenfeld: Algorithm 235 (CACM 7, 1964).
inline Action draw_permutation(Call&, diopiGeneratorHandle_t generator, const View& out) {
  check_storable(out);
  return [=](Call& call) {
    const int64_t count = out.numel();
    const RandomStream stream(generator, count, 2);
    fill_from_host(call, out, [&](void* memory) {
      std::vector<int64_t> entries(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) entries[static_cast<size_t>(i)] = i;
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t left = static_cast<uint64_t>(count - i);
        uint64_t chosen = 0;
        for (uint64_t attempt = 0; attempt < 128; ++attempt) {
          const uint64_t drawn = stream.long_word(i, attempt);
          chosen = static_cast<uint64_t>((static_cast<unsigned __int128>(drawn) * left) >> 64);
          if (drawn * left >= (0 - left) % left) break;
        }
        std::swap(entries[static_cast<size_t>(i)],
                  entries[static_cast<size_t>(i) + static_cast<size_t>(chosen)]);
      }
      for (int64_t i = 0; i < count; ++i)
        store(memory, i, out.dtype, entries[static_cast<size_t>(i)]);
    });
  };
}

// "Multinomial": one row of weights, or several; as many categories as the last size of `out`.
// Source of the draws without replacement: Efraimidis, Spirakis (Information Processing Letters 97,
// 2006).
inline Action draw_multinomial(Call&, diopiGeneratorHandle_t generator, const View& weights,
                               bool replacement, const View& out) {
  if (!is_floating(weights) || weights.ndim < 1 || weights.ndim > 2 || out.ndim != weights.ndim ||
      (out.ndim == 2 && out.sizes[0] != weights.sizes[0]))
    refuse("categories of other tensors than rows of weights");
  const int64_t categories = size(weights, -1), samples = size(out, -1);
  if (samples < 1 || categories < 1 || (!replacement && samples > categories))
    refuse(std::to_string(samples) + " samples of " + std::to_string(categories) + " categories");
  return [=](Call& call) {
    const void* const given = read_to_host(call, weights);
    const auto weight = [&](int64_t row, int64_t category) {
      return load(given, row * categories + category, weights.dtype);
    };
    std::vector<double> totals(static_cast<size_t>(weights.numel() / categories));
    for (int64_t i = 0; i < weights.numel(); ++i) {
      const double each = load(given, i, weights.dtype);
      if (!(each >= 0.0)) refuse("a weight is negative or NaN");
      totals[static_cast<size_t>(i / categories)] += each;
    }
    for (const double total : totals) {
      if (!(total > 0.0) || !std::isfinite(total)) refuse("the sum of weights is not positive");
    }
    const bool by_sum = replacement || samples == 1;
    const RandomStream stream(generator, by_sum ? out.numel() : weights.numel(), 2);
    const auto uniform = [&](int64_t i) {
      return static_cast<double>(stream.long_word(i) >> 11) * 0x1p-53;
    };
    fill_from_host(call, out, [&](void* memory) {
      const int64_t rows = out.numel() / samples;
      for (int64_t row = 0; row < rows; ++row) {
        const double total = totals[static_cast<size_t>(row)];
        if (by_sum) {
          for (int64_t k = 0; k < samples; ++k) {
            const double target = uniform(row * samples + k) * total;
            double running = 0;
            int64_t chosen = 0;
            // The last category with a weight, if rounding lets no sum exceed the target.
            for (int64_t c = 0; c < categories; ++c) {
              if (weight(row, c) > 0) chosen = c;
              running += weight(row, c);
              if (running > target) break;
            }
            store(memory, row * samples + k, out.dtype, chosen);
          }
          continue;
        }
        std::vector<std::pair<double, int64_t>> order;
        for (int64_t c = 0; c < categories; ++c)
          order.emplace_back(-std::log(1.0 - uniform(row * categories + c)) / weight(row, c), c);
        std::stable_sort(order.begin(), order.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (int64_t k = 0; k < samples; ++k)
          store(memory, row * samples + k, out.dtype, order[static_cast<size_t>(k)].second);
      }
    });
  };
}

// Declines tensors with a smaller element, or NaN, before the operator writes.
inline Action require_at_least(Call&, const View& x, double bound) {
  if (!is_floating(x)) refuse("bounds of other elements than floating-point numbers");
  return [=](Call& call) {
    const void* const memory = read_to_host(call, x);
    for (int64_t i = 0; i < x.numel(); ++i) {
      if (!(load(memory, i, x.dtype) >= bound))
        refuse("an element is not at least " + std::to_string(bound));
    }
  };
}

// A temporary with one value in all elements.
inline View filled(Call& call, Dtype dtype, const Ints& sizes, double value) {
  View made = call.temporary(dtype, sizes);
  check_storable(made);
  fill_from_host(call, made, [&](void* memory) {
    for (int64_t i = 0; i < made.numel(); ++i) store(memory, i, made.dtype, value);
  });
  return made;
}
inline View ones_like(Call& call, const View& x) {
  return filled(call, Dtype{x.dtype}, shape(x), 1.0);
}
// A weight, or ones: as many as the tensor's size of a dimension, of its dtype.
inline View ones_if_null(Call& call, const View& weight, const View& x, int64_t dim) {
  return weight.is_present ? weight : filled(call, Dtype{x.dtype}, Ints{size(x, dim)}, 1.0);
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_RANDOM_H_
