#include "aten/plans/stored_scalar.h"

#include <ATen/Dispatch_v2.h>
#include <c10/util/overflows.h>

#include <cmath>
#include <type_traits>

namespace dl::core {
namespace plans {

bool holds(c10::ScalarType type, const at::Scalar& value) {
  if (c10::isComplexType(type) || value.isComplex()) return false;
  if (value.type() == at::kUInt64) return type == at::kUInt64;
  bool fits = type == at::kBool;
  const auto check = [&]<typename T>(T) {
    fits = value.isFloatingPoint() ? !c10::overflows<T, double>(value.toDouble())
                                   : !c10::overflows<T, int64_t>(value.toLong());
  };
  AT_DISPATCH_V2(type, "holds", AT_WRAP([&] {
                   if constexpr (!std::is_same_v<scalar_t, bool>) check(scalar_t{});
                 }),
                 AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16, at::kBool, at::kUInt16,
                 at::kUInt32, at::kUInt64);
  return fits;
}

std::optional<double> stored_value(c10::ScalarType type, const at::Scalar& value) {
  if (c10::isComplexType(type)) {
    if (!value.isComplex()) return stored_value(c10::toRealValueType(type), value);
    const c10::complex<double> number = value.toComplexDouble();
    // The imaginary part must be 0, and must not be -0.
    if (number.imag() != 0 || std::signbit(number.imag())) return std::nullopt;
    return stored_value(c10::toRealValueType(type), number.real());
  }
  if (!holds(type, value)) return std::nullopt;
  std::optional<double> number;
  AT_DISPATCH_V2(type, "stored_value", AT_WRAP([&] {
                   const double stored = static_cast<double>(value.to<scalar_t>());
                   if (!std::is_integral_v<scalar_t> || std::abs(stored) < 0x1p53) number = stored;
                 }),
                 AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16, at::kBool, at::kUInt16,
                 at::kUInt32, at::kUInt64);
  return number;
}

}  // namespace plans

StoredDouble::StoredDouble(const at::Tensor& self, const at::Scalar& value)
    : value_(plans::stored_value(self.scalar_type(), value).value_or(0.0)) {}

void StoredScalar::make_integer(c10::ScalarType type, const at::Scalar& value) {
  value_.stype = type == at::kUInt64 ? diopi_dtype_uint64 : diopi_dtype_int64;
  AT_DISPATCH_V2(type, "stored",
                 AT_WRAP([&] { value_.ival = static_cast<int64_t>(value.to<scalar_t>()); }),
                 AT_EXPAND(AT_INTEGRAL_TYPES), at::kBool, at::kUInt16, at::kUInt32, at::kUInt64);
}

}  // namespace dl::core
