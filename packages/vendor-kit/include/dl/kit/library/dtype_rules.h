// Rules of the contract's schema for dtypes of tensors, for the generated operators. A call that
// breaks a rule is declined.
#ifndef DL_KIT_LIBRARY_DTYPE_RULES_H_
#define DL_KIT_LIBRARY_DTYPE_RULES_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "dl/dtype.h"
#include "dl/kit/base.h"
#include "dl/kit/library/values.h"

DL_KIT_BEGIN

namespace library {

// Declines dtypes that the contract, or a case, does not list.
inline void require_dtype(const View& view, uint32_t dtypes, const char* name) {
  if (view.is_present && (dtypes >> view.dtype & 1) == 0)
    refuse(std::string(name) + " has the dtype " + dtype_name(view.dtype));
}
inline void require_same_dtype(const View& view, const char* name, const View& like,
                               const char* like_name) {
  if (view.is_present && like.is_present && view.dtype != like.dtype)
    refuse(std::string(name) + " has the dtype " + dtype_name(view.dtype) + ", and " + like_name +
           " " + dtype_name(like.dtype));
}
inline void require_dtype(const Views& views, uint32_t dtypes, const char* name) {
  for (const View& view : views) require_dtype(view, dtypes, name);
}
// Entries with equal positions, or all entries and one tensor.
inline void require_same_dtype(const Views& views, const char* name, const View& like,
                               const char* like_name) {
  for (const View& view : views) require_same_dtype(view, name, like, like_name);
}
inline void require_same_dtype(const View& view, const char* name, const Views& like,
                               const char* like_name) {
  for (const View& each : like) require_same_dtype(view, name, each, like_name);
}
inline void require_same_dtype(const Views& views, const char* name, const Views& like,
                               const char* like_name) {
  for (size_t i = 0; i < views.size() && i < like.size(); ++i)
    require_same_dtype(views[i], name, like[i], like_name);
}

// An operand of a rule: a dtype, and a rank: 0 for tensors with dimensions, 1 for those without, 2
// for scalars. kNoDtype: absent.
constexpr int32_t kNoDtype = -1;
struct Operand {
  int32_t dtype, rank;
};
inline Operand operand(const View& x) {
  return {x.is_present ? x.dtype : kNoDtype, x.ndim == 0 ? 1 : 0};
}
// A scalar has the default dtype of its category.
inline Operand operand(const Scalar& x) {
  if (!x.is_present) return {kNoDtype, 2};
  switch (category_of(x.value.stype)) {
    case kBooleans:
      return {diopi_dtype_bool, 2};
    case kIntegers:
      return {diopi_dtype_int64, 2};
    default:
      return {diopi_dtype_float32, 2};
  }
}

// The smallest dtype that holds the values of both, by PyTorch's rules of type promotion; kNoDtype
// if PyTorch does not define one.
inline int32_t promote_types(int32_t a, int32_t b) {
  if (a == b) return a;
  if (category_of(a) < category_of(b)) return promote_types(b, a);
  const bool is_wide = a == diopi_dtype_float64 || b == diopi_dtype_float64;
  switch (category_of(a)) {
    case kComplex:
      return is_wide || a == diopi_dtype_complex128 || b == diopi_dtype_complex128
                 ? diopi_dtype_complex128
                 : diopi_dtype_complex64;
    case kFloating:
      if (category_of(b) != kFloating) return a;
      return is_wide ? diopi_dtype_float64 : diopi_dtype_float32;  // also of float16 and bfloat16
    default:
      break;
  }
  if (b == diopi_dtype_bool) return a;
  const auto is_unsigned = [](int32_t dtype) {
    return dtype == diopi_dtype_uint8 || dtype == diopi_dtype_uint16 ||
           dtype == diopi_dtype_uint32 || dtype == diopi_dtype_uint64;
  };
  if (is_unsigned(a) == is_unsigned(b)) return dl_dtype_bytes(a) > dl_dtype_bytes(b) ? a : b;
  const int32_t with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
  if (without != diopi_dtype_uint8) return kNoDtype;
  return with_sign == diopi_dtype_int8 ? diopi_dtype_int16 : with_sign;
}

inline int32_t complex_of(int32_t dtype) {
  if (dtype == kNoDtype || category_of(dtype) == kComplex) return dtype;
  if (dtype == diopi_dtype_float16) return diopi_dtype_complex32;
  return dtype == diopi_dtype_float64 ? diopi_dtype_complex128 : diopi_dtype_complex64;
}
inline int32_t real_of(int32_t dtype) {
  if (dtype == diopi_dtype_complex32) return diopi_dtype_float16;
  if (dtype == diopi_dtype_complex64) return diopi_dtype_float32;
  return dtype == diopi_dtype_complex128 ? diopi_dtype_float64 : dtype;
}
// Operators with floating-point results compute integers in float32.
inline int32_t float_of(int32_t dtype) {
  return dtype != kNoDtype && category_of(dtype) < kFloating ? diopi_dtype_float32 : dtype;
}
// The dtype of sums of half-precision numbers.
inline int32_t accumulate(int32_t dtype) {
  return dtype == diopi_dtype_float16 || dtype == diopi_dtype_bfloat16 ? diopi_dtype_float32
                                                                       : dtype;
}

// The dtype that PyTorch's promotion gives for operands; kNoDtype if there is none. Operands of a
// higher rank matter only if their category is higher, and a complex scalar keeps the precision of
// a floating-point tensor.
inline int32_t promote(std::initializer_list<Operand> operands) {
  int32_t found = kNoDtype;
  for (int32_t rank = 2; rank >= 0; --rank) {
    int32_t common = kNoDtype;
    for (const Operand& each : operands) {
      if (each.rank != rank || each.dtype == kNoDtype) continue;
      common = common == kNoDtype ? each.dtype : promote_types(common, each.dtype);
      if (common == kNoDtype) return kNoDtype;
    }
    if (common == kNoDtype) continue;
    if (found == kNoDtype ||
        (category_of(common) >= category_of(found) && common != diopi_dtype_bool))
      found = common;
    else if (category_of(common) == kFloating && category_of(found) == kComplex)
      found = complex_of(common);
    else
      found = promote_types(common, found);
    if (found == kNoDtype) return kNoDtype;
  }
  return found;
}

// Declines an output of another dtype than that of a rule; kNoDtype allows any.
inline void require_output_dtype(const View& view, const char* name, int32_t dtype,
                                 const char* rule) {
  if (view.is_present && dtype != kNoDtype && view.dtype != dtype)
    refuse(std::string(name) + " has the dtype " + dtype_name(view.dtype) + ", and its rule '" +
           rule + "' gives " + dtype_name(dtype));
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_DTYPE_RULES_H_
