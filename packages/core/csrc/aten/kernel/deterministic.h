// torch.use_deterministic_algorithms() on dl: what depends on the order in which a device adds or
// writes is refused, or the CPU computes it. On a CPU reference, which adds in one order, only what
// torch's CPU refuses is.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace dl::core {

enum class Order {
  fixed,
  open,               // refused, as with CUDA
  open_for_floating,  // whole numbers have the same sum in any order
  fixed_on_cpu,       // CUDA has another algorithm; here the CPU computes it
};

// The lists of torch.use_deterministic_algorithms's documentation. Operators that are open for some
// values of an argument only ask by themselves.
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

// Whether the order is asked to be fixed, on an accelerator. -1 stands for no device.
bool wants_fixed_order(int device);
inline bool wants_fixed_order(const at::Tensor& tensor) {
  return wants_fixed_order(tensor.is_privateuseone() ? tensor.get_device() : -1);
}

// Raises, or warns, as torch's setting wants.
void alert_open_order(std::string_view overload);

// Whether new memory has to be filled, so that what reads it has the same values every time.
bool fills_new_memory();

}  // namespace dl::core
