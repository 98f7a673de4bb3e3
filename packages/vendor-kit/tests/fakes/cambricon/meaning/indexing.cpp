// Positions: embeddings, selections, lists and losses of classes.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

Tensor wide(const Tensor& indices) { return indices.to(diopi_dtype_int64); }

}  // namespace

// Rows of filter; rows for padding_idx are zero, unless padding_idx is negative.
MEANING(EmbeddingForward_v2) {
  demand(padding_idx < 0, "padding is not simulated");
  demand(!max_norm && !norm_type, "norms are not simulated");
  demand(filter.rank() == 2, "filter is not a matrix");
  RUN(diopiEmbedding, output, filter, wide(indices), -1, false, false);
}
MEANING(EmbeddingBackward) {
  RUN(diopiEmbeddingBackward, output, diff, wide(indices), output.size(0), padding_idx,
      scale_grad_by_freq, false);
}
MEANING(IndexSelect) {
  demand(dim >= 0 && input.dtype() == output.dtype(), "dim is negative, or the dtypes differ");
  RUN(diopiIndexSelect, output, input, dim, wide(index));
}
MEANING(Gather_v2) {
  demand(dim >= 0 && input.dtype() == output.dtype(), "dim is negative, or the dtypes differ");
  RUN(diopiGather, output, input, dim, wide(index));
}
// input, to which the elements of src are added at the positions of index.
MEANING(Scatter_v2) {
  demand(dim >= 0 && mode == CNNL_SCATTER_ADD, "dim is negative, or the mode is not simulated");
  demand(input.dtype() == output.dtype() && src.dtype() == output.dtype(), "the dtypes differ");
  demand(input.sizes() == output.sizes() && index.sizes() == src.sizes(), "the shapes differ");
  RUN(diopiScatter, output, input, dim, src, wide(index), "add");
}
MEANING(Concat) {
  demand(inputs.size() == concat_num && axis >= 0, "axis is negative");
  for (const Tensor& each : inputs.values)
    demand(each.dtype() == output.dtype(), "the dtypes differ");
  Handles handles(inputs.values);
  RUN(diopiCat, output, handles, concat_num, axis);
}
// The largest or smallest elements along a dimension, and their positions; of equal elements, the
// first one if lower_index_first.
MEANING(TopKTensor_v3) {
  demand(dim >= 0 && lower_index_first, "dim is negative, or the order of equals is not simulated");
  const Tensor places = empty(index.sizes(), diopi_dtype_int64);
  RUN(diopiTopk, output, places, input, k, dim, largest, sorted);
  assign(index, places);
}

namespace {

diopiReduction_t reduction_of(int64_t mode) {
  switch (mode) {
    case CNNL_REDUCTION_NONE:
      return ReductionNone;
    case CNNL_REDUCTION_MEAN:
      return ReductionMean;
    case CNNL_REDUCTION_SUM:
      return ReductionSum;
    default:
      refuse_because("reduction is not a reduction");
  }
}
// A result of one element as a tensor without dimensions.
Tensor as_scalar(const Tensor& x) { return x.view({}, {}); }

}  // namespace

// tf is the sum of the weights.
MEANING(NlllossForward_v2) {
  demand(x.rank() == 2 && t.rank() == 1, "x is not a matrix, or t not a list");
  const diopiReduction_t mode = reduction_of(reduction);
  demand(y.numel() == (mode == ReductionNone ? x.size(0) : 1), "y has another shape");
  RUN(diopiNLLLossV2, mode == ReductionNone ? y : as_scalar(y), as_scalar(tf), x, wide(t), filter,
      mode, ignore_index);
}
MEANING(NlllossBackward_v2) {
  demand(diff_x.rank() == 2 && t.rank() == 1, "diff_x is not a matrix, or t not a list");
  const diopiReduction_t mode = reduction_of(reduction);
  demand(diff_y.numel() == (mode == ReductionNone ? diff_x.size(0) : 1),
         "diff_y has another shape");
  RUN(diopiNLLLossV2Backward, diff_x, mode == ReductionNone ? diff_y : as_scalar(diff_y),
      empty_like(diff_x), wide(t), filter, as_scalar(tf), mode, ignore_index);
}
