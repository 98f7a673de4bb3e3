// Type promotion of operators. Kernels compute in one dtype and decline other calls. For every
// operator, a declined call is repeated with operands converted to the dtype of PyTorch's
// promotion. dl_kernels.promotion derives the participating arguments from the schema.
#ifndef DL_KERNELS_PROMOTION_H_
#define DL_KERNELS_PROMOTION_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "diopi/diopirt.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Conversion of the result.
enum class PromotedResult {
  kCommon,     // convert from the common dtype to the result's own, if allowed
  kConverted,  // as kCommon, but true quotients of integers are floating-point
  kBoolean,    // 0 or 1 in the result's dtype; in place, through the common dtype
};

struct Promotion {
  uint32_t
      operands;  // bit i: argument i, not counting the context, is a participating tensor or scalar
  int result;    // index of the result; in place it is an operand too
  PromotedResult kind;
  bool floating;  // operators with floating-point results convert integers to float32
};

namespace promotion_detail {

enum Category { kBooleans, kIntegers, kFloating, kComplex };

inline Category category_of(diopiDtype_t dtype) {
  if (dtype == diopi_dtype_bool) return kBooleans;
  if (is_integral(dtype)) return kIntegers;
  return is_floating(dtype) ? kFloating : kComplex;
}

inline bool is_known(diopiDtype_t dtype) { return (dtype_bit(dtype) & kEverything) != 0; }
inline bool is_unsigned(diopiDtype_t dtype) {
  return dtype == diopi_dtype_uint8 || (dtype_bit(dtype) & kWideUnsigned) != 0;
}

// Return the smallest dtype that holds the values of both, like PyTorch's promote_types. If there
// is none, return tfloat32, which no tensor has.
inline diopiDtype_t common_of(diopiDtype_t a, diopiDtype_t b) {
  if (a == b) return a;
  if (category_of(a) < category_of(b)) return common_of(b, a);
  const bool wide = a == diopi_dtype_float64 || b == diopi_dtype_float64;
  switch (category_of(a)) {
    case kComplex:
      return wide || a == diopi_dtype_complex128 || b == diopi_dtype_complex128
                 ? diopi_dtype_complex128
                 : diopi_dtype_complex64;
    case kFloating:
      if (category_of(b) != kFloating) return a;
      return wide ? diopi_dtype_float64 : diopi_dtype_float32;  // also for float16 with bfloat16
    default:
      break;
  }
  if (category_of(b) == kBooleans) return a;
  if (is_unsigned(a) == is_unsigned(b)) return dl_dtype_bytes(a) > dl_dtype_bytes(b) ? a : b;
  const diopiDtype_t with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
  if (without != diopi_dtype_uint8) return diopi_dtype_tfloat32;
  return with_sign == diopi_dtype_int8 ? diopi_dtype_int16 : with_sign;
}

inline diopiDtype_t complex_of(diopiDtype_t real) {
  if (real == diopi_dtype_float16) return diopi_dtype_complex32;
  return real == diopi_dtype_float64 ? diopi_dtype_complex128 : diopi_dtype_complex64;
}

// Operands by rank: tensors with dimensions, then 0-dimensional tensors, then scalars. An operand
// of lower rank matters only if its category is higher. With complex numbers, floats keep their
// width.
class Common {
 public:
  void add(int rank, diopiDtype_t dtype) {
    dtypes_[rank] = present_[rank] ? common_of(dtypes_[rank], dtype) : dtype;
    present_[rank] = true;
  }
  diopiDtype_t get() const {
    diopiDtype_t result = diopi_dtype_tfloat32;
    bool any = false;
    for (int rank = 2; rank >= 0; --rank) {
      if (!present_[rank]) continue;
      result = any ? combined(dtypes_[rank], result) : dtypes_[rank];
      any = true;
    }
    return result;
  }

 private:
  static diopiDtype_t combined(diopiDtype_t higher, diopiDtype_t lower) {
    const bool keeps = category_of(higher) >= category_of(lower) && higher != diopi_dtype_bool;
    if (keeps) return higher;
    const bool widens = category_of(higher) == kFloating && category_of(lower) == kComplex;
    return widens ? complex_of(higher) : common_of(higher, lower);
  }

  diopiDtype_t dtypes_[3] = {};
  bool present_[3] = {};
};

// An argument of an operator that may be converted.
struct Argument {
  diopiConstTensorHandle_t tensor;
  const diopiScalar_t* scalar;
};

inline Argument argument_of(diopiConstTensorHandle_t tensor) { return {tensor, nullptr}; }
inline Argument argument_of(diopiTensorHandle_t tensor) { return {tensor, nullptr}; }
inline Argument argument_of(const diopiScalar_t* scalar) { return {nullptr, scalar}; }
template <class T>
Argument argument_of(const T&) {
  return {nullptr, nullptr};
}

// Return the converted tensor of an argument, or the argument itself.
inline diopiTensorHandle_t converted_or(diopiTensorHandle_t, const Argument& argument) {
  return const_cast<diopiTensorHandle_t>(argument.tensor);
}
inline diopiConstTensorHandle_t converted_or(diopiConstTensorHandle_t, const Argument& argument) {
  return argument.tensor;
}
template <class T>
const T& converted_or(const T& value, const Argument&) {
  return value;
}

inline diopiDtype_t common_dtype(const Promotion& rule, const Argument* arguments, int count) {
  Common common;
  for (int i = 0; i < count; ++i) {
    if ((rule.operands >> i & 1) == 0) continue;
    if (arguments[i].tensor != nullptr) {
      const TensorRef tensor = ref(arguments[i].tensor);
      if (!is_known(tensor.dtype)) return diopi_dtype_tfloat32;
      common.add(tensor.ndim == 0 ? 1 : 0, tensor.dtype);
    } else if (arguments[i].scalar != nullptr) {
      const diopiDtype_t dtype = arguments[i].scalar->stype;
      if (dtype == diopi_dtype_bool)
        common.add(2, dtype);
      else
        common.add(2, is_integral(dtype) ? diopi_dtype_int64 : diopi_dtype_float32);
    }
  }
  const diopiDtype_t dtype = common.get();
  return rule.floating && is_integral(dtype) ? diopi_dtype_float32 : dtype;
}

// Allocate a contiguous tensor of the shape of another.
inline diopiError_t make_like(diopiContextHandle_t ctx, diopiTensorHandle_t* made,
                              const TensorRef& like, diopiDtype_t dtype) {
  const diopiSize_t size{like.sizes, like.ndim};
  return diopiRequireTensor(ctx, made, &size, nullptr, dtype, diopi_device);
}

// Replace the operands, and the result if its dtype differs, by tensors of the common dtype.
inline diopiError_t convert(diopiContextHandle_t ctx, const Promotion& rule, diopiDtype_t dtype,
                            Argument* arguments, int count) {
  const auto replace = [&](int i, bool filled) -> diopiError_t {
    const TensorRef tensor = ref(arguments[i].tensor);
    if (tensor.dtype == dtype) return diopiSuccess;
    diopiTensorHandle_t made = nullptr;
    DL_TRY(make_like(ctx, &made, tensor, dtype));
    arguments[i].tensor = made;
    return filled ? copy_elements(ctx, "diopiCastDtype", ref(made), tensor) : diopiSuccess;
  };
  for (int i = 0; i < count; ++i) {
    if ((rule.operands >> i & 1) != 0 && arguments[i].tensor != nullptr) DL_TRY(replace(i, true));
  }
  const bool in_place = (rule.operands >> rule.result & 1) != 0;
  if (rule.kind != PromotedResult::kBoolean && !in_place) return replace(rule.result, false);
  return diopiSuccess;
}

// Return true if an operator may have declined its arguments only because of their dtypes, and
// accepts the converted ones.
inline bool is_convertible(const Promotion& rule, diopiDtype_t common, const Argument* arguments) {
  if (!is_known(common) || arguments[rule.result].tensor == nullptr) return false;
  const diopiDtype_t result = ref(arguments[rule.result].tensor).dtype;
  switch (rule.kind) {
    case PromotedResult::kCommon:
    case PromotedResult::kConverted:
      return is_known(result) && category_of(common) <= category_of(result);
    case PromotedResult::kBoolean:
      return is_known(result);
  }
  return false;
}

}  // namespace promotion_detail

template <class Declared, Declared* kFunction, const Promotion& kRule>
struct Promoting;

// `call` calls kFunction, and repeats it with converted operands if it declines the dtypes.
template <class... Args, diopiError_t (*kFunction)(diopiContextHandle_t, Args...),
          const Promotion& kRule>
struct Promoting<diopiError_t(diopiContextHandle_t, Args...), kFunction, kRule> {
  static diopiError_t call(diopiContextHandle_t ctx, Args... args) {
    const diopiError_t status = kFunction(ctx, args...);
    return status == diopiDtypeNotSupported ? promoted(ctx, args...) : status;
  }

 private:
  static constexpr int kCount = static_cast<int>(sizeof...(Args));

  [[gnu::noinline]] static diopiError_t promoted(diopiContextHandle_t ctx, Args... args) {
    const promotion_detail::Argument arguments[] = {promotion_detail::argument_of(args)...};
    const diopiDtype_t common = promotion_detail::common_dtype(kRule, arguments, kCount);
    const diopiError_t status = in_dtype(ctx, common, arguments, args...);
    // True quotients of integers are floating-point; the kernel declines integers for no other
    // reason.
    if (status == diopiDtypeNotSupported && kRule.kind == PromotedResult::kConverted &&
        is_integral(common))
      return in_dtype(ctx, diopi_dtype_float32, arguments, args...);
    return status;
  }

  static diopiError_t in_dtype(diopiContextHandle_t ctx, diopiDtype_t dtype,
                               const promotion_detail::Argument* given, Args... args) {
    if (!promotion_detail::is_convertible(kRule, dtype, given)) return diopiDtypeNotSupported;
    promotion_detail::Argument used[kCount];
    for (int i = 0; i < kCount; ++i) used[i] = given[i];
    DL_TRY(promotion_detail::convert(ctx, kRule, dtype, used, kCount));
    DL_TRY(run(ctx, used, std::index_sequence_for<Args...>{}, args...));
    const diopiConstTensorHandle_t from = used[kRule.result].tensor,
                                   to = given[kRule.result].tensor;
    return from == to ? diopiSuccess : copy_elements(ctx, "diopiCastDtype", ref(to), ref(from));
  }

  template <size_t... K>
  static diopiError_t run(diopiContextHandle_t ctx, const promotion_detail::Argument* used,
                          std::index_sequence<K...>, Args... args) {
    return kFunction(ctx, promotion_detail::converted_or(args, used[K])...);
  }
};

DL_KERNELS_END

// Declares promoting_<op>, whose `call` is the kernel `op` with promotion.
#define DL_KERNELS_PROMOTE(op, ...)                        \
  static constexpr Promotion kPromotion_##op{__VA_ARGS__}; \
  using promoting_##op = Promoting<decltype(::op), &op, kPromotion_##op>;

#endif  // DL_KERNELS_PROMOTION_H_
