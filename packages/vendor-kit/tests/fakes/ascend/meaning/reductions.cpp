// Reductions, running sums and norms of vectors.
#include "reductions.h"

#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

// Reduces to true or false one dimension after the other.
void reduce_logical(const Tensor& out, const Tensor& self, const Ints& dim, bool keep, bool all) {
  const Sizes dims = wrapped_dims(self, dim);
  demand_reduced(out, self, dims, keep);
  if (dims.empty()) {
    RUN(diopiNeScalar, out, self, Scalar::of(0));
    return;
  }
  Tensor current = self;
  for (const int64_t each : dims) {
    Sizes sizes = current.sizes();
    sizes[static_cast<size_t>(each)] = 1;
    Tensor next = empty(sizes, diopi_dtype_bool);
    if (all)
      RUN(diopiAll, next, current, Address<int64_t>(each));
    else
      RUN(diopiAny, next, current, Address<int64_t>(each));
    current = next;
  }
  assign(out, current.reshape(out.sizes()));
}

// The position of an extreme; indices of another dtype than int64 are converted.
template <typename F>
void with_indices(const Tensor& indices, F compute) {
  Tensor wide =
      indices.dtype() == diopi_dtype_int64 ? indices : empty(indices.sizes(), diopi_dtype_int64);
  compute(wide);
  if (indices.dtype() != diopi_dtype_int64) assign(indices, wide);
}

}  // namespace

MEANING(All) { reduce_logical(out, self, dim, keepdim, true); }
MEANING(Any) { reduce_logical(out, self, dim, keepdim, false); }
MEANING(ReduceSum) {
  const Sizes list = wrapped_dims(self, dims);
  demand(dtype == out.dtype(), "dtype is not that of out");
  demand_reduced(out, self, list, keepDims);
  RUN(diopiSum, out, self, many_dims(list));
}
MEANING(Mean) {
  const Sizes list = wrapped_dims(self, dim);
  demand(dtype == out.dtype(), "dtype is not that of out");
  demand_reduced(out, self, list, keepDim);
  RUN(diopiMean, out, self, many_dims(list));
}
MEANING(ProdDim) {
  demand(dtype == out.dtype(), "dtype is not that of out");
  demand_reduced(out, self, wrapped_dims(self, one_dim(dim)), keepDim);
  RUN(diopiProd, out, self, Address<int64_t>(dim));
}
// The divisor is the number of elements minus the correction.
MEANING(Std) {
  const Sizes list = wrapped_dims(self, dim);
  demand_reduced(out, self, list, keepdim);
  RUN(diopiStd, out, self, many_dims(list), Scalar::of(correction));
}
MEANING(Max) {
  demand(out.numel() == 1, "out does not have one element");
  RUN(diopiMaxAll, out, self);
}
MEANING(Min) {
  demand(out.numel() == 1, "out does not have one element");
  RUN(diopiMinAll, out, self);
}
MEANING(MaxDim) {
  const Sizes list = wrapped_dims(self, one_dim(dim));
  demand_reduced(out, self, list, keepdim);
  demand_reduced(indices, self, list, keepdim);
  with_indices(indices, [&](const Tensor& wide) { RUN(diopiMax, out, wide, self, dim); });
}
MEANING(MinDim) {
  const Sizes list = wrapped_dims(self, one_dim(dim));
  demand_reduced(out, self, list, keepdim);
  demand_reduced(indices, self, list, keepdim);
  with_indices(indices, [&](const Tensor& wide) { RUN(diopiMin, out, wide, self, dim); });
}
MEANING(Amax) {
  const Sizes list = wrapped_dims(self, dim);
  demand_reduced(out, self, list, keepDim);
  RUN(diopiAmax, out, self, many_dims(list), keepDim);
}
MEANING(ArgMax) {
  demand_reduced(out, self, wrapped_dims(self, one_dim(dim)), keepdim);
  with_indices(out, [&](const Tensor& wide) {
    RUN(diopiArgmax, wide, self, Address<int64_t>(dim), keepdim);
  });
}
MEANING(ArgMin) {
  demand_reduced(out, self, wrapped_dims(self, one_dim(dim)), keepdim);
  with_indices(out, [&](const Tensor& wide) {
    RUN(diopiArgmin, wide, self, Address<int64_t>(dim), keepdim);
  });
}
MEANING(Norm) {
  const Sizes list = wrapped_dims(self, dim);
  demand_reduced(out, self, list, keepdim);
  RUN(diopiNorm, out, self, pScalar, many_dims(list));
}
MEANING(LinalgVectorNorm) {
  const Sizes list = wrapped_dims(self, dims);
  demand(dtype == out.dtype(), "dtype is not that of out");
  demand_reduced(out, self, list, keepDims);
  // The order is read only, although the contract does not declare it const.
  auto* order = const_cast<diopiScalar_t*>(static_cast<const diopiScalar_t*>(ord));
  RUN(diopiLinalgVecNorm, out, self.to(dtype), order, many_dims(list), keepDims);
}
MEANING(Cumsum) {
  demand(dtype == out.dtype(), "dtype is not that of out");
  RUN(diopiCumsum, out, self, dim);
}
// exclusive: without the element itself. reverse: from the last element.
MEANING(CumsumV2) {
  demand(self.dtype() == out.dtype(), "self and out have different dtypes");
  Tensor input = self, sums = empty(out.sizes(), out.dtype());
  if (reverse) {
    input = empty_like(self);
    RUN(diopiFlip, input, self, one_dim(dim));
  }
  RUN(diopiCumsum, sums, input, dim);
  if (exclusive) RUN(diopiSub, sums, sums, input.to(out.dtype()), Scalar::of(1));
  if (reverse)
    RUN(diopiFlip, out, sums, one_dim(dim));
  else
    assign(out, sums);
}
// One element: true if the shapes and all elements are equal.
MEANING(Equal) {
  bool equal = false;
  RUN(diopiEqual, &equal, self, other);
  RUN(diopiFill, out, Scalar::of(equal));
}
MEANING(Cdist) { RUN(diopiCdist, out, x1, x2, p, Address<int64_t>(compute_mode)); }
MEANING(CdistBackward) { RUN(diopiCdistBackward, out, grad, x1, x2, p, cdist); }
