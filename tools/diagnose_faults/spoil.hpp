// The ways in which a tensor can be wrong.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dl/handles.h"

namespace faulty {

inline float widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

inline uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// The elements of a tensor in the order of its indices, whatever its strides.
class Elements {
 public:
  explicit Elements(const void* handle) {
    const auto tensor = static_cast<diopiTensorHandle_t>(const_cast<void*>(handle));
    diopiSize_t sizes, strides;
    if (tensor == nullptr || diopiGetTensorDtype(tensor, &dtype_) != diopiSuccess ||
        diopiGetTensorData(tensor, &data_) != diopiSuccess || data_ == nullptr ||
        diopiGetTensorShape(tensor, &sizes) != diopiSuccess ||
        diopiGetTensorStride(tensor, &strides) != diopiSuccess)
      return;
    places_.assign(1, 0);
    for (int64_t d = 0; d < sizes.len; ++d) {
      std::vector<int64_t> finer;
      finer.reserve(places_.size() * static_cast<size_t>(sizes.data[d]));
      for (const int64_t place : places_)
        for (int64_t i = 0; i < sizes.data[d]; ++i) finer.push_back(place + i * strides.data[d]);
      places_ = std::move(finer);
    }
  }

  int64_t count() const { return is_known() ? static_cast<int64_t>(places_.size()) : 0; }

  double get(int64_t i) const {
    const int64_t at = places_[static_cast<size_t>(i)];
    switch (dtype_) {
      case diopi_dtype_float32:
        return static_cast<float*>(data_)[at];
      case diopi_dtype_float64:
        return static_cast<double*>(data_)[at];
      case diopi_dtype_bfloat16:
        return widen(static_cast<uint16_t*>(data_)[at]);
      case diopi_dtype_int64:
        return static_cast<double>(static_cast<int64_t*>(data_)[at]);
      default:
        return static_cast<uint8_t*>(data_)[at];
    }
  }

  void set(int64_t i, double value) const {
    const int64_t at = places_[static_cast<size_t>(i)];
    switch (dtype_) {
      case diopi_dtype_float32:
        static_cast<float*>(data_)[at] = static_cast<float>(value);
        break;
      case diopi_dtype_float64:
        static_cast<double*>(data_)[at] = value;
        break;
      case diopi_dtype_bfloat16:
        static_cast<uint16_t*>(data_)[at] = narrow(static_cast<float>(value));
        break;
      case diopi_dtype_int64:
        static_cast<int64_t*>(data_)[at] = static_cast<int64_t>(value);
        break;
      default:
        static_cast<uint8_t*>(data_)[at] = value != 0;
    }
  }

 private:
  bool is_known() const {
    return dtype_ == diopi_dtype_float32 || dtype_ == diopi_dtype_float64 ||
           dtype_ == diopi_dtype_bfloat16 || dtype_ == diopi_dtype_int64 ||
           dtype_ == diopi_dtype_bool;
  }

  void* data_ = nullptr;
  diopiDtype_t dtype_ = diopi_dtype_int8;
  std::vector<int64_t> places_;
};

// Change a tensor in the way that `kind` names; says whether any value is another one now.
inline bool spoil(const Elements& out, const std::string& kind) {
  // Of the process, whichever tensors they are of: as faults that come and go have it.
  static int calls = 0;
  static std::minstd_rand chance{std::random_device{}()};
  const int call = ++calls;
  const int64_t n = out.count();
  if (n == 0) return false;
  double largest = 0;
  for (int64_t i = 0; i < n; ++i)
    if (std::isfinite(out.get(i))) largest = std::max(largest, std::fabs(out.get(i)));
  bool changed = false;
  const auto put = [&](int64_t i, double value) {
    const double before = out.get(i);
    out.set(i, value);
    const double after = out.get(i);
    changed |= !(before == after || (std::isnan(before) && std::isnan(after)));
  };
  const auto each = [&](auto change) {
    for (int64_t i = 0; i < n; ++i) put(i, change(out.get(i), i));
  };
  const auto off = [&](double x, int64_t) { return x * 1.1 + 0.01; };

  // Everywhere.
  if (kind == "scale") each([](double x, int64_t) { return x * 1.02; });
  if (kind == "shift") each([&](double x, int64_t) { return x + 0.03 * largest; });
  if (kind == "coarse")
    each([](double x, int64_t) { return widen(narrow(static_cast<float>(x)) & 0xfff0); });
  // By place.
  const int64_t tail = n % 8 != 0 ? n % 8 : 1;
  if (kind == "tail") each([&](double x, int64_t i) { return i >= n - tail ? x / 2 + 0.1 : x; });
  if (kind == "one") put(n / 2, out.get(n / 2) * 1.5 + 0.05 * largest);
  if (kind == "next") put(n / 2, out.get(n / 2) + 1);
  if (kind == "long" && n > 256)
    each([&](double x, int64_t i) { return i >= 256 ? x * 0.9 + 0.02 * largest : x; });
  if (kind == "neighbours")
    for (int64_t i = 1; i < n; i += 2) put(i, out.get(i - 1));
  if (kind == "swapped" && n > 1) {
    const double first = out.get(0);
    put(0, out.get(n - 1));
    put(n - 1, first);
  }
  // By value.
  if (kind == "large")
    each([&](double x, int64_t) { return std::fabs(x) > 0.8 * largest ? x * 0.9 : x; });
  if (kind == "negative") each([](double x, int64_t) { return x < 0 ? x * 0.95 : x; });
  if (kind == "small")
    each([&](double x, int64_t) { return std::fabs(x) < 0.05 * largest ? 0.0 : x; });
  if (kind == "saturated") each([](double x, int64_t) { return std::fmin(x, 1.5); });
  if (kind == "overflowing") {
    const double infinity = std::numeric_limits<double>::infinity();
    each([&](double x, int64_t) { return x >= largest ? infinity : x; });
  }
  if (kind == "swallows-nan") each([](double x, int64_t) { return std::isnan(x) ? 0.0 : x; });
  // By call.
  if (kind == "seventh" && call % 7 == 0) each(off);
  if (kind == "late" && call > 12) each(off);
  if (kind == "first" && call == 1) each(off);
  if (kind == "stale" && call % 3 == 0) put(0, 0.25 * largest + 1e-3);
  // By chance, other in each run.
  if (kind == "racy" && chance() % 4 == 0)
    each([&](double x, int64_t i) { return i % 32 < 8 ? 0.02 * largest : x; });
  if (kind == "racy-element" && chance() % 3 == 0)
    put(static_cast<int64_t>(chance()) % n, 0.7 * largest + 0.01);
  // Draws.
  if (kind == "fewer") each([](double x, int64_t i) { return i % 5 == 0 ? 0 : x; });
  if (kind == "narrow") each([](double x, int64_t) { return x / 2; });
  if (kind == "stuck") each([](double, int64_t i) { return (i * 37 % 101) / 101.0; });
  if (kind == "all") each([](double, int64_t) { return 1.0; });
  return changed;
}

}  // namespace faulty
