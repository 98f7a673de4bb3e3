// Reductions. The output keeps the reduced dimensions, with size 1.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

Dtype dtype_of(int64_t number) {
  switch (number) {
    case CNNL_DTYPE_HALF:
      return diopi_dtype_float16;
    case CNNL_DTYPE_BFLOAT16:
      return diopi_dtype_bfloat16;
    case CNNL_DTYPE_FLOAT:
      return diopi_dtype_float32;
    case CNNL_DTYPE_INT32:
      return diopi_dtype_int32;
    case CNNL_DTYPE_BOOL:
      return diopi_dtype_bool;
    default:
      return diopi_dtype_unsupported;
  }
}

void reduce_logical(const Tensor& output, const Tensor& input, const Ints& axis, bool all) {
  Tensor current = input;
  for (const int64_t each : axis.values) {
    Sizes sizes = current.sizes();
    sizes.at(static_cast<size_t>(each)) = 1;
    const Tensor next = empty(sizes, diopi_dtype_bool);
    if (all)
      RUN(diopiAll, next, current, Address<int64_t>(each));
    else
      RUN(diopiAny, next, current, Address<int64_t>(each));
    current = next;
  }
  assign(output, current);
}

}  // namespace

MEANING(Reduce) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(reduce_desc["tensor_indices"] == CNNL_REDUCE_NO_INDICES && !indices && indices_size == 0,
         "indices are not simulated");
  demand(dtype_of(reduce_desc["tensor_type"]) == input.dtype(), "tensor_type is not the input's");
  demand(input.dtype() == output.dtype(), "the dtypes differ");
  const Ints axis = reduce_desc.list("axis");
  Sizes sizes = input.sizes();
  for (const int64_t each : axis.values) {
    demand(each >= 0 && each < input.rank(), "an axis is out of range");
    sizes[static_cast<size_t>(each)] = 1;
  }
  demand(sizes == output.sizes(), "the output does not keep the reduced dimensions");
  const int64_t op = reduce_desc["reduce_op"];
  if (op == CNNL_REDUCE_AND || op == CNNL_REDUCE_OR) {
    demand(input.dtype() == diopi_dtype_bool, "the input is not boolean");
    return reduce_logical(output, input, axis, op == CNNL_REDUCE_AND);
  }
  demand(input.dtype() != diopi_dtype_bool, "the input is boolean");
  if (op == CNNL_REDUCE_MAX) return RUN(diopiAmax, output, input, axis, true);
  if (op == CNNL_REDUCE_NORM1 || op == CNNL_REDUCE_NORM2) {
    diopiScalar_t order{};
    order.stype = diopi_dtype_float64;
    order.fval = op == CNNL_REDUCE_NORM1 ? 1 : 2;
    return RUN(diopiLinalgVecNorm, output, input, &order, axis, true);
  }
  if (op == CNNL_REDUCE_AVG) return RUN(diopiMean, output, input, axis);
  demand(op == CNNL_REDUCE_ADD, "reduce_op is not simulated");
  RUN(diopiSum, output, input, axis);
}
// y = sum of x over all dimensions but one.
MEANING(BiasAddBackward_v2) {
  Ints others{true, {}};
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != axis) others.values.push_back(d);
  }
  demand(axis >= 0 && axis < x.rank() && y.numel() == x.size(axis), "y is not one dimension of x");
  RUN(diopiSum, y, x, others);
}
