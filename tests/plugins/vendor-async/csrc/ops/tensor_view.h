#ifndef DL_ASYNC_TEST_OPS_TENSOR_VIEW_H_
#define DL_ASYNC_TEST_OPS_TENSOR_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "diopi/types.gen.h"

namespace dl::async_test {

/** A tensor as an enqueued closure keeps it, independent of the host's handle, which is destroyed
 * when the operator returns. */
struct TensorView {
  int32_t dtype = diopi_dtype_unsupported;
  int64_t numel = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // elements
  std::byte* data = nullptr;     // readable and writable; NULL for empty tensors

  /** Return this tensor broadcast to another shape. Throws Error if it cannot be broadcast. */
  TensorView broadcast_to(const std::vector<int64_t>& shape) const;
};

/** Return the shape to which two tensors broadcast. Throws Error if there is none. */
std::vector<int64_t> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

/** Return `dim` counted from the front. Throws Error if it is out of range; a 0-dimensional tensor
 * has dimension 0. */
size_t normalized_dim(const TensorView& tensor, int64_t dim);

/** Call `body(offsets)` for each index of `sizes` in row-major order; `offsets` are in elements,
 * one per tensor. */
template <size_t N, typename Body>
void walk(const std::vector<int64_t>& sizes,
          const std::array<const std::vector<int64_t>*, N>& strides, Body&& body) {
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  std::vector<int64_t> index(sizes.size(), 0);
  std::array<int64_t, N> offsets{};
  while (true) {
    body(offsets);
    size_t dim = sizes.size();
    while (true) {
      if (dim == 0) return;
      --dim;
      for (size_t i = 0; i < N; ++i) offsets[i] += (*strides[i])[dim];
      if (++index[dim] < sizes[dim]) break;
      for (size_t i = 0; i < N; ++i) offsets[i] -= (*strides[i])[dim] * sizes[dim];
      index[dim] = 0;
    }
  }
}

/** Convert a number to another type: nonzero numbers to true, numbers out of int64's range to its
 * minimum. */
template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From kLimit = static_cast<From>(9223372036854775808.0);
    const bool fits = value >= -kLimit && value < kLimit;
    return static_cast<To>(fits ? static_cast<int64_t>(value) : INT64_MIN);
  } else {
    return static_cast<To>(value);
  }
}

/** Call `body` with a zero of the C++ type of a numeric dtype; bools are bytes. */
template <typename Body>
auto with_numeric(int32_t dtype, Body&& body) {
  switch (dtype) {
    case diopi_dtype_uint8:
      return body(uint8_t{});
    case diopi_dtype_int8:
      return body(int8_t{});
    case diopi_dtype_int16:
      return body(int16_t{});
    case diopi_dtype_int32:
      return body(int32_t{});
    case diopi_dtype_int64:
      return body(int64_t{});
    case diopi_dtype_float32:
      return body(float{});
    case diopi_dtype_float64:
      return body(double{});
    default:
      return body(bool{});
  }
}

/** Like with_numeric, for the dtypes of arithmetic results. */
template <typename Body>
void with_computed(int32_t dtype, Body&& body) {
  if (dtype == diopi_dtype_float32) return body(float{});
  if (dtype == diopi_dtype_float64) return body(double{});
  return body(int64_t{});
}

template <typename T>
T load(const TensorView& tensor, int64_t offset) {
  return with_numeric(tensor.dtype, [&](auto zero) {
    using Stored = decltype(zero);
    if constexpr (std::is_same_v<Stored, bool>) {
      // Other bytes, as in fresh memory, must not be read as a C++ bool.
      return convert<T>(std::to_integer<int>(tensor.data[offset]) != 0);
    } else {
      return convert<T>(reinterpret_cast<const Stored*>(tensor.data)[offset]);
    }
  });
}

template <typename T>
void store(const TensorView& tensor, int64_t offset, T value) {
  with_numeric(tensor.dtype, [&](auto zero) {
    using Stored = decltype(zero);
    reinterpret_cast<Stored*>(tensor.data)[offset] = convert<Stored>(value);
  });
}

}  // namespace dl::async_test

#endif
