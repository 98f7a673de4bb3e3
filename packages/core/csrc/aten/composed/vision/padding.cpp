// Gradients of padding: the gradients of padding cells are added to the cells that they repeat, one
// dimension after another.
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/constant_pad_nd_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/sum.h>

#include <algorithm>

#include "aten/composed/vision/padding.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/plans/output_plan.h"

namespace dl::core::composed {
namespace {

enum class Edge { reflect, replicate };

// Adds `count` cells of `grad`, starting at `from`, to the cells of `inside` that they repeat: for
// reflection, the cells next to the edge `at` in reverse order; for replication, the edge cell.
void add_beyond(Tensor& inside, const Tensor& grad, int64_t dim, int64_t from, int64_t count,
                bool front, Edge edge) {
  if (count <= 0) return;
  const Tensor beyond = grad.narrow(dim, from, count);
  const int64_t n = inside.size(dim);
  if (edge == Edge::replicate) {
    inside.narrow(dim, front ? 0 : n - 1, 1).add_(beyond.sum(dim, true));
  } else {
    inside.narrow(dim, front ? 1 : n - 1 - count, count).add_(beyond.flip({dim}));
  }
}

Tensor without_pads(const Tensor& grad, int64_t dim, int64_t size, int64_t before, int64_t after,
                    Edge edge) {
  if (before == 0 && after == 0) return grad;
  if (before < 0 || after < 0) {
    // Cells that negative padding crops get no gradient.
    const int64_t lead = std::max<int64_t>(-before, 0), trail = std::max<int64_t>(-after, 0);
    const int64_t seen = size - lead - trail;
    DimVector sizes(grad.sizes().begin(), grad.sizes().end());
    sizes[dim] = size;
    Tensor result = grad.new_zeros(sizes);
    Tensor inside = result.narrow(dim, lead, seen);
    inside.copy_(grad.narrow(dim, std::max<int64_t>(before, 0), seen));
    // Reflected or replicated cells are counted from the edge of the uncropped input.
    add_beyond(result, grad, dim, 0, before, true, edge);
    add_beyond(result, grad, dim, grad.size(dim) - std::max<int64_t>(after, 0), after, false, edge);
    return result;
  }
  Tensor inside = grad.narrow(dim, before, size).clone(at::MemoryFormat::Contiguous);
  add_beyond(inside, grad, dim, 0, before, true, edge);
  add_beyond(inside, grad, dim, before + size, after, false, edge);
  return inside;
}

Tensor pad_backward(const Tensor& grad, const Tensor& self, at::IntArrayRef padding,
                    int64_t spatial, Edge edge) {
  TORCH_CHECK(static_cast<int64_t>(padding.size()) == 2 * spatial,
              "padding size is expected to be ", 2 * spatial, ", but got: ", padding.size());
  TORCH_CHECK(grad.dim() == self.dim(), "gradOutput has ", grad.dim(), " dimensions, expected ",
              self.dim());
  for (int64_t i = 1; i <= self.dim(); ++i) {
    const bool pads = i <= spatial;
    const int64_t want =
        self.size(-i) + (pads ? padding[2 * (i - 1)] + padding[2 * (i - 1) + 1] : 0);
    TORCH_CHECK(grad.size(-i) == want, "gradOutput has ", grad.size(-i), " elements in dim ",
                self.dim() - i, ", expected ", want);
  }
  // Sums of half-precision values stay in float until they are complete.
  const bool half = c10::isReducedFloatingType(grad.scalar_type());
  Tensor result = half ? grad.to(at::kFloat) : grad;
  for (int64_t i = 1; i <= spatial; ++i) {
    result = without_pads(result, self.dim() - i, self.size(-i), padding[2 * (i - 1)],
                          padding[2 * (i - 1) + 1], edge);
  }
  if (half) result = result.to(grad.scalar_type());
  if (result.is_same(grad)) result = grad.clone();
  return result.contiguous(spatial == 2 ? self.suggest_memory_format()
                                        : at::MemoryFormat::Contiguous);
}

template <int64_t spatial, Edge edge>
Tensor padding_backward(const Tensor& grad, const Tensor& self, at::IntArrayRef padding) {
  return pad_backward(grad, self, padding, spatial, edge);
}

template <int64_t spatial, Edge edge>
Tensor& padding_backward_out(const Tensor& grad, const Tensor& self, at::IntArrayRef padding,
                             Tensor& grad_input) {
  return write_to(grad_input, pad_backward(grad, self, padding, spatial, edge), OutputDtype::same);
}

}  // namespace

at::Tensor composed::ConstantPad::functional(const at::Tensor& self, at::IntArrayRef pad,
                                             const at::Scalar& value) {
  return at::compositeexplicitautograd::constant_pad_nd(self, pad, value);
}

at::Tensor& composed::ConstantPad::out(const at::Tensor& self, at::IntArrayRef pad,
                                       const at::Scalar& value, at::Tensor& out) {
  return at::compositeexplicitautograd::constant_pad_nd_outf(self, pad, value, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("reflection_pad1d_backward", (padding_backward<1, Edge::reflect>));
  DL_COMPOSED("reflection_pad1d_backward.grad_input", (padding_backward_out<1, Edge::reflect>));
  DL_COMPOSED("reflection_pad2d_backward", (padding_backward<2, Edge::reflect>));
  DL_COMPOSED("reflection_pad2d_backward.grad_input", (padding_backward_out<2, Edge::reflect>));
  DL_COMPOSED("reflection_pad3d_backward", (padding_backward<3, Edge::reflect>));
  DL_COMPOSED("reflection_pad3d_backward.grad_input", (padding_backward_out<3, Edge::reflect>));
  DL_COMPOSED("replication_pad1d_backward", (padding_backward<1, Edge::replicate>));
  DL_COMPOSED("replication_pad1d_backward.grad_input", (padding_backward_out<1, Edge::replicate>));
  DL_COMPOSED("replication_pad2d_backward", (padding_backward<2, Edge::replicate>));
  DL_COMPOSED("replication_pad2d_backward.grad_input", (padding_backward_out<2, Edge::replicate>));
  DL_COMPOSED("replication_pad3d_backward", (padding_backward<3, Edge::replicate>));
  DL_COMPOSED("replication_pad3d_backward.grad_input", (padding_backward_out<3, Edge::replicate>));
}

}  // namespace dl::core::composed
