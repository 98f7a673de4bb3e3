// Dispatch from a runtime dtype to a C++ type. The mask limits instantiations to the types that an
// operator supports.
#ifndef DL_KERNELS_BASE_DTYPE_DISPATCH_H_
#define DL_KERNELS_BASE_DTYPE_DISPATCH_H_

#include <cstdint>

#include "diopi/types.gen.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

template <class T>
struct Tag {
  using type = T;
};

// Return 0 for dtypes that the kernels do not support.
constexpr uint32_t dtype_bit(diopiDtype_t dtype) {
  return static_cast<uint32_t>(dtype) < 32 ? uint32_t(1) << static_cast<uint32_t>(dtype) : 0;
}

inline constexpr uint32_t kFloats =
    dtype_bit(diopi_dtype_float32) | dtype_bit(diopi_dtype_float64) |
    dtype_bit(diopi_dtype_float16) | dtype_bit(diopi_dtype_bfloat16);
inline constexpr uint32_t kInts = dtype_bit(diopi_dtype_int8) | dtype_bit(diopi_dtype_uint8) |
                                  dtype_bit(diopi_dtype_int16) | dtype_bit(diopi_dtype_int32) |
                                  dtype_bit(diopi_dtype_int64);
inline constexpr uint32_t kBool = dtype_bit(diopi_dtype_bool);
inline constexpr uint32_t kNumbers = kFloats | kInts;
inline constexpr uint32_t kReals = kNumbers | kBool;
inline constexpr uint32_t kWideUnsigned =
    dtype_bit(diopi_dtype_uint16) | dtype_bit(diopi_dtype_uint32) | dtype_bit(diopi_dtype_uint64);
inline constexpr uint32_t kComplexes =
    dtype_bit(diopi_dtype_complex64) | dtype_bit(diopi_dtype_complex128);
inline constexpr uint32_t kComplexParts =
    dtype_bit(diopi_dtype_float32) | dtype_bit(diopi_dtype_float64);
inline constexpr uint32_t kEverything = kReals | kWideUnsigned | kComplexes;
inline constexpr uint32_t kIndexes = dtype_bit(diopi_dtype_int32) | dtype_bit(diopi_dtype_int64);

// Call `f(Tag<T>{})` for the type of `dtype`, or return diopiDtypeNotSupported.
template <uint32_t Mask, class F>
inline diopiError_t dispatch(diopiDtype_t dtype, F&& f) {
  switch (dtype) {
#define DL_DISPATCH_CASE(value, T)                                    \
  case value:                                                         \
    if constexpr ((Mask & dtype_bit(value)) != 0) return f(Tag<T>{}); \
    break;
    DL_DISPATCH_CASE(diopi_dtype_float32, float)
    DL_DISPATCH_CASE(diopi_dtype_float64, double)
    DL_DISPATCH_CASE(diopi_dtype_float16, Half)
    DL_DISPATCH_CASE(diopi_dtype_bfloat16, BFloat16)
    DL_DISPATCH_CASE(diopi_dtype_int8, int8_t)
    DL_DISPATCH_CASE(diopi_dtype_uint8, uint8_t)
    DL_DISPATCH_CASE(diopi_dtype_int16, int16_t)
    DL_DISPATCH_CASE(diopi_dtype_int32, int32_t)
    DL_DISPATCH_CASE(diopi_dtype_int64, int64_t)
    DL_DISPATCH_CASE(diopi_dtype_bool, Bool)
    DL_DISPATCH_CASE(diopi_dtype_uint16, uint16_t)
    DL_DISPATCH_CASE(diopi_dtype_uint32, uint32_t)
    DL_DISPATCH_CASE(diopi_dtype_uint64, uint64_t)
    DL_DISPATCH_CASE(diopi_dtype_complex64, Complex<float>)
    DL_DISPATCH_CASE(diopi_dtype_complex128, Complex<double>)
#undef DL_DISPATCH_CASE
    default:
      break;
  }
  return diopiDtypeNotSupported;
}

template <class T>
constexpr diopiDtype_t dtype_of() {
  static_assert(!std::is_same_v<T, bool>, "tensors hold Bool");
  if constexpr (std::is_same_v<T, float>) return diopi_dtype_float32;
  if constexpr (std::is_same_v<T, double>) return diopi_dtype_float64;
  if constexpr (std::is_same_v<T, Half>) return diopi_dtype_float16;
  if constexpr (std::is_same_v<T, BFloat16>) return diopi_dtype_bfloat16;
  if constexpr (std::is_same_v<T, int8_t>) return diopi_dtype_int8;
  if constexpr (std::is_same_v<T, uint8_t>) return diopi_dtype_uint8;
  if constexpr (std::is_same_v<T, int16_t>) return diopi_dtype_int16;
  if constexpr (std::is_same_v<T, int32_t>) return diopi_dtype_int32;
  if constexpr (std::is_same_v<T, int64_t>) return diopi_dtype_int64;
  if constexpr (kIsBool<T>) return diopi_dtype_bool;
  if constexpr (std::is_same_v<T, uint16_t>) return diopi_dtype_uint16;
  if constexpr (std::is_same_v<T, uint32_t>) return diopi_dtype_uint32;
  if constexpr (std::is_same_v<T, uint64_t>) return diopi_dtype_uint64;
  if constexpr (std::is_same_v<T, Complex<float>>) return diopi_dtype_complex64;
  if constexpr (std::is_same_v<T, Complex<double>>) return diopi_dtype_complex128;
  return diopi_dtype_unsupported;
}

// Operators that only move elements ignore what the bits mean: one instance per element size serves
// all dtypes.
struct Bits128 {
  uint64_t low, high;
};

template <class F>
inline diopiError_t dispatch_size(diopiDtype_t dtype, F&& f) {
  switch (dl_dtype_bytes(dtype)) {
    case 1:
      return f(Tag<uint8_t>{});
    case 2:
      return f(Tag<uint16_t>{});
    case 4:
      return f(Tag<uint32_t>{});
    case 8:
      return f(Tag<uint64_t>{});
    case 16:
      return f(Tag<Bits128>{});
    default:
      return diopiDtypeNotSupported;
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_DTYPE_DISPATCH_H_
