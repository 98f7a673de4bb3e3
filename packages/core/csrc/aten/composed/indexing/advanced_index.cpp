// Advanced indexing, index and index_put: x[i, :, j] with tensors i and j.
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/outputs.h"
#include "aten/layout/strides.h"
#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::composed {
namespace {

using IndexList = c10::List<std::optional<at::Tensor>>;

// Byte masks are deprecated; torch's own kernel warns about them.
bool is_mask(const at::Tensor& index) { return index.scalar_type() == at::kBool; }

// Returns true if the shape of the mask matches the dimensions of `self` from `dim` on.
bool covers(const at::Tensor& mask, const at::Tensor& self, int64_t dim) {
  if (mask.dim() == 0 || dim + mask.dim() > self.dim()) return false;
  return mask.sizes() == self.sizes().slice(dim, mask.dim());
}

// Fills `given` with the indices, moved to the device of `self`, and sets `dims` to the number of
// dimensions that they index. Returns false for calls that the contract does not cover, and for
// invalid ones, for which torch's kernels raise the error.
bool prepare(const at::Tensor& self, const IndexList& indices, std::vector<at::Tensor>& given,
             int64_t& dims) {
  int64_t dim = 0, skipped = 0, rank = 0;
  bool any = false;
  DimVector shape;
  for (const std::optional<at::Tensor>& entry : indices) {
    if (!entry || !entry->defined()) {
      given.emplace_back();
      ++dim;
      ++skipped;
      continue;
    }
    any = true;
    const at::Tensor index =
        entry->device() == self.device() || !entry->is_cpu() ? *entry : entry->to(self.device());
    if (index.device() != self.device()) return false;
    if (is_mask(index)) {
      if (!covers(index, self, dim)) return false;
      dim += index.dim();
      rank = std::max<int64_t>(rank, 1);
    } else {
      if (!plans::is_index(index) || ++dim > self.dim()) return false;
      rank = std::max(rank, index.dim());
      while (shape.size() < static_cast<size_t>(index.dim())) shape.insert(shape.begin(), 1);
      for (int64_t i = 1; i <= index.dim(); ++i) {
        int64_t& size = shape[shape.size() - static_cast<size_t>(i)];
        if (size != 1 && index.size(-i) != 1 && size != index.size(-i)) return false;
        if (size == 1) size = index.size(-i);
      }
    }
    given.push_back(index);
  }
  dims = self.dim() - (dim - skipped) + rank;
  return any && dim <= self.dim();
}

bool is_supported(const at::Tensor& self) {
  return self.device().type() == kDeviceType &&
         to_diopi(self.scalar_type()) != diopi_dtype_unsupported;
}

Site index_site{"index.Tensor", {"index.Tensor"}, {Op::diopiIndex}};

bool index_natively(const at::Tensor& self, const IndexList& indices, at::Tensor& result) {
  if (!is_supported(self) || index_site.disabled.load(std::memory_order_relaxed)) return false;
  const int device = self.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiIndex);
  std::vector<at::Tensor> given;
  int64_t dims = 0;
  if (function == nullptr || !prepare(self, indices, given, dims)) return false;
  NativeCall call(index_site, device);
  const HandleList handles(given);
  diopiTensorHandle_t required = nullptr;
  if (!call.run("diopiIndex", function, &required, TensorHandle(self).get(), handles.data(),
                handles.size()))
    return false;
  result = arrange_as_indexed(call.context().take(required), self, given);
  return true;
}

at::Tensor index_tensor(const at::Tensor& self, const IndexList& indices) {
  at::Tensor result;
  if (index_natively(self, indices, result)) return result;
  return on_cpu<"index.Tensor", at::Tensor(const at::Tensor&, const IndexList&)>(self, indices);
}

at::Tensor& index_out(const at::Tensor& self, const IndexList& indices, at::Tensor& out) {
  check_out(out, self, self.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  return write_to(out, index_tensor(self, indices), OutputDtype::same);
}

Site put_site{"_index_put_impl_", {"_index_put_impl_"}, {Op::diopiIndexPutInp}};

bool put_natively(at::Tensor& self, const IndexList& indices, const at::Tensor& values,
                  bool accumulate) {
  if (!is_supported(self) || put_site.disabled.load(std::memory_order_relaxed)) return false;
  const int device = self.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiIndexPutInp);
  if (function == nullptr || values.scalar_type() != self.scalar_type()) return false;
  const bool number = values.is_cpu() && values.dim() == 0;
  if ((!number && values.device() != self.device()) || self.is_alias_of(values)) return false;
  OutputPlan plan;
  std::vector<at::Tensor> given;
  int64_t dims = 0;
  if (!plans::in_place(plan, self) || !prepare(self, indices, given, dims)) return false;
  if (values.dim() > dims) return false;
  for (const at::Tensor& index : given) {
    if (index.defined() && self.is_alias_of(index)) return false;
  }
  const at::Tensor source = number ? values.to(self.device()) : values;
  NativeCall call(put_site, device);
  OutputHandle target(self);
  const HandleList handles(given);
  return call.run("diopiIndexPutInp", function, target.get(), TensorHandle(source).get(),
                  handles.data(), handles.size(), accumulate);
}

at::Tensor& index_put(at::Tensor& self, const IndexList& indices, const at::Tensor& values,
                      bool accumulate, bool unsafe) {
  if (put_natively(self, indices, values, accumulate)) return self;
  return on_cpu<"_index_put_impl_",
                at::Tensor&(at::Tensor&, const IndexList&, const at::Tensor&, bool, bool)>(
      self, indices, values, accumulate, unsafe);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("index.Tensor", index_tensor);
  DL_KERNEL("_index_put_impl_", index_put);
  DL_COMPOSED("index.Tensor_out", index_out);
}

}  // namespace dl::core::composed
