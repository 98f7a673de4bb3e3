// Comparisons, conditions, bits and triangles.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

void demand_dtypes(const Tensor& output, const std::vector<Tensor>& inputs) {
  for (const Tensor& each : inputs) demand(each.dtype() == output.dtype(), "the dtypes differ");
}

}  // namespace

MEANING(LogicOp) {
  demand(broadcast(a.sizes(), b.sizes()) == c.sizes(), "the shapes do not broadcast to the output");
  demand(a.dtype() == b.dtype(), "the dtypes differ");
  switch (logic_op) {
    case CNNL_LOGIC_OP_EQ:
      return RUN(diopiEq, c, a, b);
    case CNNL_LOGIC_OP_NE:
      return RUN(diopiNe, c, a, b);
    case CNNL_LOGIC_OP_LT:
      return RUN(diopiLt, c, a, b);
    case CNNL_LOGIC_OP_LE:
      return RUN(diopiLe, c, a, b);
    case CNNL_LOGIC_OP_GT:
      return RUN(diopiGt, c, a, b);
    case CNNL_LOGIC_OP_GE:
      return RUN(diopiGe, c, a, b);
    case CNNL_LOGIC_OP_AND:
      return RUN(diopiLogicalAnd, c, a, b);
    case CNNL_LOGIC_OP_OR:
      return RUN(diopiLogicalOr, c, a, b);
    case CNNL_LOGIC_OP_NOT:
      return RUN(diopiLogicalNot, c, a);
    default:
      refuse_because("logic_op is not an operation");
  }
}
MEANING(SelectV2) {
  demand(broadcast(broadcast(condition.sizes(), then.sizes()), otherwise.sizes()) == output.sizes(),
         "the shapes do not broadcast to the output");
  demand(then.dtype() == otherwise.dtype() && then.dtype() == output.dtype(), "the dtypes differ");
  RUN(diopiWhere, output, condition, then, otherwise);
}
// The elements of input, and the number where the mask is true.
MEANING(Masked_v4) {
  demand(masked_mode == CNNL_MASKED_FILL_HOST, "only filling by the host is simulated");
  demand(!value && bool(scale), "the number is in scale, and value is NULL");
  demand(input.sizes() == output.sizes() && mask.sizes() == input.sizes(), "the shapes differ");
  RUN(diopiMaskedFillScalar, output, input, mask, scale.element(input.dtype()));
}
MEANING(BitCompute_v2) {
  demand(input1.dtype() == output.dtype(), "the dtypes differ");
  if (optype == CNNL_BNOT_OP) {
    demand(input1.sizes() == output.sizes(), "the shapes differ");
    return RUN(diopiBitwiseNot, output, input1);
  }
  demand(bool(input2) && input2.dtype() == output.dtype(), "input2 is NULL, or has another dtype");
  demand(broadcast(input1.sizes(), input2.sizes()) == output.sizes(),
         "the shapes do not broadcast to the output");
  if (optype == CNNL_CYCLE_BAND_OP) return RUN(diopiBitwiseAnd, output, input1, input2);
  demand(optype == CNNL_CYCLE_BOR_OP, "optype is not simulated");
  RUN(diopiBitwiseOr, output, input1, input2);
}
MEANING(Tri) {
  demand(input.sizes() == output.sizes() && input.dtype() == output.dtype(),
         "shapes or dtypes differ");
  demand(input.rank() >= 2, "not matrices");
  if (tri_up_mode)
    RUN(diopiTriu, output, input, diagonal);
  else
    RUN(diopiTril, output, input, diagonal);
}
// output[i] = start + i * step.
MEANING(Arange_v2) {
  demand(prefer == CNNL_COMPUTATION_ULTRAHIGH_PRECISION, "prefer is not simulated");
  const Scalar first = start.factor(output.dtype()), apart = step.factor(output.dtype());
  const double end = first.real() + apart.real() * static_cast<double>(output.numel());
  RUN(diopiArange, output, first, Scalar(end - apart.real() / 2), apart);
}
// output = a + alpha * b * c, and a + alpha * b / c.
MEANING(Addcmul) {
  demand_dtypes(output, {a, b, c});
  RUN(diopiAddcmul, output, a, b, c, alpha.factor(output.dtype()));
}
MEANING(Addcdiv) {
  demand_dtypes(output, {a, b, c});
  RUN(diopiAddcdiv, output, a, b, c, alpha.factor(output.dtype()));
}
// d = a + w * (b - a).
MEANING(Lerp) {
  demand(broadcast(broadcast(a.sizes(), b.sizes()), w.sizes()) == d.sizes(),
         "the shapes do not broadcast to the output");
  demand_dtypes(d, {a, b, w});
  RUN(diopiLerpTensor, d, a, b, w.expand(d.sizes()));
}
MEANING(Cumsum_v2) {
  demand(!exclusive && !reverse, "exclusive and reverse are not simulated");
  demand(axis >= 0 && axis < input.rank(), "axis is out of range");
  demand(input.sizes() == output.sizes() && input.dtype() == output.dtype(),
         "shapes or dtypes differ");
  RUN(diopiCumsum, output, input, axis);
}
