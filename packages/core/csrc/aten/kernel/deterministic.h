// torch.use_deterministic_algorithms() on dl: operators whose result depends on the order in which
// a device adds or writes raise an error, or run on the CPU. A CPU reference adds in a fixed order,
// so there only the operators that torch's CPU kernels reject raise an error.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace dl::core {

enum class Order {
  fixed,
  open,               // rejected, as on CUDA
  open_for_floating,  // integer sums do not depend on the order
  fixed_on_cpu,       // CUDA has a deterministic algorithm; here the operator runs on the CPU
};

// The lists in the documentation of torch.use_deterministic_algorithms. Operators that are
// nondeterministic only for some argument values check these values themselves.
constexpr Order order_of(std::string_view overload) {
  constexpr std::string_view open[] = {
      "avg_pool3d_backward",
      "_adaptive_avg_pool2d_backward",
      "_adaptive_avg_pool3d_backward",
      "adaptive_max_pool2d_backward",
      "adaptive_max_pool3d_backward",
      "fractional_max_pool2d_backward",
      "fractional_max_pool3d_backward",
      "grid_sampler_2d_backward",
      "grid_sampler_3d_backward",
      "histc",
      "nll_loss2d_forward",
      "reflection_pad1d_backward",
      "reflection_pad2d_backward",
      "reflection_pad3d_backward",
      "upsample_bicubic2d_backward",
      "upsample_bilinear2d_backward",
      "upsample_linear1d_backward",
      "upsample_trilinear3d_backward",
  };
  constexpr std::string_view fixed_on_cpu[] = {
      "_index_put_impl_",
      "embedding_dense_backward",
      "index_put_",
      "max_pool3d_with_indices_backward",
      "replication_pad1d_backward",
      "replication_pad2d_backward",
      "replication_pad3d_backward",
      "scatter_",
      "scatter_add_",
  };
  const std::string_view base = overload.substr(0, overload.find('.'));
  if (base == "cumsum" || base == "cumsum_") return Order::open_for_floating;
  for (const std::string_view name : open) {
    if (name == base) return Order::open;
  }
  for (const std::string_view name : fixed_on_cpu) {
    if (name == base) return Order::fixed_on_cpu;
  }
  return Order::fixed;
}

// Returns true if deterministic algorithms are requested and `device` is an accelerator. -1 means
// no device.
bool wants_fixed_order(int device);
inline bool wants_fixed_order(const at::Tensor& tensor) {
  return wants_fixed_order(tensor.is_privateuseone() ? tensor.get_device() : -1);
}

// Raises or warns, according to torch's setting.
void alert_open_order(std::string_view overload);

// Returns true if new memory must be filled, so that reads of uninitialized memory are
// deterministic.
bool fills_new_memory();

}  // namespace dl::core
