// out= forms of pooling operators that have no functional overload.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>

#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

at::Tensor& adaptive_avg_pool2d_out(const at::Tensor& self, at::IntArrayRef output_size,
                                    at::Tensor& out) {
  return at::_adaptive_avg_pool2d_out(out, self, output_size);
}

at::Tensor& adaptive_avg_pool3d_out(const at::Tensor& self, at::IntArrayRef output_size,
                                    at::Tensor& out) {
  return at::_adaptive_avg_pool3d_out(out, self, output_size);
}

at::Tensor& adaptive_avg_pool3d_backward_out(const at::Tensor& grad_output, const at::Tensor& self,
                                             at::Tensor& grad_input) {
  return at::_adaptive_avg_pool3d_backward_out(grad_input, grad_output, self);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("adaptive_avg_pool2d.out", adaptive_avg_pool2d_out);
  DL_COMPOSED("adaptive_avg_pool3d.out", adaptive_avg_pool3d_out);
  DL_COMPOSED("adaptive_avg_pool3d_backward.grad_input", adaptive_avg_pool3d_backward_out);
}

}  // namespace dl::core::composed
