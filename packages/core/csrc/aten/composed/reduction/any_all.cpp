// any and all over lists of dimensions.
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/all.h>
#include <ATen/ops/any.h>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

// Reduces the dimensions one by one, starting with the last, so that the indices of the earlier
// dimensions remain valid.
template <typename Along>
at::Tensor over_dims(const at::Tensor& self, at::IntArrayRef dims, bool keepdim,
                     const Along& along) {
  const auto reduced = at::dim_list_to_bitset(dims, self.dim());
  at::Tensor result = self;
  for (int64_t i = self.dim() - 1; i >= 0; --i) {
    if (reduced[i]) result = along(result, i, keepdim);
  }
  // An empty list of dimensions converts each element.
  return result.is_same(self) ? self.to(self.scalar_type() == at::kByte ? at::kByte : at::kBool,
                                        /*non_blocking=*/false, /*copy=*/true)
                              : result;
}

template <typename Along, typename Whole>
at::Tensor any_all(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                   const Along& along, const Whole& whole) {
  if (dims && self.dim() > 0) return over_dims(self, *dims, keepdim, along);
  if (dims) at::dim_list_to_bitset(*dims, 0);  // checks `dims`
  const at::Tensor result = whole(self);
  return keepdim ? result.view(std::vector<int64_t>(self.dim(), 1)) : result;
}

at::Tensor any_dims(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim) {
  return any_all(
      self, dims, keepdim,
      [](const at::Tensor& x, int64_t dim, bool keep) { return at::any(x, dim, keep); },
      [](const at::Tensor& x) { return at::any(x); });
}

at::Tensor all_dims(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim) {
  return any_all(
      self, dims, keepdim,
      [](const at::Tensor& x, int64_t dim, bool keep) { return at::all(x, dim, keep); },
      [](const at::Tensor& x) { return at::all(x); });
}

void check_bool_output(const char* name, const at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kBool || out.scalar_type() == at::kByte, name,
              " only supports bool tensor for result, got: ", out.scalar_type());
}

at::Tensor& any_dims_out(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                         at::Tensor& out) {
  check_bool_output("any", out);
  return write_to(out, any_dims(self, dims, keepdim));
}

at::Tensor& all_dims_out(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                         at::Tensor& out) {
  check_bool_output("all", out);
  return write_to(out, all_dims(self, dims, keepdim));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("any.dims", any_dims);
  DL_COMPOSED("any.dims_out", any_dims_out);
  DL_COMPOSED("all.dims", all_dims);
  DL_COMPOSED("all.dims_out", all_dims_out);
}

}  // namespace dl::core::composed
