// Reductions shared by elementwise losses: none, sum or mean.
#ifndef DL_KERNELS_ELEMENTWISE_LOSS_H_
#define DL_KERNELS_ELEMENTWISE_LOSS_H_

#include <initializer_list>

#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/loss_reduction.h"
#include "dl_kernels/elementwise/elementwise.h"
#include "dl_kernels/elementwise/pointwise.h"
#include "dl_kernels/reduce/reduce.h"

DL_KERNELS_BEGIN

inline diopiError_t check_loss(const char* op, const TensorRef& out, const TensorRef& input,
                               const TensorRef& target, diopiReduction_t reduction) {
  if (!same_shape(input, target)) return fail(op, "the target does not have the input's shape");
  return check_reduced(op, "the output", out, reduction, input.numel);
}

// Convert integer or boolean targets and weights to the dtype of the input; absent and
// floating-point ones are unchanged.
inline diopiError_t as_floats(diopiContextHandle_t ctx, const char* op, diopiDtype_t dtype,
                              std::initializer_list<diopiConstTensorHandle_t*> operands) {
  for (diopiConstTensorHandle_t* operand : operands) {
    if (*operand == nullptr || !is_floating(dtype)) continue;
    const TensorRef given = ref(*operand);
    if (!is_integral(given.dtype)) continue;
    diopiTensorHandle_t made = nullptr;
    const diopiSize_t size{given.sizes, given.ndim};
    DL_TRY(diopiRequireTensor(ctx, &made, &size, nullptr, dtype, diopi_device));
    DL_TRY(copy_elements(ctx, op, ref(made), given));
    *operand = made;
  }
  return diopiSuccess;
}

// Compute the losses f(input, others…) and reduce them.
template <class T, class F, class... Others>
diopiError_t combined_loss(diopiContextHandle_t ctx, const char* op, const F& f,
                           const TensorRef& out, diopiReduction_t reduction, const TensorRef& input,
                           const Others&... others) {
  using C = compute_t<T>;
  if (reduction == ReductionNone) {
    return elementwise<T, T, std::conditional_t<true, T, Others>...>(ctx, op, f, out, input,
                                                                     others...);
  }
  if (input.ndim > kMaxDims) return diopiNoImplement;
  const Workspace<C> losses(Launch(ctx), input.numel);
  int64_t strides[kMaxDims];
  TensorRef each = detail::array_like(losses.data(), input, strides);
  DL_TRY((elementwise<C, T, std::conditional_t<true, T, Others>...>(ctx, op, f, each, input,
                                                                    others...)));
  const int64_t flat_size = input.numel, flat_stride = 1;
  each.sizes = &flat_size;
  each.strides = &flat_stride;
  each.ndim = 1;
  TensorRef total = out;
  total.ndim = 0;
  const double scale = reduction == ReductionMean ? 1.0 / static_cast<double>(input.numel) : 1.0;
  return reduce<C, kFloats>(ctx, op, SumReducer<C>{0, scale}, total, each, 1);
}

template <class C>
C share_of(diopiReduction_t reduction, const TensorRef& input) {
  return reduction == ReductionMean ? static_cast<C>(1.0 / static_cast<double>(input.numel)) : C(1);
}

inline bool same_dtypes(const TensorRef& first) { return is_floating(first.dtype); }
template <class... Others>
bool same_dtypes(const TensorRef& first, const TensorRef& second, const Others&... others) {
  return first.dtype == second.dtype && same_dtypes(second, others...);
}

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_LOSS_H_
