// Boolean elements as tensors store them: one byte, where every value but 0 is true, because other
// devices and views of integers produce such bytes. Kernels compute with bool; only loads and
// stores convert, and stores write 0 or 1.
#ifndef DL_KERNELS_BASE_BOOLEAN_H_
#define DL_KERNELS_BASE_BOOLEAN_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct Bool {
  uint8_t byte;

  Bool() = default;
  DL_FN explicit Bool(bool value) : byte(value ? 1 : 0) {}
  DL_FN explicit operator bool() const { return byte != 0; }
};

namespace detail {

inline constexpr int64_t kCountedLanes = 64;

// Call take(bytes) for each 64 bytes of n; the last chunk is padded with bytes equal to `rest`.
template <class F>
inline void each_bytes(const Bool* from, int64_t n, uint8_t rest, const F& take) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(from);
  int64_t i = 0;
  for (; i + kCountedLanes <= n; i += kCountedLanes) take(bytes + i);
  if (i == n) return;
  uint8_t last[kCountedLanes];
  std::memset(last, rest, sizeof(last));
  std::memcpy(last, bytes + i, static_cast<size_t>(n - i));
  take(last);
}

}  // namespace detail

// Count the true elements; counts are kept in bytes for as long as they fit.
inline int64_t count_true(const Bool* from, int64_t n) {
  constexpr int64_t kAtOnce = 255 * detail::kCountedLanes;
  int64_t total = 0;
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    uint8_t lanes[detail::kCountedLanes] = {};
    detail::each_bytes(from + begin, n - begin < kAtOnce ? n - begin : kAtOnce, 0,
                       [&lanes](const uint8_t* bytes) {
                         DL_VECTOR_LOOP
                         for (int64_t j = 0; j < detail::kCountedLanes; ++j)
                           lanes[j] = static_cast<uint8_t>(lanes[j] + (bytes[j] != 0 ? 1 : 0));
                       });
    for (int64_t j = 0; j < detail::kCountedLanes; ++j) total += lanes[j];
  }
  return total;
}

inline bool any_true(const Bool* from, int64_t n) {
  uint8_t lanes[detail::kCountedLanes] = {};
  detail::each_bytes(from, n, 0, [&lanes](const uint8_t* bytes) {
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < detail::kCountedLanes; ++j) lanes[j] |= bytes[j];
  });
  uint8_t any = 0;
  for (int64_t j = 0; j < detail::kCountedLanes; ++j) any |= lanes[j];
  return any != 0;
}

inline bool all_true(const Bool* from, int64_t n) {
  uint8_t least[detail::kCountedLanes];
  std::memset(least, 255, sizeof(least));
  detail::each_bytes(from, n, 255, [&least](const uint8_t* bytes) {
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < detail::kCountedLanes; ++j)
      least[j] = bytes[j] < least[j] ? bytes[j] : least[j];
  });
  uint8_t all = 255;
  for (int64_t j = 0; j < detail::kCountedLanes; ++j) all = least[j] < all ? least[j] : all;
  return all != 0;
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_BOOLEAN_H_
