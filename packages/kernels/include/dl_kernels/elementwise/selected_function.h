// Families of special functions that are computed in double for all floating-point dtypes. The
// function is selected at run time, so that a family is compiled once; a branch is negligible
// compared with the computation.
#ifndef DL_KERNELS_ELEMENTWISE_SELECTED_FUNCTION_H_
#define DL_KERNELS_ELEMENTWISE_SELECTED_FUNCTION_H_

#include "dl_kernels/elementwise/pointwise.h"

DL_KERNELS_BEGIN

// `evaluate(Which, double...)` is found by argument-dependent lookup on the type of `which`.
template <class C, class Which>
struct SelectedOp {
  Which which;
  DL_FN C operator()(C x) const { return static_cast<C>(evaluate(which, static_cast<double>(x))); }
  DL_FN C operator()(C x, C y) const {
    return static_cast<C>(evaluate(which, static_cast<double>(x), static_cast<double>(y)));
  }
};

template <class Which>
diopiError_t selected_unary(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, Which which) {
  return unary<kFloats>(ctx, op, out, input, [=](auto tag) {
    return SelectedOp<typename decltype(tag)::type, Which>{which};
  });
}

template <class Which>
diopiError_t selected_binary(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t out,
                             diopiConstTensorHandle_t first, diopiConstTensorHandle_t second,
                             Which which) {
  return binary<kFloats>(ctx, op, out, first, second, [=](auto tag) {
    return SelectedOp<typename decltype(tag)::type, Which>{which};
  });
}

DL_KERNELS_END

#define DL_SELECTED_UNARY(name, which)                                 \
  diopiError_t name(diopiContextHandle_t ctx, diopiTensorHandle_t out, \
                    diopiConstTensorHandle_t input) {                  \
    return selected_unary(ctx, #name, out, input, which);              \
  }
#define DL_SELECTED_BINARY(name, which)                                                \
  diopiError_t name(diopiContextHandle_t ctx, diopiTensorHandle_t out,                 \
                    diopiConstTensorHandle_t first, diopiConstTensorHandle_t second) { \
    return selected_binary(ctx, #name, out, first, second, which);                     \
  }

#endif  // DL_KERNELS_ELEMENTWISE_SELECTED_FUNCTION_H_
