// flip, narrow_copy, and the indices of triangular parts.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>

#include <optional>

#include "aten/composed.h"
#include "aten/composed/outputs.h"
#include "aten/wrapper.h"

namespace dl::core {
namespace {

using at::Tensor;

Site flip_site{"flip", {"flip"}, {Op::diopiFlip}};

bool flip_natively(const Tensor& self, at::IntArrayRef dims, Tensor& result) {
  if (self.device().type() != kDeviceType || flip_site.disabled.load(std::memory_order_relaxed))
    return false;
  if (to_diopi(self.scalar_type()) == diopi_dtype_unsupported) return false;
  DimVector wrapped;
  for (const int64_t dim : dims) {
    const int64_t count = self.dim() == 0 ? 1 : self.dim();
    if (dim < -count || dim >= count) return false;
    wrapped.push_back(dim < 0 ? dim + count : dim);
    for (size_t i = 0; i + 1 < wrapped.size(); ++i) {
      if (wrapped[i] == wrapped.back()) return false;
    }
  }
  const int device = self.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiFlip);
  if (function == nullptr) return false;
  // As torch: the strides of a dense input are kept.
  result = at::empty_like(self);
  NativeCall call(flip_site, device);
  OutputHandle out(result);
  return call.run("diopiFlip", function, out.get(), TensorHandle(self).get(), to_size(wrapped));
}

Tensor flip(const Tensor& self, at::IntArrayRef dims) {
  Tensor result;
  if (flip_natively(self, dims, result)) return result;
  static const auto op = find_operator("aten::flip", "");
  return TypedFallback<Tensor(const Tensor&, at::IntArrayRef)>::call(op, self, dims);
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length).clone(at::MemoryFormat::Contiguous);
}
Tensor& narrow_copy_out(const Tensor& self, int64_t dim, int64_t start, int64_t length,
                        Tensor& out) {
  return finish_out(out, self.narrow(dim, start, length));
}

// Row and column numbers of the elements of a triangle, row by row.
Tensor triangle_indices(int64_t row, int64_t col, int64_t offset,
                        std::optional<at::ScalarType> dtype, std::optional<at::Device> device,
                        bool upper) {
  TORCH_CHECK(row >= 0, "row must be non-negative, got", row);
  TORCH_CHECK(col >= 0, "col must be non-negative, got", col);
  const at::ScalarType type = dtype.value_or(at::kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(type == at::kLong || type == at::kInt, upper ? "\"triu" : "\"tril",
                              "_indices\" not implemented for '", type, "'");
  const auto options = at::TensorOptions().device(device).dtype(at::kBool);
  const Tensor mask = at::ones({row, col}, options);
  const Tensor places = (upper ? mask.triu(offset) : mask.tril(offset)).nonzero();
  return places.t().contiguous().to(type);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout>, std::optional<at::Device> device,
                    std::optional<bool>) {
  return triangle_indices(row, col, offset, dtype, device, false);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout>, std::optional<at::Device> device,
                    std::optional<bool>) {
  return triangle_indices(row, col, offset, dtype, device, true);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("flip", flip);
  DL_COMPOSED("narrow_copy", narrow_copy);
  DL_COMPOSED("narrow_copy.out", narrow_copy_out);
  DL_COMPOSED("tril_indices", tril_indices);
  DL_COMPOSED("triu_indices", triu_indices);
}

}  // namespace dl::core
