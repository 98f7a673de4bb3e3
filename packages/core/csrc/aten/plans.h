// One function per family of operators: checks that the arguments are ones the contract covers, and
// describes the outputs. False sends the call to the fallback, where torch's kernels word the
// errors.
#pragma once

#include <ATen/core/IListRef.h>

#include "aten/direct_plan.h"

namespace dl::core {

enum class ReducedType { same, sum, floating };

// The number that elements of `self` become when they are set to `value`, which a plan has found to
// fit: torch converts it, so that a vendor gets integers for integers.
class StoredScalar {
 public:
  StoredScalar(const at::Tensor& self, const at::Scalar& value) : value_(to_scalar(value)) {
    if (value.isFloatingPoint() && c10::isIntegralType(self.scalar_type(), /*includeBool=*/true))
      make_integer(self.scalar_type(), value);
  }
  const diopiScalar_t* get() const { return &value_; }

 private:
  void make_integer(c10::ScalarType type, const at::Scalar& value);

  diopiScalar_t value_;
};
inline StoredScalar stored(const at::Tensor& self, const at::Scalar& value) {
  return StoredScalar(self, value);
}

namespace plans {

using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;
using OptionalType = std::optional<at::ScalarType>;

// Matrix products.
bool matrix_product(DirectPlan& plan, const Tensor& self, const Tensor& mat2);
bool batched_product(DirectPlan& plan, const Tensor& self, const Tensor& mat2);
bool added_product(DirectPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2);
bool added_batched_product(DirectPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2);

// Reductions and scans.
bool reduction(DirectPlan& plan, const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
               OptionalType dtype, ReducedType kind);
bool arg_reduction(DirectPlan& plan, const Tensor& self, std::optional<int64_t> dim, bool keepdim);
bool scan(DirectPlan& plan, const Tensor& self, int64_t dim, OptionalType dtype);
bool softmax(DirectPlan& plan, const Tensor& self, int64_t dim, bool half_to_float);
bool softmax_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& output,
                      int64_t dim, at::ScalarType input_dtype);

// Normalisation.
bool layer_norm(DirectPlan& plan, const Tensor& input, at::IntArrayRef normalized_shape,
                const OptionalTensor& weight, const OptionalTensor& bias);
bool layer_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         at::IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                         const OptionalTensor& weight, const OptionalTensor& bias,
                         std::array<bool, 3> mask);
bool batch_norm(DirectPlan& plan, const Tensor& input, const OptionalTensor& weight,
                const OptionalTensor& bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, bool training);
bool batch_norm_backward(DirectPlan& plan, const Tensor& grad_out, const Tensor& input,
                         const OptionalTensor& weight, const OptionalTensor& running_mean,
                         const OptionalTensor& running_var, const OptionalTensor& save_mean,
                         const OptionalTensor& save_invstd, bool train, std::array<bool, 3> mask);

// Indexing.
bool embedding(DirectPlan& plan, const Tensor& weight, const Tensor& indices, bool sparse);
bool embedding_backward(DirectPlan& plan, const Tensor& grad_output, const Tensor& indices,
                        int64_t num_weights, bool scale_grad_by_freq);
bool index_select(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index);
bool gather(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
            bool sparse_grad);
bool concatenation(DirectPlan& plan, const at::ITensorListRef& tensors, int64_t dim);
bool vendor_sized(DirectPlan& plan, const Tensor& self);
bool vendor_sized_masked(DirectPlan& plan, const Tensor& self, const Tensor& mask);
bool triangle(DirectPlan& plan, const Tensor& self);

// In place.
bool written(DirectPlan& plan, const Tensor& self);
bool filled(DirectPlan& plan, const Tensor& self, const at::Scalar& value);
bool masked_fill(DirectPlan& plan, const Tensor& self, const Tensor& mask, const at::Scalar& value);
bool random_floating(DirectPlan& plan, const Tensor& self);

}  // namespace plans
}  // namespace dl::core
