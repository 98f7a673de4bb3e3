// Forms of the operators whose results have as many elements as the data says, and the positions of
// triangles.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>

#include "aten/composed.h"
#include "aten/composed/composed_tools.h"

namespace dl::core {
namespace {

at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kLong,
              "nonzero: Expected out tensor to have scalar type Long but got ", out.scalar_type());
  return write_to(out, at::nonzero(self), "nonzero");
}

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "masked_select: self and out must have the same dtype; they have ",
              self.scalar_type(), " and ", out.scalar_type(), ".");
  return write_to(out, at::masked_select(self, mask), "masked_select");
}

// The first `size` positions, and rows of `fill_value` where there are fewer.
at::Tensor nonzero_static(const at::Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: size is ", size, "; it must not be negative.");
  const at::Tensor all = at::nonzero(self);
  if (all.size(0) >= size) return all.narrow(0, 0, size).clone();
  const at::Tensor rest = at::full({size - all.size(0), all.size(1)}, fill_value, all.options());
  return at::cat({all, rest}, 0);
}

at::Tensor& nonzero_static_out(const at::Tensor& self, int64_t size, int64_t fill_value,
                               at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kLong,
              "nonzero_static: Expected out tensor to have scalar type Long but got ",
              out.scalar_type());
  return write_to(out, core::nonzero_static(self, size, fill_value), "nonzero_static");
}

using Layout = std::optional<at::Layout>;
using Device = std::optional<at::Device>;
using Type = std::optional<at::ScalarType>;

// The positions where a triangle of ones has its ones, as two rows.
template <typename Triangle>
at::Tensor positions(int64_t row, int64_t col, Type dtype, Layout layout, Device device,
                     const char* name, const Triangle& triangle) {
  TORCH_CHECK(row >= 0 && col >= 0, name, ": row and col must be non-negative, got ", row, " and ",
              col, ".");
  TORCH_CHECK(!layout || *layout == at::kStrided, name, ": only the strided layout is supported.");
  const auto options = at::TensorOptions().device(device).dtype(at::kBool);
  return at::nonzero(triangle(at::ones({row, col}, options)))
      .t()
      .contiguous()
      .to(dtype.value_or(at::kLong));
}

at::Tensor tril_indices(int64_t row, int64_t col, int64_t offset, Type dtype, Layout layout,
                        Device device, std::optional<bool>) {
  return positions(row, col, dtype, layout, device, "tril_indices",
                   [=](const at::Tensor& ones) { return at::tril(ones, offset); });
}

at::Tensor triu_indices(int64_t row, int64_t col, int64_t offset, Type dtype, Layout layout,
                        Device device, std::optional<bool>) {
  return positions(row, col, dtype, layout, device, "triu_indices",
                   [=](const at::Tensor& ones) { return at::triu(ones, offset); });
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("nonzero.out", nonzero_out);
  DL_COMPOSED("masked_select.out", masked_select_out);
  DL_COMPOSED("nonzero_static", nonzero_static);
  DL_COMPOSED("nonzero_static.out", nonzero_static_out);
  DL_COMPOSED("tril_indices", tril_indices);
  DL_COMPOSED("triu_indices", triu_indices);
}

}  // namespace dl::core
