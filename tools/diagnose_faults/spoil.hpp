// The ways in which an operator can be wrong.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "elements.hpp"

namespace faulty {

// End the process, or never return, in the way that `action` names; return for other actions.
inline void end(const std::string& action) {
  if (action == "crash") *reinterpret_cast<volatile int*>(8) = 1;
  if (action == "abort") std::abort();
  if (action == "exit") std::_Exit(3);
  if (action == "leave") std::_Exit(0);
  if (action == "hang")
    for (;;) pause();
}

inline bool ends(const std::string& action) {
  return action == "crash" || action == "abort" || action == "exit" || action == "leave" ||
         action == "hang";
}

// Change a result in the way that `action` names; return true if any value has changed.
//
// `number` counts the calls of the operator. `large`: only elements in the upper half of the range
// of magnitudes. `input`: the first argument of the operator that is a tensor. Unless `strikes`,
// the result is only remembered.
inline bool spoil(const Elements& out, const Elements& input, const std::string& action, int number,
                  bool large, bool strikes) {
  static std::minstd_rand chance{std::random_device{}()};
  // Results of earlier calls by size: the first one, and the last one.
  static std::map<int64_t, std::pair<std::vector<double>, std::vector<double>>> earlier;
  const int64_t n = out.count();
  if (n == 0) return false;
  double largest = 0;
  int64_t largest_at = 0;
  for (int64_t i = 0; i < n; ++i)
    if (const double size = std::fabs(out.get(i)); std::isfinite(size) && size > largest)
      largest = size, largest_at = i;
  bool changed = false;
  const auto put = [&](int64_t i, double value) {
    const double before = out.get(i);
    if (large && std::fabs(before) <= 0.5 * largest) return;
    out.set(i, value);
    const double after = out.get(i);
    const bool same = before == after && std::signbit(before) == std::signbit(after);
    changed |= !(same || (std::isnan(before) && std::isnan(after)));
  };
  const auto each = [&](auto change) {
    for (int64_t i = 0; i < n; ++i) put(i, change(out.get(i), i));
  };
  const auto off = [&](double x, int64_t) { return x * 1.1 + 0.01; };
  const auto all = [&] {
    std::vector<double> values(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = out.get(i);
    return values;
  };

  // Everywhere.
  if (action == "add") each([&](double x, int64_t) { return x + 0.03 * largest + 0.01; });
  if (action == "scale" || action == "saved") each([](double x, int64_t) { return x * 1.02; });
  if (action == "zero") each([](double, int64_t) { return 0.0; });
  if (action == "shift") each([&](double x, int64_t) { return x + 0.03 * largest; });
  if (action == "coarse")
    each([](double x, int64_t) { return widen(narrow(static_cast<float>(x)) & 0xfff0); });
  // By position.
  const int64_t tail = n % 8 != 0 ? n % 8 : 1;
  if (action == "nan") put(largest_at, std::numeric_limits<double>::quiet_NaN());
  if (action == "off-by-one") {
    const std::vector<double> values = all();
    each([&](double, int64_t i) { return values[static_cast<size_t>((i + 1) % n)]; });
  }
  // At least a sixteenth, because single elements may be zero anyway.
  const int64_t dropped = std::max(tail, n / 16);
  if (action == "drop-tail") each([&](double x, int64_t i) { return i >= n - dropped ? 0.0 : x; });
  if (action == "tail") each([&](double x, int64_t i) { return i >= n - tail ? x / 2 + 0.1 : x; });
  if (action == "one") put(n / 2, out.get(n / 2) * 1.5 + 0.05 * largest);
  if (action == "next") put(n / 2, out.get(n / 2) + 1);
  if (action == "long" && n > 256)
    each([&](double x, int64_t i) { return i >= 256 ? x * 0.9 + 0.02 * largest : x; });
  if (action == "neighbours")
    for (int64_t i = 1; i < n; i += 2) put(i, out.get(i - 1));
  if (action == "swapped" && n > 1) {
    const double first = out.get(0);
    put(0, out.get(n - 1));
    put(n - 1, first);
  }
  // By value.
  if (action == "large")
    each([&](double x, int64_t) { return std::fabs(x) > 0.8 * largest ? x * 0.9 : x; });
  if (action == "negative") each([](double x, int64_t) { return x < 0 ? x * 0.95 : x; });
  if (action == "small")
    each([&](double x, int64_t) { return std::fabs(x) < 0.05 * largest ? 0.0 : x; });
  if (action == "saturated") each([](double x, int64_t) { return std::fmin(x, 1.5); });
  if (action == "overflowing") {
    const double infinity = std::numeric_limits<double>::infinity();
    each([&](double x, int64_t) { return x >= largest ? infinity : x; });
  }
  if (action == "swallows-nan") each([](double x, int64_t) { return std::isnan(x) ? 0.0 : x; });
  if (action == "zero-sign") each([](double x, int64_t) { return x == 0 ? -x : x; });
  // By memory: a result of an earlier call, or an argument that is overwritten.
  if (action == "stale" || action == "repeat") {
    auto& [first, last] = earlier[n];
    const std::vector<double> values = all();
    const std::vector<double>& old = action == "stale" ? last : first;
    if (strikes && !old.empty())
      each([&](double, int64_t i) { return old[static_cast<size_t>(i)]; });
    if (first.empty()) first = values;
    last = values;
  }
  if (action == "alias")
    for (int64_t i = 0; i < std::min(n, input.count()); ++i) {
      changed |= input.get(i) != out.get(i);
      input.set(i, out.get(i));
    }
  // By call.
  if (action == "seventh" && number % 7 == 0) each(off);
  if (action == "late" && number > 12) each(off);
  if (action == "first" && number == 1) each(off);
  if (action == "third" && number % 3 == 0) put(0, 0.25 * largest + 1e-3);
  // At random, differently in each run.
  if (action == "racy" && chance() % 4 == 0)
    each([&](double x, int64_t i) { return i % 32 < 8 ? 0.02 * largest : x; });
  if (action == "racy-element" && chance() % 3 == 0)
    put(static_cast<int64_t>(chance()) % n, 0.7 * largest + 0.01);
  // Draws.
  if (action == "fewer") each([](double x, int64_t i) { return i % 5 == 0 ? 0 : x; });
  if (action == "narrow") each([](double x, int64_t) { return x / 2; });
  if (action == "stuck") each([](double, int64_t i) { return (i * 37 % 101) / 101.0; });
  if (action == "all") each([](double, int64_t) { return 1.0; });
  return changed;
}

}  // namespace faulty
