// Max unpooling: writes values to the positions that max pooling took them from.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/zeros.h>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/resize_output.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

// Returns undefined if torch raises an error; the scatter rejects indices that are out of range.
at::Tensor unpool(const at::Tensor& self, const at::Tensor& indices, at::IntArrayRef output_size,
                  int64_t spatial) {
  if (!plans::alike(self) || !plans::on_same_device(self, indices)) return {};
  if (indices.scalar_type() != at::kLong || indices.sizes() != self.sizes()) return {};
  if (self.dim() != spatial + 1 && self.dim() != spatial + 2) return {};
  if (static_cast<int64_t>(output_size.size()) != spatial) return {};
  for (int64_t d = self.dim() - spatial - 1; d < self.dim(); ++d) {
    if (self.size(d) == 0) return {};
  }
  std::vector<int64_t> shape(self.sizes().begin(), self.sizes().end() - spatial);
  for (const int64_t size : output_size) {
    if (size < 1) return {};
    shape.push_back(size);
  }
  // On every device, the result is nondeterministic if two maxima have the same index.
  at::globalContext().alertNotDeterministic(c10::str("max_unpooling", spatial, "d_forward_out"));
  const at::Tensor flat = at::zeros(shape, self.options()).flatten(-spatial);
  return at::scatter(flat, -1, indices.flatten(-spatial), self.flatten(-spatial)).view(shape);
}

at::Tensor& unpool_into(at::Tensor& out, const at::Tensor& made) {
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

bool takes(const at::Tensor& out, const at::Tensor& self) { return plans::alike(self, out); }

at::Tensor max_unpool2d(const at::Tensor& self, const at::Tensor& indices,
                        at::IntArrayRef output_size) {
  if (at::Tensor made = unpool(self, indices, output_size, 2); made.defined()) {
    return made.contiguous(self.suggest_memory_format());
  }
  return on_cpu<"max_unpool2d", at::Tensor(const at::Tensor&, const at::Tensor&, at::IntArrayRef)>(
      self, indices, output_size);
}

at::Tensor& max_unpool2d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::Tensor& out) {
  if (takes(out, self)) {
    if (const at::Tensor made = unpool(self, indices, output_size, 2); made.defined())
      return unpool_into(out, made);
  }
  return on_cpu<"max_unpool2d.out",
                at::Tensor&(const at::Tensor&, const at::Tensor&, at::IntArrayRef, at::Tensor&)>(
      self, indices, output_size, out);
}

bool positive(at::IntArrayRef stride, at::IntArrayRef padding) {
  return stride.size() == 3 && padding.size() == 3 &&
         std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s > 0; });
}

at::Tensor max_unpool3d(const at::Tensor& self, const at::Tensor& indices,
                        at::IntArrayRef output_size, at::IntArrayRef stride,
                        at::IntArrayRef padding) {
  if (positive(stride, padding)) {
    if (at::Tensor made = unpool(self, indices, output_size, 3); made.defined()) return made;
  }
  return on_cpu<"max_unpool3d", at::Tensor(const at::Tensor&, const at::Tensor&, at::IntArrayRef,
                                           at::IntArrayRef, at::IntArrayRef)>(
      self, indices, output_size, stride, padding);
}

at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices,
                             at::IntArrayRef output_size, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::Tensor& out) {
  if (positive(stride, padding) && takes(out, self)) {
    if (const at::Tensor made = unpool(self, indices, output_size, 3); made.defined())
      return unpool_into(out, made);
  }
  return on_cpu<"max_unpool3d.out",
                at::Tensor&(const at::Tensor&, const at::Tensor&, at::IntArrayRef, at::IntArrayRef,
                            at::IntArrayRef, at::Tensor&)>(self, indices, output_size, stride,
                                                           padding, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("max_unpool2d", max_unpool2d);
  DL_COMPOSED("max_unpool2d.out", max_unpool2d_out);
  DL_COMPOSED("max_unpool3d", max_unpool3d);
  DL_COMPOSED("max_unpool3d.out", max_unpool3d_out);
}

}  // namespace dl::core::composed
