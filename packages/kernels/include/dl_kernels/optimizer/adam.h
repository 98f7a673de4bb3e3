// Fused optimizer: Adam and AdamW for a batch of parameters. Source: Kingma and Ba, Adam (2015);
// Loshchilov and Hutter, Decoupled weight decay regularization (2019); for amsgrad, Reddi, Kale and
// Kumar, On the convergence of Adam and beyond (2018).
#ifndef DL_KERNELS_OPTIMIZER_ADAM_H_
#define DL_KERNELS_OPTIMIZER_ADAM_H_

#include <cmath>
#include <cstdint>

#include "diopi/types.gen.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/optimizer/tensor_batch.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/elements.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

struct AdamRule {
  double lr, beta1, beta2, eps, weight_decay;
  bool amsgrad, maximize;
  bool decoupled;  // AdamW: the decay shrinks the parameter instead of being added to the gradient
};

// Bias corrections, which depend on the step count.
struct AdamBias {
  double step_size, root;
};

DL_FN AdamBias bias_at(const AdamRule& rule, double step) {
  return {rule.lr / (1.0 - std::pow(rule.beta1, step)),
          1.0 / std::sqrt(1.0 - std::pow(rule.beta2, step))};
}

// A tensor that holds the step count.
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

// The five arrays of one parameter, as inputs and as outputs.
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

// Always store: a conditional store would keep compilers from vectorizing.
template <class T, bool amsgrad>
struct AdamRow {
  Held<AdamBatch<T>> batch;
  AdamRule rule;
  AdamBias given;
  const AdamBias* biases;  // one per parameter, or null

  template <class B>
  DL_FN void operator()(const B& block, int64_t piece) const {
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
    const auto averages = [=](C p, C given_grad, C mean, C square, C& new_mean, C& new_square) {
      const C g = sign * given_grad + decay * p;
      new_mean = beta1 * mean + rest1 * g;
      new_square = beta2 * square + rest2 * g * g;
    };
    const auto stepped = [=](C p, C m, C top) {
      return p * shrink - step_size * m / (std::sqrt(top) * root + eps);
    };
    const Reads<T> param{a.param}, grad{a.grad}, mean{a.mean}, square{a.square};
    const Writes<T> new_param{a.new_param}, new_mean{a.new_mean}, new_square{a.new_square};
    if constexpr (amsgrad) {
      map_elements(
          block, part.count,
          [=](C p, C g, C mean, C square, C largest, C& new_p, C& m, C& v, C& top) {
            averages(p, g, mean, square, m, v);
            top = max_nan(largest, v);
            new_p = stepped(p, m, top);
          },
          part.first, param, grad, mean, square, Reads<T>{a.largest}, new_param, new_mean,
          new_square, Writes<T>{a.new_largest});
    } else {
      map_elements(
          block, part.count,
          [=](C p, C g, C mean, C square, C& new_p, C& m, C& v) {
            averages(p, g, mean, square, m, v);
            new_p = stepped(p, m, v);
          },
          part.first, param, grad, mean, square, new_param, new_mean, new_square);
    }
  }
};

// Without `given`, the step counts are read from device tensors.
template <class T>
void run_adam(const Launch& launch, const AdamBatch<T>& batch, const AdamRule& rule,
              const AdamBias* given) {
  if (batch.pieces() == 0) return;
  Workspace<AdamBias> biases;
  if (given == nullptr) {
    each(launch, batch.count(), 1,
         AdamBiasItem<T>{&batch, rule, biases.reserve(launch, batch.count())});
  }
  const AdamBias bias = given == nullptr ? AdamBias{} : *given;
  constexpr int64_t kWork = 4 * AdamBatch<T>::kPiece;
  if (rule.amsgrad) {
    rows(launch, batch.pieces(), kWork, AdamRow<T, true>{&batch, rule, bias, biases.data()});
  } else {
    rows(launch, batch.pieces(), kWork, AdamRow<T, false>{&batch, rule, bias, biases.data()});
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_OPTIMIZER_ADAM_H_
