// Plans of indexing, concatenation, and operators that write in place.
#include <ATen/Dispatch_v2.h>
#include <c10/util/overflows.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "aten/plan_checks.h"

namespace dl::core {
namespace plans {
namespace {

// torch skips legacy empty tensors of shape (0) in a concatenation.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

// Writing through a view that overlaps itself has no defined result; torch refuses it.
bool writable(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return true;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.size(i) > 1 && self.stride(i) == 0) return false;
  }
  return true;
}

}  // namespace

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

std::optional<double> stored_number(c10::ScalarType type, const at::Scalar& value) {
  if (c10::isComplexType(type)) {
    if (!value.isComplex()) return stored_number(c10::toRealValueType(type), value);
    const c10::complex<double> number = value.toComplexDouble();
    // The imaginary part is 0, not -0.
    if (number.imag() != 0 || std::signbit(number.imag())) return std::nullopt;
    return stored_number(c10::toRealValueType(type), number.real());
  }
  if (!holds(type, value)) return std::nullopt;
  std::optional<double> number;
  AT_DISPATCH_V2(type, "stored_number", AT_WRAP([&] {
                   const double stored = static_cast<double>(value.to<scalar_t>());
                   if (!std::is_integral_v<scalar_t> || std::abs(stored) < 0x1p53) number = stored;
                 }),
                 AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16, at::kBool, at::kUInt16,
                 at::kUInt32, at::kUInt64);
  return number;
}

}  // namespace plans

void StoredScalar::make_integer(c10::ScalarType type, const at::Scalar& value) {
  value_.stype = type == at::kUInt64 ? diopi_dtype_uint64 : diopi_dtype_int64;
  AT_DISPATCH_V2(type, "stored",
                 AT_WRAP([&] { value_.ival = static_cast<int64_t>(value.to<scalar_t>()); }),
                 AT_EXPAND(AT_INTEGRAL_TYPES), at::kBool, at::kUInt16, at::kUInt32, at::kUInt64);
}

namespace plans {

bool embedding(DirectPlan& plan, const Tensor& weight, const Tensor& indices, bool sparse) {
  if (!alike(weight) || !on_same_device(weight, indices) || !is_index(indices) || weight.dim() != 2)
    return false;
  if (sparse) return false;
  DimVector sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(1));
  plan.start(weight);
  plan.output(sizes, weight.scalar_type());
  return true;
}

bool embedding_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& indices,
                        int64_t num_weights, bool) {
  if (!alike(grad_output) || !on_same_device(grad_output, indices) || !is_index(indices))
    return false;
  if (grad_output.dim() == 0) return false;
  plan.start(grad_output);
  plan.output({num_weights, grad_output.size(-1)}, grad_output.scalar_type());
  return true;
}

bool index_select(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index) {
  if (!alike(self) || !on_same_device(self, index) || !is_index(index) || index.dim() > 1)
    return false;
  if (!valid_dim(self, dim)) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (self.dim() == 0) {
    if (index.numel() != 1) return false;
  } else {
    sizes[wrapped(self, dim)] = index.numel();
  }
  plan.start(self);
  plan.set_dim(wrapped(self, dim));
  plan.output(sizes, self.scalar_type());
  return true;
}

bool gather(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index, bool) {
  if (!alike(self) || !on_same_device(self, index) || index.scalar_type() != at::kLong)
    return false;
  // A tensor without dimensions counts as one with a single element.
  if (count_of(self) != count_of(index) || !valid_dim(self, dim)) return false;
  for (int64_t i = 0; self.dim() > 1 && i < self.dim(); ++i) {
    if (i != wrapped(self, dim) && index.size(i) > self.size(i)) return false;
  }
  plan.start(self);
  plan.set_dim(wrapped(self, dim));
  plan.output(index.sizes(), self.scalar_type());
  return true;
}

bool concatenation(DirectPlan& plan, const at::ITensorListRef& tensors, int64_t dim) {
  const Tensor* leading = nullptr;
  const Tensor* first = nullptr;  // of those that are not skipped
  DimVector sizes{0};
  int64_t at = 0;
  c10::MemoryFormat format = c10::MemoryFormat::Contiguous;
  c10::ScalarType type = c10::ScalarType::Undefined;
  for (const Tensor& tensor : tensors) {
    if (leading == nullptr) {
      leading = &tensor;
      type = tensor.scalar_type();
    }
    if (!alike(tensor) || !on_same_device(*leading, tensor)) return false;
    // Numbers without dimensions have a say of their own in what type the result has.
    if (tensor.dim() == 0) return false;
    if (tensor.scalar_type() != type) type = c10::promoteTypes(type, tensor.scalar_type());
    if (is_skipped(tensor)) continue;
    if (first == nullptr) {
      first = &tensor;
      if (!valid_dim(tensor, dim)) return false;
      at = wrapped(tensor, dim);
      sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
      format = tensor.suggest_memory_format();
      continue;
    }
    if (tensor.dim() != first->dim()) return false;
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (i != at && tensor.size(i) != first->size(i)) return false;
    }
    sizes[at] += tensor.size(at);
    if (tensor.suggest_memory_format() != format) format = c10::MemoryFormat::Contiguous;
  }
  if (leading == nullptr) return false;
  plan.start(*leading);
  plan.set_dim(at);
  plan.output(sizes, type, format);
  return true;
}

bool vendor_sized(DirectPlan& plan, const Tensor& self) {
  if (!alike(self)) return false;
  plan.start(self);
  return true;
}

bool vendor_sized_masked(DirectPlan& plan, const Tensor& self, const Tensor& mask) {
  if (!alike(self) || !on_same_device(self, mask) || mask.scalar_type() != at::kBool) return false;
  for (int64_t i = 1; i <= std::min(self.dim(), mask.dim()); ++i) {
    if (self.size(-i) != mask.size(-i) && self.size(-i) != 1 && mask.size(-i) != 1) return false;
  }
  plan.start(self);
  return true;
}

bool triangle(DirectPlan& plan, const Tensor& self) {
  if (!alike(self) || self.dim() < 2) return false;
  plan.start(self);
  plan.output(self.sizes(), self.scalar_type());
  return true;
}

bool written(DirectPlan& plan, const Tensor& self) {
  if (!alike(self) || !writable(self)) return false;
  plan.start(self);
  return true;
}

bool filled(DirectPlan& plan, const Tensor& self, const at::Scalar& value) {
  if (!alike(self) || !holds(self.scalar_type(), value)) return false;
  return written(plan, self);
}

bool masked_fill(DirectPlan& plan, const Tensor& self, const Tensor& mask,
                 const at::Scalar& value) {
  if (!on_same_device(self, mask) || mask.scalar_type() != at::kBool || mask.dim() > self.dim())
    return false;
  for (int64_t i = 1; i <= mask.dim(); ++i) {
    if (mask.size(-i) != 1 && mask.size(-i) != self.size(-i)) return false;
  }
  return filled(plan, self, value);
}

bool random_floating(DirectPlan& plan, const Tensor& self) {
  return floating(self) && written(plan, self);
}

}  // namespace plans
}  // namespace dl::core
