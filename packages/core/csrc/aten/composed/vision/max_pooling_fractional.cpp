// Fractional max pooling: gathers the cells of all randomly placed windows and compares them.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gather.h>

#include <tuple>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/resize_output.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;

// Start of each window on one axis, [N, C, output]. Source: Graham, Fractional Max-Pooling (2014);
// computed in the dtype of the samples, as in torch.
at::Tensor starts(const at::Tensor& samples, int64_t input, int64_t output, int64_t kernel) {
  const auto shape = [&](int64_t n) {
    return std::vector<int64_t>{samples.size(0), samples.size(1), n};
  };
  const at::Tensor last = at::full(shape(1), input - kernel, samples.options().dtype(at::kLong));
  if (output == 1) return last;
  const double exact = static_cast<double>(input - kernel) / static_cast<double>(output - 1);
  const double alpha =
      samples.scalar_type() == at::kFloat ? static_cast<double>(static_cast<float>(exact)) : exact;
  const at::Tensor sample = samples.unsqueeze(-1);
  const at::Tensor places = at::arange(output - 1, at::kLong).to(samples.device());
  const at::Tensor begins = ((places.to(samples.scalar_type()) + sample) * alpha).to(at::kLong) -
                            (sample * alpha).to(at::kLong);
  return at::cat({begins, last}, -1);
}

// Returns undefined tensors if torch raises an error, or would round differently in this dtype.
Pair pool(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef output,
          const at::Tensor& samples, int64_t spatial) {
  const bool batched = self.dim() == spatial + 2;
  if (!plans::alike(self, samples) || (!batched && self.dim() != spatial + 1)) return {};
  if (self.scalar_type() != at::kFloat && self.scalar_type() != at::kDouble) return {};
  if (static_cast<int64_t>(kernel.size()) != spatial || kernel.size() != output.size()) return {};
  const at::Tensor input = batched ? self : self.unsqueeze(0);
  if (input.numel() == 0 || samples.dim() != 3 || samples.size(0) < input.size(0) ||
      samples.size(1) < input.size(1) || samples.size(2) != spatial)
    return {};
  std::vector<int64_t> shape = {input.size(0), input.size(1)};
  at::Tensor cells;  // [N, C, outputs, cells of a window], row-major within the plane
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t size = input.size(2 + i);
    // torch requires volumes to be larger than all windows together; for planes, equal size
    // suffices.
    const int64_t room = spatial == 3 ? size - 1 : size;
    if (output[i] < 1 || kernel[i] < 1 || output[i] + kernel[i] - 1 > room) return {};
    // The first sample belongs to the last axis for planes, but to the first axis for volumes.
    const int64_t at = spatial == 2 ? 1 - i : i;
    const at::Tensor begins =
        starts(samples.narrow(0, 0, shape[0]).narrow(1, 0, shape[1]).select(2, at), size, output[i],
               kernel[i]);
    const at::Tensor axis =
        begins.unsqueeze(-1) + at::arange(kernel[i], at::kLong).to(self.device());
    shape.push_back(output[i]);
    if (!cells.defined()) {
      cells = axis;
      continue;
    }
    // [N, C, o, 1, k, 1] and [N, C, 1, o, 1, k]
    cells = (cells.unsqueeze(3).unsqueeze(5) * size + axis.unsqueeze(2).unsqueeze(4))
                .flatten(4, 5)
                .flatten(2, 3);
  }
  const at::Tensor values = at::gather(input.flatten(2), 2, cells.flatten(2)).view(cells.sizes());
  const at::Tensor best = at::argmax(values, -1, true);
  at::Tensor out = at::gather(values, -1, best).view(shape);
  at::Tensor indices = at::gather(cells, -1, best).view(shape);
  if (batched) return {out, indices};
  return {out.squeeze(0), indices.squeeze(0)};
}

template <int64_t Spatial>
Pair functional(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef output,
                const at::Tensor& samples) {
  Pair made = pool(self, kernel, output, samples, Spatial);
  if (std::get<0>(made).defined()) return made;
  using Signature = Pair(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, const at::Tensor&);
  return on_cpu<(Spatial == 2 ? Text("fractional_max_pool2d") : Text("fractional_max_pool3d")),
                Signature>(self, kernel, output, samples);
}

template <int64_t Spatial>
std::tuple<at::Tensor&, at::Tensor&> into(const at::Tensor& self, at::IntArrayRef kernel,
                                          at::IntArrayRef output, const at::Tensor& samples,
                                          at::Tensor& out, at::Tensor& indices) {
  if (plans::alike(self, out) && plans::on_same_device(self, indices) &&
      indices.scalar_type() == at::kLong) {
    const auto [values, places] = pool(self, kernel, output, samples, Spatial);
    if (values.defined()) {
      at::native::resize_output(out, values.sizes());
      at::native::resize_output(indices, places.sizes());
      out.copy_(values);
      indices.copy_(places);
      return {out, indices};
    }
  }
  using Signature =
      std::tuple<at::Tensor&, at::Tensor&>(const at::Tensor&, at::IntArrayRef, at::IntArrayRef,
                                           const at::Tensor&, at::Tensor&, at::Tensor&);
  return on_cpu<(Spatial == 2 ? Text("fractional_max_pool2d.output")
                              : Text("fractional_max_pool3d.output")),
                Signature>(self, kernel, output, samples, out, indices);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("fractional_max_pool2d", functional<2>);
  DL_COMPOSED("fractional_max_pool2d.output", into<2>);
  DL_COMPOSED("fractional_max_pool3d", functional<3>);
  DL_COMPOSED("fractional_max_pool3d.output", into<3>);
}

}  // namespace dl::core::composed
