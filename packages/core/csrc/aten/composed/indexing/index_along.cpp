// index_copy, index_add and index_reduce, as scatter with the index expanded over the other
// dimensions.
#include <ATen/core/Tensor.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/scatter_reduce.h>

#include <optional>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

// Arguments of the equivalent scatter; 0-dim tensors become vectors.
struct Slices {
  Tensor self, index, source;
  int64_t dim;
};

// Empty if shapes or dtypes do not match: torch's kernels raise the error.
std::optional<Slices> as_scatter(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& source) {
  const int64_t ndim = self.dim() == 0 ? 1 : self.dim();
  const bool alike = plans::on_same_device(self, index) && plans::on_same_device(self, source) &&
                     self.scalar_type() == source.scalar_type() &&
                     // scatter does not support complex half, not even on the CPU
                     self.scalar_type() != at::kComplexHalf;
  if (!alike || !plans::is_index(index) || index.dim() > 1 || dim < -ndim || dim >= ndim)
    return std::nullopt;
  Slices result{self.dim() == 0 ? self.view({1}) : self, index, source, dim < 0 ? dim + ndim : dim};
  if (source.dim() == 0) {
    if (ndim != 1) return std::nullopt;
    result.source = source.view({1});
  }
  if (result.source.dim() != ndim) return std::nullopt;
  DimVector sizes(result.source.sizes().begin(), result.source.sizes().end());
  for (int64_t i = 0; i < ndim; ++i) {
    if (sizes[i] != (i == result.dim ? index.numel() : result.self.size(i))) return std::nullopt;
  }
  DimVector line(ndim, 1);
  line[result.dim] = index.numel();
  result.index = index.reshape(line).expand(sizes);
  return result;
}

// Returns true if both tensors have dimensions or both are 0-dim: only index_copy takes a
// one-element vector as source for a 0-dim tensor.
bool same_rank(const Tensor& self, const Tensor& source) { return self.dim() == source.dim(); }

using AddSignature = Tensor&(Tensor&, int64_t, const Tensor&, const Tensor&, const Scalar&);

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha) {
  std::optional<Slices> slices = as_scatter(self, dim, index, source);
  const bool one = !alpha.isComplex() && alpha.toDouble() == 1;
  const bool scales = c10::isFloatingType(self.scalar_type()) ||
                      (c10::isIntegralType(self.scalar_type(), false) && alpha.isIntegral(true));
  if (!slices || !same_rank(self, source) || !(one || scales)) {
    return on_cpu<"index_add_", AddSignature>(self, dim, index, source, alpha);
  }
  slices->self.scatter_add_(slices->dim, slices->index,
                            one ? slices->source : slices->source.mul(alpha));
  return self;
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return index_add_(result, dim, index, source, alpha);
}

Tensor& index_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                      const Scalar& alpha, Tensor& out) {
  start_out(out, self);
  at::assert_no_overlap(out, index);
  at::assert_no_overlap(out, source);
  return index_add_(out, dim, index, source, alpha);
}

using CopySignature = Tensor&(Tensor&, int64_t, const Tensor&, const Tensor&);

Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  std::optional<Slices> slices = as_scatter(self, dim, index, source);
  if (!slices || index.scalar_type() != at::kLong) {
    return on_cpu<"index_copy_", CopySignature>(self, dim, index, source);
  }
  slices->self.scatter_(slices->dim, slices->index, slices->source);
  return self;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return index_copy_(result, dim, index, source);
}

Tensor& index_copy_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                       Tensor& out) {
  start_out(out, self);
  at::assert_no_overlap(out, index);
  at::assert_no_overlap(out, source);
  return index_copy_(out, dim, index, source);
}

using ReduceSignature = Tensor&(Tensor&, int64_t, const Tensor&, const Tensor&, std::string_view,
                                bool);

Tensor& index_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self) {
  std::optional<Slices> slices = as_scatter(self, dim, index, source);
  const bool known = reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin";
  // Products of wide unsigned integers cannot be scattered.
  const bool fits = slices && self.dim() == source.dim();
  if (!fits || !known || c10::isBarebonesUnsignedType(self.scalar_type())) {
    return on_cpu<"index_reduce_", ReduceSignature>(self, dim, index, source, reduce, include_self);
  }
  slices->self.scatter_reduce_(slices->dim, slices->index, slices->source, reduce, include_self);
  return self;
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return index_reduce_(result, dim, index, source, reduce, include_self);
}

Tensor& index_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                         std::string_view reduce, bool include_self, Tensor& out) {
  start_out(out, self);
  at::assert_no_overlap(out, index);
  at::assert_no_overlap(out, source);
  return index_reduce_(out, dim, index, source, reduce, include_self);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("index_add", index_add);
  DL_COMPOSED("index_add_", index_add_);
  DL_COMPOSED("index_add.out", index_add_out);
  DL_COMPOSED("index_copy", index_copy);
  DL_COMPOSED("index_copy_", index_copy_);
  DL_COMPOSED("index_copy.out", index_copy_out);
  DL_COMPOSED("index_reduce", index_reduce);
  DL_COMPOSED("index_reduce_", index_reduce_);
  DL_COMPOSED("index_reduce.out", index_reduce_out);
}

}  // namespace dl::core::composed
