// Numbers in the dtypes in which the functions of a library take them.
#ifndef DL_KIT_LIBRARY_SCALARS_H_
#define DL_KIT_LIBRARY_SCALARS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/functions.h"
#include "dl/kit/library/values.h"
#include "dl/kit/tensor.h"

DL_KIT_BEGIN

namespace library {

inline bool has_dtype(const LibraryFacts& facts, int32_t dtype) {
  return dtype >= 0 && dtype <= 16 && facts.dtypes[dtype] >= 0;
}

// A scalar's value in the representation of its dtype, which libraries read through a pointer.
class ScalarBytes {
 public:
  ScalarBytes(const diopiScalar_t& scalar, const LibraryFacts& facts) : dtype_(scalar.stype) {
    switch (scalar.stype) {
      case diopi_dtype_float32:
        put(static_cast<float>(scalar.fval));
        break;
      case diopi_dtype_float16:
      case diopi_dtype_bfloat16:
      case diopi_dtype_tfloat32:
        // Libraries convert it to the dtype of their computation.
        dtype_ = diopi_dtype_float32;
        put(static_cast<float>(scalar.fval));
        break;
      case diopi_dtype_float64:
        put(scalar.fval);
        break;
      case diopi_dtype_bool:
        put(static_cast<uint8_t>(scalar.ival != 0));
        break;
      default:
        put_integer(scalar.ival, has_dtype(facts, diopi_dtype_int64));
    }
  }
  int32_t dtype() const { return dtype_; }
  const void* data() const { return bytes_; }
  int64_t bits() const {
    int64_t bits = 0;
    std::memcpy(&bits, bytes_, sizeof bits);
    return bits;
  }

 private:
  // All integers fit in 64 bits, and libraries convert them, unless they have no such numbers.
  void put_integer(int64_t value, bool widens) {
    const int64_t bytes = widens ? 8 : dl_dtype_bytes(dtype_);
    if (widens) dtype_ = diopi_dtype_int64;
    if (bytes == 1)
      put(static_cast<int8_t>(value));
    else if (bytes == 2)
      put(static_cast<int16_t>(value));
    else if (bytes == 4)
      put(static_cast<int32_t>(value));
    else
      put(value);
  }
  template <class T>
  void put(T value) {
    std::memcpy(bytes_, &value, sizeof value);
  }
  int32_t dtype_;
  alignas(8) char bytes_[8] = {};
};

// Returns true if a dtype represents a number exactly.
inline bool is_exact(const diopiScalar_t& x, int32_t dtype) {
  const bool is_fraction = category_of(x.stype) == kFloating;
  if (x.stype == diopi_dtype_uint64 && x.ival < 0) return false;  // above the largest int64
  if (dtype == diopi_dtype_float64 || dtype == diopi_dtype_float32) {
    const bool is_double = dtype == diopi_dtype_float64;
    if (is_fraction)
      return is_double || std::isnan(x.fval) ||
             static_cast<double>(static_cast<float>(x.fval)) == x.fval;
    const int64_t limit = int64_t{1} << (is_double ? 53 : 24);
    return x.ival >= -limit && x.ival <= limit;
  }
  if (is_fraction && (x.fval != std::trunc(x.fval) || std::fabs(x.fval) >= 0x1p63)) return false;
  const int64_t value = number_of<int64_t>(&x);
  const auto fits = [value](auto like) {
    using T = decltype(like);
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  };
  switch (dtype) {
    case diopi_dtype_int64:
      return true;
    case diopi_dtype_int32:
      return fits(int32_t{});
    case diopi_dtype_int16:
      return fits(int16_t{});
    case diopi_dtype_int8:
      return fits(int8_t{});
    case diopi_dtype_uint8:
      return fits(uint8_t{});
    default:
      return false;
  }
}

// The number in a dtype that the library and the documentation of the argument allow: exactly, or
// as PyTorch rounds it, which computes with numbers in float32 unless a tensor has double
// precision. Declines other numbers. `tensors`: the arguments of the call.
inline Scalar converted_scalar(const LibraryFacts& facts, const Function& function,
                               const ArgumentFacts& argument, const Scalar& given,
                               const std::vector<Argument>& tensors) {
  const auto takes = [&](int32_t dtype) {
    return has_dtype(facts, dtype) && (argument.dtypes == 0 || (argument.dtypes >> dtype & 1) != 0);
  };
  const int32_t own = given.value.stype;
  if (!given.is_present || takes(own)) return given;
  const bool is_fraction = category_of(own) == kFloating;
  const auto in = [&](int32_t dtype) {
    Scalar made = category_of(dtype) == kFloating ? scalar_of(number_of<double>(&given.value))
                                                  : scalar_of(number_of<int64_t>(&given.value));
    made.value.stype = static_cast<diopiDtype_t>(dtype);
    return made;
  };
  constexpr int32_t kFloats[] = {diopi_dtype_float32, diopi_dtype_float64};
  constexpr int32_t kInts[] = {diopi_dtype_int64, diopi_dtype_int32, diopi_dtype_int16,
                               diopi_dtype_int8, diopi_dtype_uint8};
  for (const bool floats : {is_fraction, !is_fraction}) {
    if (floats) {
      for (const int32_t dtype : kFloats)
        if (takes(dtype) && is_exact(given.value, dtype)) return in(dtype);
    } else {
      for (const int32_t dtype : kInts)
        if (takes(dtype) && is_exact(given.value, dtype)) return in(dtype);
    }
  }
  bool is_floating = is_fraction, is_double = false;
  const auto look = [&](const View& x) {
    is_floating = is_floating || category_of(x.dtype) >= kFloating;
    is_double = is_double || x.dtype == diopi_dtype_float64 || x.dtype == diopi_dtype_complex128;
  };
  for (const Argument& each : tensors) {
    if (const View* view = each.view()) look(*view);
    if (const Views* views = std::get_if<Views>(&each.value)) {
      for (const View& view : *views) look(view);
    }
  }
  if (takes(diopi_dtype_float32) && is_floating && !is_double) return in(diopi_dtype_float32);
  refuse(std::string(function.name) + " takes no " + dtype_name(own) + " for " + argument.name +
         ", and no dtype that it takes represents " +
         (is_fraction ? std::to_string(given.value.fval) : std::to_string(given.value.ival)) +
         " exactly; @scalar_like rounds a number");
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_SCALARS_H_
