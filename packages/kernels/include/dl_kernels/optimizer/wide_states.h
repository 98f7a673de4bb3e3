// Optimizer steps that are computed in double for parameters of any dtype: Adadelta and RMSprop.
#ifndef DL_KERNELS_OPTIMIZER_WIDE_STATES_H_
#define DL_KERNELS_OPTIMIZER_WIDE_STATES_H_

#include <cmath>

#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// States of a step, converted to double, for optimizers that are rarely used.
template <int N>
class WideStates {
 public:
  // Null states are absent.
  WideStates(diopiContextHandle_t ctx, const char* op, const diopiTensorHandle_t (&states)[N])
      : ctx_(ctx), op_(op) {
    for (int k = 0; k < N; ++k) {
      states_[k] = states[k];
      data_[k] = nullptr;
      if (states[k] != nullptr) data_[k] = storage_[k].reserve(Launch(ctx), ref(states[k]).numel);
    }
  }

  diopiError_t read() const {
    return each_state([this](const TensorRef& own, const TensorRef& wide) {
      return copy_elements(ctx_, op_, wide, own);
    });
  }
  diopiError_t write() const {
    return each_state([this](const TensorRef& own, const TensorRef& wide) {
      return copy_elements(ctx_, op_, own, wide);
    });
  }
  double* data(int k) const { return data_[k]; }

 private:
  template <class F>
  diopiError_t each_state(const F& f) const {
    for (int k = 0; k < N; ++k) {
      if (states_[k] == nullptr) continue;
      int64_t strides[kMaxDims];
      const TensorRef own = ref(states_[k]);
      DL_TRY(f(own, detail::array_like(data_[k], own, strides)));
    }
    return diopiSuccess;
  }

  diopiContextHandle_t ctx_;
  const char* op_;
  diopiTensorHandle_t states_[N];
  Workspace<double> storage_[N];
  double* data_[N];
};

template <int N>
diopiError_t check_states(const char* op, const TensorRef& grad,
                          const diopiTensorHandle_t (&states)[N]) {
  if (!is_floating(grad.dtype)) return diopiDtypeNotSupported;
  if (grad.ndim > kMaxDims) return diopiNoImplement;
  for (const diopiTensorHandle_t state : states) {
    if (state == nullptr) continue;
    if (ref(state).dtype != grad.dtype) return diopiDtypeNotSupported;
    if (!same_shape(ref(state), grad))
      return fail(op, "parameter, gradient and averages have different shapes");
  }
  return diopiSuccess;
}

// Source: Zeiler, ADADELTA: An Adaptive Learning Rate Method (2012).
struct AdadeltaItem {
  double *param, *square, *delta;
  const double* grad;
  double lr, rho, eps, decay;

  DL_FN void operator()(int64_t i) const {
    const double g = grad[i] + decay * param[i];
    square[i] = rho * square[i] + (1 - rho) * g * g;
    const double step = std::sqrt(delta[i] + eps) / std::sqrt(square[i] + eps) * g;
    delta[i] = rho * delta[i] + (1 - rho) * step * step;
    param[i] -= lr * step;
  }
};

struct RmspropItem {
  double *param, *square;
  double* mean;    // null unless centered
  double* buffer;  // null without momentum
  const double* grad;
  double lr, alpha, eps, decay, momentum;

  DL_FN void operator()(int64_t i) const {
    const double g = grad[i] + decay * param[i];
    square[i] = alpha * square[i] + (1 - alpha) * g * g;
    double spread = square[i];
    if (mean != nullptr) {
      mean[i] = alpha * mean[i] + (1 - alpha) * g;
      spread -= mean[i] * mean[i];
    }
    double step = g / (std::sqrt(spread) + eps);
    if (buffer != nullptr) step = buffer[i] = momentum * buffer[i] + step;
    param[i] -= lr * step;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_OPTIMIZER_WIDE_STATES_H_
