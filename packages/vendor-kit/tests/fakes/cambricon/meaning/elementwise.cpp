// Elements: copies, conversions, arithmetic and activations.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

void demand_same(const Tensor& a, const Tensor& b) {
  demand(a.sizes() == b.sizes(), "the shapes differ");
}
void demand_precision(int64_t prefer) {
  demand(prefer == CNNL_COMPUTATION_FAST || prefer == CNNL_COMPUTATION_HIGH_PRECISION ||
             prefer == CNNL_COMPUTATION_ULTRAHIGH_PRECISION,
         "prefer is not a preference");
}
// Operations broadcast their inputs to the shape of the output.
void demand_broadcast(const Tensor& a, const Tensor& b, const Tensor& out) {
  demand(broadcast(a.sizes(), b.sizes()) == out.sizes(),
         "the shapes do not broadcast to the output");
}

}  // namespace

MEANING(Copy) {
  demand_same(input, output);
  demand(input.dtype() == output.dtype(), "the dtypes differ");
  assign(output, input);
}
MEANING(Expand) {
  demand(input.dtype() == output.dtype(), "the dtypes differ");
  assign(output, input.expand(output.sizes()));
}
MEANING(Fill_v3) {
  demand(pointer_mode == CNNL_POINTER_MODE_HOST, "the value is not in host memory");
  RUN(diopiFill, output, value.element(output.dtype()));
}
MEANING(CastDataType) {
  struct Pair {
    int64_t type;
    Dtype from, to;
  };
#define PAIR(FROM, from, TO, to)                                     \
  {                                                                  \
    CNNL_CAST_##FROM##_TO_##TO, diopi_dtype_##from, diopi_dtype_##to \
  }
  static constexpr Pair kPairs[] = {
      PAIR(FLOAT, float32, HALF, float16),    PAIR(FLOAT, float32, BFLOAT16, bfloat16),
      PAIR(FLOAT, float32, INT8, int8),       PAIR(FLOAT, float32, UINT8, uint8),
      PAIR(FLOAT, float32, INT16, int16),     PAIR(FLOAT, float32, INT32, int32),
      PAIR(FLOAT, float32, INT64, int64),     PAIR(FLOAT, float32, BOOL, bool),
      PAIR(HALF, float16, FLOAT, float32),    PAIR(HALF, float16, INT8, int8),
      PAIR(HALF, float16, UINT8, uint8),      PAIR(HALF, float16, INT16, int16),
      PAIR(HALF, float16, INT32, int32),      PAIR(HALF, float16, INT64, int64),
      PAIR(HALF, float16, BOOL, bool),        PAIR(BFLOAT16, bfloat16, FLOAT, float32),
      PAIR(BFLOAT16, bfloat16, BOOL, bool),   PAIR(INT8, int8, FLOAT, float32),
      PAIR(INT8, int8, HALF, float16),        PAIR(INT8, int8, INT16, int16),
      PAIR(INT8, int8, INT32, int32),         PAIR(UINT8, uint8, FLOAT, float32),
      PAIR(UINT8, uint8, HALF, float16),      PAIR(UINT8, uint8, INT32, int32),
      PAIR(UINT8, uint8, INT64, int64),       PAIR(INT16, int16, FLOAT, float32),
      PAIR(INT16, int16, HALF, float16),      PAIR(INT16, int16, INT32, int32),
      PAIR(INT32, int32, FLOAT, float32),     PAIR(INT32, int32, HALF, float16),
      PAIR(INT32, int32, BFLOAT16, bfloat16), PAIR(INT32, int32, INT8, int8),
      PAIR(INT32, int32, UINT8, uint8),       PAIR(INT32, int32, INT16, int16),
      PAIR(INT32, int32, INT64, int64),       PAIR(INT32, int32, BOOL, bool),
      PAIR(INT64, int64, FLOAT, float32),     PAIR(INT64, int64, HALF, float16),
      PAIR(INT64, int64, INT32, int32),       PAIR(BOOL, bool, FLOAT, float32),
      PAIR(BOOL, bool, HALF, float16),        PAIR(BOOL, bool, BFLOAT16, bfloat16),
      PAIR(BOOL, bool, INT32, int32)};
#undef PAIR
  demand_same(input, output);
  for (const Pair& each : kPairs) {
    if (each.type != cast_type) continue;
    demand(input.dtype() == each.from && output.dtype() == each.to,
           "cast_type names other dtypes than the tensors have");
    return RUN(diopiCastDtype, output, input);
  }
  refuse_because("cast_type is not a conversion");
}

// c = op(alpha1 * a, alpha2 * b) + beta * c.
MEANING(OpTensor) {
  demand_broadcast(a, b, c);
  demand(a.dtype() == c.dtype() && b.dtype() == c.dtype(), "the dtypes differ");
  const bool floating = is_floating(c.dtype());
  demand(op_tensor_desc["comp_type"] == (floating ? CNNL_DTYPE_FLOAT : CNNL_DTYPE_INT32),
         "comp_type does not fit the tensors");
  const Scalar first = alpha1.factor(c.dtype()), second = alpha2.factor(c.dtype());
  demand(beta.factor(c.dtype()).real() == 0, "beta other than 0 is not simulated");
  const Dtype wide = floating ? diopi_dtype_float32 : diopi_dtype_int32;
  const Tensor left = empty(a.sizes(), wide), right = empty(b.sizes(), wide);
  RUN(diopiMulScalar, left, a.to(wide), first);
  RUN(diopiMulScalar, right, b.to(wide), second);
  const Tensor result = empty(c.sizes(), wide);
  switch (op_tensor_desc["op_type"]) {
    case CNNL_OP_TENSOR_ADD:
      RUN(diopiAdd, result, left, right, Scalar::of(1));
      break;
    case CNNL_OP_TENSOR_SUB:
      RUN(diopiSub, result, left, right, Scalar::of(1));
      break;
    case CNNL_OP_TENSOR_MUL:
      RUN(diopiMul, result, left, right);
      break;
    default:
      refuse_because("op_type is not an operation");
  }
  assign(c, result);
}
// y = alpha * x + beta.
MEANING(Transform_v2) {
  demand_same(x, y);
  demand(x.dtype() == y.dtype(), "the dtypes differ");
  demand(pointer_mode == CNNL_POINTER_MODE_HOST, "the numbers are not in host memory");
  const Dtype wide = is_floating(x.dtype()) ? diopi_dtype_float32 : diopi_dtype_int32;
  const Tensor product = empty(x.sizes(), wide);
  RUN(diopiMulScalar, product, x.to(wide), alpha.factor(x.dtype()));
  RUN(diopiAddInpScalar, product, beta.factor(x.dtype()), Scalar::of(1));
  assign(y, product);
}
MEANING(Div_v2) {
  demand_broadcast(x, y, z);
  demand_precision(prefer);
  demand(x.dtype() == y.dtype() && x.dtype() == z.dtype(), "the dtypes differ");
  RUN(diopiDiv, z, x, y, RoundModeNone);
}
MEANING(Maximum) {
  demand_broadcast(x, y, z);
  demand(x.dtype() == y.dtype() && x.dtype() == z.dtype(), "the dtypes differ");
  RUN(diopiMaximum, z, x, y);
}
MEANING(Minimum) {
  demand_broadcast(x, y, z);
  demand(x.dtype() == y.dtype() && x.dtype() == z.dtype(), "the dtypes differ");
  RUN(diopiMinimum, z, x, y);
}
MEANING(Pow) {
  demand_broadcast(x, y, z);
  demand_precision(prefer);
  demand(x.dtype() == y.dtype() && x.dtype() == z.dtype(), "the dtypes differ");
  RUN(diopiPowTensor, z, x, y);
}

#define UNARY(name, op)                                  \
  MEANING(name) {                                        \
    demand_same(x, y);                                   \
    demand(x.dtype() == y.dtype(), "the dtypes differ"); \
    RUN(op, y, x);                                       \
  }
#define UNARY_WITH_PRECISION(name, op)                   \
  MEANING(name) {                                        \
    demand_same(x, y);                                   \
    demand(x.dtype() == y.dtype(), "the dtypes differ"); \
    demand_precision(prefer);                            \
    RUN(op, y, x);                                       \
  }
UNARY(Abs, diopiAbs)
UNARY(NegTensor, diopiNeg)
UNARY(Reciprocal, diopiReciprocal)
UNARY(Floor, diopiFloor)
UNARY(Ceil, diopiCeil)
UNARY(Sign, diopiSign)
UNARY_WITH_PRECISION(Sqrt_v2, diopiSqrt)
UNARY_WITH_PRECISION(Rsqrt_v2, diopiRsqrt)
UNARY_WITH_PRECISION(Exp_v2, diopiExp)
UNARY_WITH_PRECISION(Sin_v2, diopiSin)
UNARY_WITH_PRECISION(Cos_v2, diopiCos)
UNARY_WITH_PRECISION(Erf_v2, diopiErf)
MEANING(IsNan) {
  demand_same(x, y);
  RUN(diopiIsNan, y, x);
}
MEANING(Log_v2) {
  demand_same(x, y);
  demand_precision(prefer);
  demand(log_base == CNNL_LOG_E, "only base e is simulated");
  RUN(diopiLog, y, x);
}

// y = f(x), by the mode of the descriptor.
MEANING(ActivationForward) {
  demand_same(x, y);
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(x.dtype() == y.dtype(), "the dtypes differ");
  switch (activation_desc["mode"]) {
    case CNNL_ACTIVATION_RELU:
      return RUN(diopiRelu, y, x);
    case CNNL_ACTIVATION_SIGMOID:
      return RUN(diopiSigmoid, y, x);
    case CNNL_ACTIVATION_TANH:
      return RUN(diopiTanh, y, x);
    case CNNL_ACTIVATION_SILU:
      return RUN(diopiSilu, y, x);
    case CNNL_ACTIVATION_GELU:
      return RUN(diopiGelu, y, x, activation_desc["approximate"] != 0 ? "tanh" : "none");
    default:
      refuse_because("the mode is not simulated");
  }
}
// Modes whose gradient needs the output take y, all other modes x.
MEANING(ActivationBackward) {
  demand_same(diff_y, diff_x);
  demand(!alpha && !beta, "alpha and beta are not simulated");
  const int64_t mode = activation_desc["mode"];
  const bool by_output = mode == CNNL_ACTIVATION_SIGMOID || mode == CNNL_ACTIVATION_TANH;
  const Tensor& saved = by_output ? y : x;
  demand(bool(saved), by_output ? "y is NULL" : "x is NULL");
  demand_same(saved, diff_x);
  switch (mode) {
    case CNNL_ACTIVATION_SIGMOID:
      return RUN(diopiSigmoidBackward, diff_x, diff_y, y);
    case CNNL_ACTIVATION_TANH:
      return RUN(diopiTanhBackward, diff_x, diff_y, y);
    case CNNL_ACTIVATION_SILU:
      return RUN(diopiSiluBackward, diff_x, diff_y, x);
    case CNNL_ACTIVATION_GELU:
      return RUN(diopiGeluBackward, diff_x, diff_y, x,
                 activation_desc["approximate"] != 0 ? "tanh" : "none");
    default:
      refuse_because("the mode is not simulated");
  }
}
// The gradient where input exceeds the threshold, else 0.
MEANING(ThresholdBackward) {
  demand_same(input, grad_output);
  demand_same(input, grad_input);
  RUN(diopiThresholdBackward, grad_input, grad_output, input, threshold.element(input.dtype()));
}
