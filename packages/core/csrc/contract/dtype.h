// Conversion between torch's scalar types and the contract's dtypes.
#pragma once

#include <c10/core/ScalarType.h>

#include <limits>

#include "diopi/types.gen.h"

namespace dl::core {

// diopi_dtype_unsupported if the contract has no counterpart.
constexpr diopiDtype_t to_diopi(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Float:
      return diopi_dtype_float32;
    case c10::ScalarType::Long:
      return diopi_dtype_int64;
    case c10::ScalarType::BFloat16:
      return diopi_dtype_bfloat16;
    case c10::ScalarType::Half:
      return diopi_dtype_float16;
    case c10::ScalarType::Double:
      return diopi_dtype_float64;
    case c10::ScalarType::Bool:
      return diopi_dtype_bool;
    case c10::ScalarType::Int:
      return diopi_dtype_int32;
    case c10::ScalarType::Short:
      return diopi_dtype_int16;
    case c10::ScalarType::Char:
      return diopi_dtype_int8;
    case c10::ScalarType::Byte:
      return diopi_dtype_uint8;
    case c10::ScalarType::UInt16:
      return diopi_dtype_uint16;
    case c10::ScalarType::UInt32:
      return diopi_dtype_uint32;
    case c10::ScalarType::UInt64:
      return diopi_dtype_uint64;
    case c10::ScalarType::ComplexHalf:
      return diopi_dtype_complex32;
    case c10::ScalarType::ComplexFloat:
      return diopi_dtype_complex64;
    case c10::ScalarType::ComplexDouble:
      return diopi_dtype_complex128;
    default:
      return diopi_dtype_unsupported;
  }
}

// ScalarType::Undefined if torch has no counterpart.
inline c10::ScalarType from_diopi(diopiDtype_t dtype) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto type = static_cast<c10::ScalarType>(i);
    if (to_diopi(type) == dtype && dtype != diopi_dtype_unsupported) return type;
  }
  return c10::ScalarType::Undefined;
}

// The largest finite value of a floating-point dtype of the contract.
inline double largest_of(c10::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return std::numeric_limits<c10::Half>::max();
    case at::kBFloat16:
      return std::numeric_limits<c10::BFloat16>::max();
    case at::kFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

// Converts a vendor's dtype mask (bit n: diopiDtype_t n) to torch's (bit n: ScalarType n).
inline uint64_t scalar_type_mask(uint64_t dtype_mask) {
  uint64_t result = 0;
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions) && i < 64; ++i) {
    const diopiDtype_t dtype = to_diopi(static_cast<c10::ScalarType>(i));
    if (dtype < 64 && ((dtype_mask >> dtype) & 1) != 0) result |= uint64_t{1} << i;
  }
  return result;
}

// Dtypes that tensors of a device may have: those that the vendor supports, and those that only
// the CPU fallback supports.
inline uint64_t supported_types(uint64_t dtype_mask) {
  uint64_t result = scalar_type_mask(dtype_mask);
  for (const c10::ScalarType type :
       {at::kByte,          at::kChar,        at::kShort,           at::kInt,
        at::kLong,          at::kUInt16,      at::kUInt32,          at::kUInt64,
        at::kHalf,          at::kBFloat16,    at::kFloat,           at::kDouble,
        at::kBool,          at::kComplexHalf, at::kComplexFloat,    at::kComplexDouble,
        at::kFloat8_e4m3fn, at::kFloat8_e5m2, at::kFloat8_e4m3fnuz, at::kFloat8_e5m2fnuz}) {
    result |= uint64_t{1} << static_cast<int>(type);
  }
  return result;
}

}  // namespace dl::core
