// Functors of GELU, exact by the error function and with the tanh approximation, and of their
// gradients. Source: Hendrycks and Gimpel, Gaussian Error Linear Units (2016).
#ifndef DL_KERNELS_ELEMENTWISE_GELU_H_
#define DL_KERNELS_ELEMENTWISE_GELU_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/vector_gelu.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

template <class C>
struct GeluOp {
  DL_FN C operator()(C x) const { return math::gelu(x); }
};
struct GeluOfBFloat16Op {
  DL_FN float operator()(float x) const { return math::gelu_of_bfloat16(x); }
};
template <class C>
struct GeluBackwardOp {
  DL_FN C operator()(C grad, C x) const { return grad * math::gelu_derivative(x); }
};

// The tanh approximation: Φ(x) ≈ (1 + tanh(sqrt(2/π)·(x + 0.044715·x³))) / 2.
template <class C>
struct GeluTanhOp {
  DL_FN C operator()(C x) const {
    const C inner = C(0.79788456080286535588) * (x + C(0.044715) * x * x * x);
    return C(0.5) * x * (C(1) + math::tanh(inner));
  }
};
template <class C>
struct GeluTanhBackwardOp {
  DL_FN C operator()(C grad, C x) const {
    const C inner = C(0.79788456080286535588) * (x + C(0.044715) * x * x * x);
    const C t = math::tanh(inner);
    const C slope = C(0.79788456080286535588) * (C(1) + C(3 * 0.044715) * x * x);
    return grad * (C(0.5) * (C(1) + t) + C(0.5) * x * (C(1) - t * t) * slope);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_GELU_H_
