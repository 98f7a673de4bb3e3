// unique with the contract's operator; unique_consecutive by comparison of adjacent elements.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/any.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/sub.h>

#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/layout/strides.h"
#include "aten/plans/checks.h"
#include "calls/call.h"

namespace dl::core::composed {
namespace {

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Site unique_site{"_unique2", {"_unique2", "_unique", "unique_dim"}, {Op::diopiUnique}};

// Returns false if the vendor does not have the operator or declines the call.
bool distinct(const at::Tensor& self, std::optional<int64_t> dim, bool sorted, bool with_inverse,
              bool with_counts, Triple& result) {
  const int device = self.get_device();
  if (unique_site.disabled.load(std::memory_order_relaxed)) return false;
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiUnique);
  if (function == nullptr || !plans::is_real(self)) return false;
  const auto options = self.options().dtype(at::kLong);
  const at::Tensor inverse = !with_inverse ? at::Tensor()
                             : dim         ? at::empty({self.size(*dim)}, options)
                                           : at::empty(self.sizes(), options);
  NativeCall call(unique_site, device);
  diopiTensorHandle_t values = nullptr, counts = nullptr;
  OptionalOutputHandle inverse_handle(inverse);
  if (!call.run("diopiUnique", function, &values, TensorHandle(self).get(), dim ? &*dim : nullptr,
                sorted, with_counts, inverse_handle.get(), with_counts ? &counts : nullptr)) {
    return false;
  }
  const at::Tensor none = at::empty({0}, options);
  result = {call.context().take(values), with_inverse ? inverse : none,
            with_counts ? call.context().take(counts) : none};
  return true;
}

Triple unique2(const at::Tensor& self, bool sorted, bool return_inverse, bool return_counts) {
  Triple result;
  if (distinct(self, std::nullopt, sorted, return_inverse, return_counts, result)) return result;
  return on_cpu<"_unique2", decltype(unique2)>(self, sorted, return_inverse, return_counts);
}

std::tuple<at::Tensor, at::Tensor> unique(const at::Tensor& self, bool sorted,
                                          bool return_inverse) {
  Triple result;
  if (distinct(self, std::nullopt, sorted, return_inverse, false, result))
    return {std::get<0>(result), std::get<1>(result)};
  return on_cpu<"_unique", decltype(unique)>(self, sorted, return_inverse);
}

// Returns a copy in torch's memory order: slices along `dim` are contiguous.
at::Tensor slice_by_slice(const at::Tensor& values, int64_t dim) {
  return arrange(values.movedim(dim, 0)).movedim(0, dim);
}

Triple unique_dim(const at::Tensor& self, int64_t dim, bool sorted, bool return_inverse,
                  bool return_counts) {
  Triple result;
  // Where torch sorts slices with NaN to is an implementation detail of torch.
  const bool ordered = !self.is_floating_point() || !at::any(at::ne(self, self)).item<bool>();
  if (self.dim() > 0 && self.numel() > 0 && ordered) {
    const int64_t along = at::maybe_wrap_dim(dim, self.dim());
    if (distinct(self, along, sorted, return_inverse, return_counts, result)) {
      std::get<0>(result) = slice_by_slice(std::get<0>(result), along);
      return result;
    }
  }
  return on_cpu<"unique_dim", decltype(unique_dim)>(self, dim, sorted, return_inverse,
                                                    return_counts);
}

// Inverse indices and counts, from the starts of runs among n elements. NaN differs from itself.
Triple runs(const at::Tensor& starts, int64_t n, at::Tensor values, const at::Tensor& first,
            bool return_inverse, bool return_counts) {
  const auto options = starts.options().dtype(at::kLong);
  at::Tensor inverse = at::empty({0}, options), counts = at::empty({0}, options);
  if (return_inverse) inverse = at::sub(at::cumsum(starts, 0), 1);
  if (return_counts) {
    const at::Tensor ends =
        at::cat({first.narrow(0, 1, first.size(0) - 1), at::full({1}, n, options)});
    counts = at::sub(ends, first);
  }
  return {std::move(values), inverse, counts};
}

Triple unique_dim_consecutive(const at::Tensor& self, int64_t dim, bool return_inverse,
                              bool return_counts) {
  if (self.dim() == 0 || self.numel() == 0 || !plans::is_real(self)) {
    return on_cpu<"unique_dim_consecutive", decltype(unique_dim_consecutive)>(
        self, dim, return_inverse, return_counts);
  }
  const int64_t along = at::maybe_wrap_dim(dim, self.dim()), n = self.size(along);
  at::Tensor differs = at::ne(self.narrow(along, 1, n - 1), self.narrow(along, 0, n - 1));
  if (self.dim() > 1) differs = at::any(differs.movedim(along, 0).flatten(1), 1);
  const at::Tensor starts = at::cat({at::full({1}, true, differs.options()), differs});
  const at::Tensor first = at::nonzero(starts).view({-1});
  return runs(starts, n, slice_by_slice(at::index_select(self, along, first), along), first,
              return_inverse, return_counts);
}

Triple unique_consecutive(const at::Tensor& self, bool return_inverse, bool return_counts,
                          std::optional<int64_t> dim) {
  if (self.numel() == 0 || !plans::is_real(self) || (dim && self.dim() == 0)) {
    return on_cpu<"unique_consecutive", decltype(unique_consecutive)>(self, return_inverse,
                                                                      return_counts, dim);
  }
  if (dim) return composed::unique_dim_consecutive(self, *dim, return_inverse, return_counts);
  Triple result =
      composed::unique_dim_consecutive(self.reshape({-1}), 0, return_inverse, return_counts);
  if (return_inverse) std::get<1>(result) = std::get<1>(result).view(self.sizes());
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_unique2", unique2);
  DL_COMPOSED("_unique", unique);
  DL_COMPOSED("unique_dim", unique_dim);
  DL_COMPOSED("unique_consecutive", unique_consecutive);
  DL_COMPOSED("unique_dim_consecutive", unique_dim_consecutive);
}

}  // namespace dl::core::composed
