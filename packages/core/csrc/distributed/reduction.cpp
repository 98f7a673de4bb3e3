#include "distributed/reduction.h"

#include <ATen/ATen.h>

#include <string>

#include "contract/dtype.h"
#include "dl/communicator.h"

namespace dl::core::distributed {
namespace {

using c10d::ReduceOp;

const char* name_of(const ReduceOp& op) {
  switch (op) {
    case ReduceOp::SUM:
      return "SUM";
    case ReduceOp::AVG:
      return "AVG";
    case ReduceOp::PRODUCT:
      return "PRODUCT";
    case ReduceOp::MIN:
      return "MIN";
    case ReduceOp::MAX:
      return "MAX";
    case ReduceOp::BAND:
      return "BAND";
    case ReduceOp::BOR:
      return "BOR";
    case ReduceOp::BXOR:
      return "BXOR";
    case ReduceOp::PREMUL_SUM:
      return "PREMUL_SUM";
    default:
      return "an unknown operation";
  }
}

[[noreturn]] void refuse(const char* operation, const ReduceOp& op, c10::ScalarType type,
                         const char* way_out) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "[dicl] ", operation, ": ReduceOp.", name_of(op),
                              " has no meaning for, or is not known of ", type, "; ", way_out);
}

bool is_bitwise(const ReduceOp& op) {
  return op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
}
bool is_linear(const ReduceOp& op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM;
}

// Maps boolean reductions to gloo's reductions of bytes: values of 0 and 1 stay 0 and 1.
ReduceOp of_bool(const ReduceOp& op, const char* operation) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::MAX:
    case ReduceOp::BOR:
      return ReduceOp::MAX;
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN:
    case ReduceOp::BAND:
      return ReduceOp::MIN;
    case ReduceOp::BXOR:
      return ReduceOp::BXOR;
    default:
      refuse(operation, op, at::kBool, "convert to a number first");
  }
}

// The dtype in which gloo adds instead; it is wide enough for every value.
std::optional<c10::ScalarType> wider(c10::ScalarType type) {
  switch (type) {
    case at::kShort:
    case at::kUInt16:
      return at::kInt;
    case at::kUInt32:
      return at::kLong;
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
    case at::kFloat8_e4m3fnuz:
    case at::kFloat8_e5m2fnuz:
      return at::kFloat;
    default:
      return std::nullopt;
  }
}

void scale(at::Tensor& wire, const ReduceOp& op) {
  const auto* factor = dynamic_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(factor != nullptr, "[dicl] ReduceOp.PREMUL_SUM without its factor");
  if (factor->tensor_factor.defined())
    wire.mul_(factor->tensor_factor.to(at::kCPU));
  else
    wire.mul_(factor->double_factor);
}

std::optional<int32_t> of_device(const ReduceOp& op) {
  switch (op) {
    case ReduceOp::SUM:
      return DL_REDUCE_SUM;
    case ReduceOp::AVG:
      return DL_REDUCE_AVERAGE;
    case ReduceOp::PRODUCT:
      return DL_REDUCE_PRODUCT;
    case ReduceOp::MIN:
      return DL_REDUCE_MINIMUM;
    case ReduceOp::MAX:
      return DL_REDUCE_MAXIMUM;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<DeviceReduction> device_reduction(c10::ScalarType type, const ReduceOp& asked) {
  if (type == at::kBool) {
    if (asked == ReduceOp::AVG || asked == ReduceOp::BXOR || asked == ReduceOp::PREMUL_SUM)
      return std::nullopt;
    return DeviceReduction{at::kByte, *of_device(of_bool(asked, "")), 1};
  }
  const auto operation = of_device(asked);
  const bool real = at::isFloatingType(type);
  // The contract does not define averages of integers.
  if (!operation || to_diopi(type) == diopi_dtype_unsupported ||
      (asked == ReduceOp::AVG && !real && !at::isComplexType(type)))
    return std::nullopt;
  if (!at::isComplexType(type)) return DeviceReduction{type, *operation, 1};
  if (!is_linear(asked)) return std::nullopt;
  return DeviceReduction{c10::toRealValueType(type), *operation, 2};
}

Reduction::Reduction(const at::Tensor& host, const ReduceOp& asked, const char* operation)
    : host_(host), wire_(host), given_(asked), average_(asked == ReduceOp::AVG) {
  const auto type = host.scalar_type();
  const bool real = at::isFloatingType(type) || at::isComplexType(type);
  if (is_bitwise(asked) && real) refuse(operation, asked, type, "it needs integers");
  if (type == at::kBool) {
    wire_ = host.view(at::kByte);
    given_ = of_bool(asked, operation);
    return;
  }
  if (at::isComplexType(type)) {
    if (!is_linear(asked)) refuse(operation, asked, type, "only sums and averages are");
    wire_ = at::view_as_real(host);
  } else if (const auto wide = wider(type)) {
    wire_ = host.to(*wide);
    converted_ = true;
  } else if (type == at::kUInt64) {
    // Sums and products of signed and unsigned integers have the same bits.
    if (asked == ReduceOp::MIN || asked == ReduceOp::MAX || average_)
      refuse(operation, asked, type, "convert to int64 first");
    wire_ = host.view(at::kLong);
  }
  if (average_) given_ = ReduceOp::SUM;
  if (asked == ReduceOp::PREMUL_SUM) {
    scale(wire_, asked);
    given_ = ReduceOp::SUM;
  }
}

void Reduction::finish(int ranks) {
  if (average_) {
    if (at::isFloatingType(wire_.scalar_type()))
      wire_.div_(ranks);
    else
      wire_.div_(ranks, "trunc");
  }
  if (converted_) host_.copy_(wire_);
}

}  // namespace dl::core::distributed
