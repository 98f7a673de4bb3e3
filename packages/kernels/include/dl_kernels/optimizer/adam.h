// Steps of Adam and AdamW for a batch of parameters.
// Source: Kingma and Ba, Adam (2015); Loshchilov and Hutter, Decoupled weight decay regularization
// (2019); Reddi, Kale and Kumar, On the convergence of Adam and beyond (2018) for amsgrad.
#ifndef DL_KERNELS_OPTIMIZER_ADAM_H_
#define DL_KERNELS_OPTIMIZER_ADAM_H_

#include <cmath>
#include <cstdint>

#include "diopi/types.gen.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/optimizer/tensor_batch.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

struct AdamRule {
  double lr, beta1, beta2, eps, weight_decay;
  bool amsgrad, maximize;
  bool decoupled;  // AdamW: the decay shrinks the parameter instead of joining the gradient
};

// What depends on how many steps there have been.
struct AdamBias {
  double step_size, root;
};

DL_FN AdamBias bias_at(const AdamRule& rule, double step) {
  return {rule.lr / (1.0 - std::pow(rule.beta1, step)),
          1.0 / std::sqrt(1.0 - std::pow(rule.beta2, step))};
}

// A tensor that counts steps.
struct StepCount {
  const void* data;
  diopiDtype_t dtype;

  DL_FN double value() const {
    switch (dtype) {
      case diopi_dtype_float32:
        return *static_cast<const float*>(data);
      case diopi_dtype_int64:
        return static_cast<double>(*static_cast<const int64_t*>(data));
      default:
        return *static_cast<const double*>(data);
    }
  }
  static bool fits(diopiDtype_t dtype) {
    return dtype == diopi_dtype_float32 || dtype == diopi_dtype_float64 ||
           dtype == diopi_dtype_int64;
  }
};

// The five arrays of one parameter, as they are read and as they are written.
template <class T>
struct AdamArrays {
  const T *grad, *param, *mean, *square, *largest;
  T *new_param, *new_mean, *new_square, *new_largest;
  StepCount step;
};

template <class T>
using AdamBatch = TensorBatch<AdamArrays<T>>;

template <class T>
struct AdamBiasItem {
  Held<AdamBatch<T>> batch;
  AdamRule rule;
  AdamBias* biases;
  DL_FN void operator()(int64_t k) const {
    biases[k] = bias_at(rule, batch->of(static_cast<int>(k)).step.value());
  }
};

template <class T>
struct AdamRow {
  Held<AdamBatch<T>> batch;
  AdamRule rule;
  AdamBias given;
  const AdamBias* biases;  // one for each parameter, or null

  template <class B>
  DL_FN void operator()(const B& block, int64_t piece) const {
    if (rule.amsgrad) {
      update<true>(block, piece);
    } else {
      update<false>(block, piece);
    }
  }

 private:
  // A store that depends on a condition known in advance only would keep compilers from
  // vectorising.
  template <bool amsgrad, class B>
  DL_FN void update(const B& block, int64_t piece) const {
    using C = compute_t<T>;
    const auto part = batch->part(piece);
    const AdamArrays<T>& a = batch->of(part.tensor);
    const AdamBias bias = biases == nullptr ? given : biases[part.tensor];
    const C beta1 = static_cast<C>(rule.beta1), beta2 = static_cast<C>(rule.beta2),
            eps = static_cast<C>(rule.eps);
    const C rest1 = static_cast<C>(1.0 - rule.beta1), rest2 = static_cast<C>(1.0 - rule.beta2);
    const C step_size = static_cast<C>(bias.step_size), root = static_cast<C>(bias.root);
    const C shrink = rule.decoupled ? static_cast<C>(1.0 - rule.lr * rule.weight_decay) : C(1);
    const C decay = rule.decoupled ? C(0) : static_cast<C>(rule.weight_decay);
    const C sign = rule.maximize ? C(-1) : C(1);
    const T *grad = a.grad + part.first, *param = a.param + part.first, *mean = a.mean + part.first,
            *square = a.square + part.first, *largest = amsgrad ? a.largest + part.first : nullptr;
    T *new_param = a.new_param + part.first, *new_mean = a.new_mean + part.first,
      *new_square = a.new_square + part.first,
      *new_largest = amsgrad ? a.new_largest + part.first : nullptr;
    block.map(part.count, [=](int64_t i) {
      const C p = cast<C>(param[i]);
      const C g = sign * cast<C>(grad[i]) + decay * p;
      const C m = beta1 * cast<C>(mean[i]) + rest1 * g;
      const C v = beta2 * cast<C>(square[i]) + rest2 * g * g;
      C top = v;
      if constexpr (amsgrad) {
        top = max_nan(cast<C>(largest[i]), v);
        new_largest[i] = cast<T>(top);
      }
      new_mean[i] = cast<T>(m);
      new_square[i] = cast<T>(v);
      new_param[i] = cast<T>(p * shrink - step_size * m / (std::sqrt(top) * root + eps));
    });
  }
};

// Without `given`, the numbers of steps are read from the tensors that count them.
template <class T>
void run_adam(const Launch& launch, const AdamBatch<T>& batch, const AdamRule& rule,
              const AdamBias* given) {
  if (batch.pieces() == 0) return;
  Workspace<AdamBias> biases;
  if (given == nullptr) {
    each(launch, batch.count(), 1,
         AdamBiasItem<T>{&batch, rule, biases.reserve(launch, batch.count())});
  }
  rows(launch, batch.pieces(), 4 * AdamBatch<T>::kPiece,
       AdamRow<T>{&batch, rule, given == nullptr ? AdamBias{} : *given, biases.data()});
}

DL_KERNELS_END

#endif  // DL_KERNELS_OPTIMIZER_ADAM_H_
