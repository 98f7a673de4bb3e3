// Operators on the bits of integers and of floating-point numbers.
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/take.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "aten/composed/elementwise_forms.h"
#include "aten/layout/outputs.h"
#include "aten/layout/strides.h"

namespace dl::core::composed {
namespace {

// (a | b) - (a & b): the contract has no subtraction of wide unsigned integers.
Tensor bitwise_xor(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() == at::kBool) return a.ne(b);
  const at::ScalarType type = a.scalar_type();
  if (c10::isBarebonesUnsignedType(type)) {
    const auto as = type == at::kUInt16 ? at::kShort : type == at::kUInt32 ? at::kInt : at::kLong;
    return bitwise_xor(a.view(as), b.view(as)).view(type);
  }
  return a.bitwise_or(b).sub_(a.bitwise_and(b));
}

// 2^0 to 2^(count - 1) with the dtype and device of `like`; the last one of a signed dtype is its
// smallest number.
Tensor powers_of_two(int64_t count, const Tensor& like) {
  const Tensor exponents = at::arange(count, like.options().dtype(at::kLong));
  return at::pow(wrap_scalar(int64_t{2}), exponents).to(like.scalar_type());
}

// factors[1 + b] of each shift b. The first and the last factor are for shifts below 0 and by the
// width or more. A power of each element would take ten times as long.
Tensor factors_of(const Tensor& b, int64_t bits, const Tensor& factors) {
  return at::take(factors, b.to(at::kLong).clamp(-1, bits).add_(1));
}

void check_shift(const char* name, const Tensor& a) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::isIntegralType(a.scalar_type(), false), "[dl] \"", name,
                              "\" not implemented for '", a.scalar_type(),
                              "': only integers have bits to shift; multiply or divide by a power ",
                              "of two instead.");
}

Tensor left_shift(const Tensor& a, const Tensor& b) {
  check_shift("lshift", a);
  const int64_t bits = 8 * a.element_size();
  const Tensor factors = at::zeros({bits + 2}, a.options());
  factors.narrow(0, 1, bits).copy_(powers_of_two(bits, a));
  return a.mul(factors_of(b, bits, factors));
}

// Shifts by the width or more leave only the sign.
Tensor right_shift(const Tensor& a, const Tensor& b) {
  check_shift("rshift", a);
  const int64_t bits = 8 * a.element_size();
  if (bits <= 32) {
    // Products with powers of two are exact.
    const at::ScalarType exact = bits <= 16 ? at::kFloat : at::kDouble;
    const Tensor factors = at::full({bits + 2}, 0x1p-60, a.options().dtype(exact));
    factors.narrow(0, 1, bits).copy_(powers_of_two(bits, factors).reciprocal_());
    return a.to(exact).mul(factors_of(b, bits, factors)).floor_().to(a.scalar_type());
  }
  // An int64 is less than 2^63: shifts by 63 leave the sign as well.
  const Tensor beyond = b.lt(0).logical_or_(b.ge(bits - 1));
  const Tensor factors = powers_of_two(bits - 1, a);
  const Tensor divisor = at::take(factors, b.to(at::kLong).clamp(0, bits - 2));
  return at::where(beyond, a.lt(0).to(a.scalar_type()).neg_(), at::div(a, divisor, "floor"));
}

bool any(const Tensor& condition) {
  return condition.numel() != 0 && condition.to(at::kByte).amax().item<uint8_t>() != 0;
}

// Euclid's algorithm, iterated until it has finished for all elements. The smallest integer is its
// own absolute value; as in torch, remainders have the sign of the dividend.
Tensor gcd(const Tensor& self, const Tensor& other) {
  Tensor a = self.abs(), b = other.abs();
  for (Tensor more = b.ne(0); any(more); more = b.ne(0)) {
    const Tensor rest = a.fmod(b.masked_fill(b.eq(0), 1)).mul_(more);
    a = at::where(more, b, a);
    b = rest;
  }
  return a;
}
Tensor lcm(const Tensor& self, const Tensor& other) {
  const Tensor divisor = gcd(self, other);
  const Tensor reduced = at::div(self, divisor.masked_fill(divisor.eq(0), 1), "trunc");
  return reduced.mul(other).abs_();
}

// Operands keep their own dtype, because the distance to the neighbor depends on it.
Tensor neighbor(const Tensor& from, const Tensor& towards) {
  const Tensor bits = bits_of(from);
  const Tensor step = towards.gt(from).eq(from.gt(0)).to(bits.scalar_type()).mul_(2).sub_(1);
  const Tensor next = bits.add(step).view(from.scalar_type());
  const Tensor smallest = bits_of(at::zeros_like(from)).add_(1).view(from.scalar_type());
  const Tensor moved = at::where(from.eq(0), copysign_of(smallest, towards), next);
  const Tensor reached = at::where(from.eq(towards), towards, moved);
  const Tensor unordered = from.ne(from).logical_or_(towards.ne(towards));
  return at::where(unordered, from.add(towards), reached);
}
Tensor nextafter_run(const Tensor& given, const Tensor& self, const Tensor& other) {
  Tensor out = given;
  auto iterator = iterator_of(out, self, other, Promotion::same);
  out = iterator.output();
  const auto options = out.options().dtype(iterator.common_dtype());
  check_floating("nextafter_cpu", iterator.common_dtype());
  const auto shape = out.sizes();
  const Tensor from = self.to(options).expand(shape).contiguous();
  const Tensor towards = other.to(options).expand(shape).contiguous();
  return settle(given.defined(), out, neighbor(from, towards), self, other);
}
Tensor nextafter(const Tensor& self, const Tensor& other) { return nextafter_run({}, self, other); }
Tensor& nextafter_out(const Tensor& self, const Tensor& other, Tensor& out) {
  nextafter_run(out, self, other);
  return out;
}
Tensor& nextafter_inplace(Tensor& self, const Tensor& other) {
  nextafter_run(self, self, other);
  return self;
}

// Mantissa and exponent, computed in double; values that are subnormal in double are scaled first.
std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes");
  constexpr int64_t kField = int64_t{0x7ff} << 52;
  const Tensor x = self.to(at::kDouble);
  const Tensor tiny = x.abs().lt(0x1p-1022);
  const Tensor bits = at::where(tiny, x.mul(0x1p54), x).contiguous().view(at::kLong);
  const Tensor field = at::div(bits.bitwise_and(kField), int64_t{1} << 52, "trunc");
  Tensor exponent = field.sub(1022).sub_(tiny.to(at::kLong).mul_(54));
  Tensor mantissa = bits.bitwise_and(~kField).bitwise_or_(int64_t{1022} << 52).view(at::kDouble);
  const Tensor none = field.eq(0x7ff).logical_or_(x.eq(0));
  mantissa = at::where(none, x, mantissa);
  exponent = exponent.masked_fill_(none, 0);
  return {mantissa.to(self.scalar_type()), exponent.to(at::kInt)};
}
std::tuple<Tensor&, Tensor&> frexp_out(const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  TORCH_CHECK(mantissa.dtype() == self.dtype(), "torch.frexp() expects mantissa to have dtype ",
              self.dtype(), " but got ", mantissa.dtype());
  TORCH_CHECK(exponent.dtype() == at::kInt,
              "torch.frexp() expects exponent to have int dtype but got ", exponent.dtype());
  const auto [fraction, power] = frexp(self);
  Tensor first = mantissa, second = exponent;
  auto iterator = at::TensorIteratorConfig()
                      .add_owned_output(first)
                      .add_owned_output(second)
                      .add_owned_const_input(self)
                      .check_all_same_dtype(false)
                      .set_check_mem_overlap(true)
                      .build();
  mantissa.copy_(fraction);
  exponent.copy_(power);
  return {mantissa, exponent};
}

// Exclusive or of the bits of all elements over some dimensions; each element is first converted to
// double or int64. A tree reduction: pairs of elements are combined until one is left.
Tensor hash_tensor(const Tensor& self, at::IntArrayRef dims, bool keepdim, int64_t mode) {
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  Tensor bits =
      self.is_floating_point() ? self.to(at::kDouble).view(at::kLong) : self.to(at::kLong);
  // torch checks the range of all dimensions first, and only then that none is repeated.
  at::DimVector wrapped(dims);
  at::maybe_wrap_dims(wrapped, self.dim());
  const auto reduced = at::dim_list_to_bitset(
      dims.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(wrapped), self.dim());
  at::DimVector order, kept, with_ones;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!reduced[d]) {
      order.push_back(d);
      kept.push_back(self.size(d));
    }
    with_ones.push_back(reduced[d] ? 1 : self.size(d));
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (reduced[d]) order.push_back(d);
  }
  TORCH_CHECK(self.numel() != 0 || !dims.empty(),
              "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
              "the reduction dim with the 'dim' argument.");
  for (int64_t dim : dims) {
    TORCH_CHECK_INDEX(self.dim() == 0 || self.size(dim) != 0,
                      "hash_tensor: Expected reduction dim ", dim, " to have non-zero size.");
  }
  const int64_t outputs = c10::multiply_integers(kept);
  bits = bits.permute(order).reshape({outputs, outputs == 0 ? 0 : self.numel() / outputs});
  if (bits.numel() == 0) bits = at::zeros({outputs, 1}, bits.options());
  while (bits.size(1) > 1) {
    const int64_t half = bits.size(1) / 2;
    const Tensor folded = bitwise_xor(bits.narrow(1, 0, half), bits.narrow(1, half, half));
    bits = bits.size(1) % 2 == 0 ? folded : at::cat({folded, bits.narrow(1, 2 * half, 1)}, 1);
  }
  const Tensor found = bits.reshape(keepdim ? with_ones : kept).view(at::kUInt64);
  // If nothing was combined, the result still aliases the input.
  return arrange(found.is_alias_of(self) ? found.clone() : found);
}
Tensor& hash_tensor_out(const Tensor& self, at::IntArrayRef dims, bool keepdim, int64_t mode,
                        Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kUInt64, "Expected result to be of dtype uint64, but got ",
              out.scalar_type());
  return write_to(out, hash_tensor(self, dims, keepdim, mode));
}

using BitwiseXor = Binary<bitwise_xor, Promotion::same, "bitwise_xor", "Tensor", "Tensor_out">;
using LeftShift = Binary<left_shift, Promotion::same, "bitwise_left_shift", "Tensor", "Tensor_out">;
using RightShift =
    Binary<right_shift, Promotion::same, "bitwise_right_shift", "Tensor", "Tensor_out">;
using Gcd = Binary<gcd, Promotion::same, "gcd">;
using Lcm = Binary<lcm, Promotion::same, "lcm">;

// Operators << and >>.
Tensor lshift(const Tensor& self, const Tensor& other) { return LeftShift::run({}, self, other); }
Tensor lshift_by(const Tensor& self, const Scalar& other) {
  return LeftShift::run({}, self, wrap_scalar(other));
}
Tensor& ilshift(Tensor& self, const Tensor& other) {
  LeftShift::run(self, self, other);
  return self;
}
Tensor& ilshift_by(Tensor& self, const Scalar& other) {
  LeftShift::run(self, self, wrap_scalar(other));
  return self;
}
Tensor rshift(const Tensor& self, const Tensor& other) { return RightShift::run({}, self, other); }
Tensor rshift_by(const Tensor& self, const Scalar& other) {
  return RightShift::run({}, self, wrap_scalar(other));
}
Tensor& irshift(Tensor& self, const Tensor& other) {
  RightShift::run(self, self, other);
  return self;
}
Tensor& irshift_by(Tensor& self, const Scalar& other) {
  RightShift::run(self, self, wrap_scalar(other));
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED_FORMS("bitwise_xor.Tensor", "bitwise_xor.Tensor_out", "bitwise_xor_.Tensor",
                    BitwiseXor);
  DL_COMPOSED_FORMS("bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_out",
                    "bitwise_left_shift_.Tensor", LeftShift);
  DL_COMPOSED_FORMS("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_out",
                    "bitwise_right_shift_.Tensor", RightShift);
  DL_COMPOSED("__lshift__.Tensor", lshift);
  DL_COMPOSED("__lshift__.Scalar", lshift_by);
  DL_COMPOSED("__ilshift__.Tensor", ilshift);
  DL_COMPOSED("__ilshift__.Scalar", ilshift_by);
  DL_COMPOSED("__rshift__.Tensor", rshift);
  DL_COMPOSED("__rshift__.Scalar", rshift_by);
  DL_COMPOSED("__irshift__.Tensor", irshift);
  DL_COMPOSED("__irshift__.Scalar", irshift_by);
  DL_COMPOSED_FORMS("gcd", "gcd.out", "gcd_", Gcd);
  DL_COMPOSED_FORMS("lcm", "lcm.out", "lcm_", Lcm);
  DL_COMPOSED("nextafter", nextafter);
  DL_COMPOSED("nextafter.out", nextafter_out);
  DL_COMPOSED("nextafter_", nextafter_inplace);
  DL_COMPOSED("hash_tensor", hash_tensor);
  DL_COMPOSED("hash_tensor.out", hash_tensor_out);
  DL_COMPOSED("frexp.Tensor", frexp);
  DL_COMPOSED("frexp.Tensor_out", frexp_out);
}

}  // namespace dl::core::composed
