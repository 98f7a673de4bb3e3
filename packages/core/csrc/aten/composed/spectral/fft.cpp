// Fourier transforms of complex and real numbers over several dimensions, composed of the
// contract's one-dimensional transforms.
#include <ATen/ops/_fft_c2c.h>
#include <ATen/ops/_fft_c2r.h>
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/real.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "memory/new_tensor.h"

namespace dl::core::composed {
namespace {

Site c2c_site{"_fft_c2c", {"_fft_c2c", "_fft_c2c.out"}, {Op::dlopFft}};
Site r2c_site{"_fft_r2c", {"_fft_r2c", "_fft_r2c.out"}, {Op::dlopFft}};
Site c2r_site{"_fft_c2r", {"_fft_c2r", "_fft_c2r.out"}, {Op::dlopFft}};

// Torch's fft_norm_mode.
enum Normalization : int64_t { kNone, kByRoot, kByLength };

double scale_of(int64_t normalization, int64_t length) {
  const auto n = static_cast<double>(length);
  return normalization == kByRoot ? 1 / std::sqrt(n) : normalization == kByLength ? 1 / n : 1.0;
}

bool are_dims_of(const Tensor& self, at::IntArrayRef dims) {
  return !dims.empty() && self.numel() > 0 && std::all_of(dims.begin(), dims.end(), [&](int64_t d) {
    return d >= 0 && d < self.dim() && std::count(dims.begin(), dims.end(), d) == 1;
  });
}

bool transforms(Site& site, const Tensor& self, at::IntArrayRef dims, int64_t normalization) {
  const int device_index = ::dl::core::device_of(self);
  return device_index >= 0 && !site.disabled.load(std::memory_order_relaxed) &&
         DL_CONTRACT_FUNCTION(device_unchecked(device_index), dlopFft) != nullptr &&
         are_dims_of(self, dims) && normalization >= kNone && normalization <= kByLength;
}

// Allocates with the strides of torch's CPU kernels: transformed dimensions are the innermost, in
// the given order; all other dimensions surround them in the order of their strides.
Tensor empty_transformed(const Tensor& self, at::IntArrayRef sizes, at::ScalarType type,
                         at::IntArrayRef dims) {
  DimVector order(self.dim()), strides(self.dim());
  std::iota(order.begin(), order.end(), 0);
  const auto rest = std::stable_partition(order.begin(), order.end(), [&](int64_t d) {
    return std::find(dims.begin(), dims.end(), d) == dims.end();
  });
  std::stable_sort(order.begin(), rest,
                   [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  std::copy(dims.begin(), dims.end(), rest);
  int64_t step = 1;
  for (int64_t i = self.dim(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return empty_strided_on(self.get_device(), sizes, strides, type);
}

// The first `count` dimensions, sorted by their strides.
DimVector sort_by_stride(const Tensor& self, at::IntArrayRef dims, size_t count) {
  DimVector result(dims.begin(), dims.end());
  std::stable_sort(result.begin(), result.begin() + static_cast<int64_t>(count),
                   [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  return result;
}

// Transforms `input` along each of the dimensions, into `out`; returns false if the vendor declines
// the call.
bool transform(Site& site, const Tensor& out, const Tensor& input, at::IntArrayRef dims,
               int64_t normalization, bool forward) {
  const int device_index = input.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device_index), dlopFft);
  Tensor from = input;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_last = i + 1 == dims.size();
    const Tensor to = is_last ? out : empty_on(device_index, input.sizes(), input.scalar_type());
    NativeCall call(site, device_index);
    OutputHandle out_handle(to);
    if (!call.run("dlopFft", function, out_handle.get(), TensorHandle(from).get(), dims[i], forward,
                  scale_of(normalization, input.size(dims[i]))))
      return false;
    from = to;
  }
  return true;
}

Tensor c2c(const Tensor& self, at::IntArrayRef dims, int64_t normalization, bool forward) {
  if (self.is_complex() && dims.empty()) return self.clone();
  if (self.is_complex() && self.scalar_type() != at::kComplexHalf &&
      transforms(c2c_site, self, dims, normalization)) {
    const DimVector order = sort_by_stride(self, dims, dims.size());
    const Tensor out = empty_transformed(self, self.sizes(), self.scalar_type(), order);
    if (transform(c2c_site, out, self, order, normalization, forward)) return out;
  }
  return on_cpu<"_fft_c2c", decltype(c2c)>(self, dims, normalization, forward);
}

Tensor& c2c_out(const Tensor& self, at::IntArrayRef dims, int64_t normalization, bool forward,
                Tensor& out) {
  return write_to(out, at::_fft_c2c(self, dims, normalization, forward));
}

// The full spectrum; its half along the last dimension determines the rest.
Tensor r2c(const Tensor& self, at::IntArrayRef dims, int64_t normalization, bool onesided) {
  if ((self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble) &&
      transforms(r2c_site, self, dims, normalization)) {
    const at::ScalarType type = c10::toComplexType(self.scalar_type());
    const Tensor numbers = self.to(type), all = at::empty_like(numbers);
    DimVector sizes(self.sizes().begin(), self.sizes().end());
    if (onesided) sizes[dims.back()] = sizes[dims.back()] / 2 + 1;
    const DimVector order = sort_by_stride(self, dims, dims.size() - 1);
    Tensor out = empty_transformed(self, sizes, type, order);
    if (transform(r2c_site, onesided ? all : out, numbers, order, normalization, true))
      return onesided ? out.copy_(all.narrow(dims.back(), 0, sizes[dims.back()])) : out;
  }
  return on_cpu<"_fft_r2c", decltype(r2c)>(self, dims, normalization, onesided);
}

Tensor& r2c_out(const Tensor& self, at::IntArrayRef dims, int64_t normalization, bool onesided,
                Tensor& out) {
  return write_to(out, at::_fft_r2c(self, dims, normalization, onesided));
}

// Completes half of a spectrum along a dimension with the reversed conjugates.
Tensor whole_spectrum(const Tensor& half, int64_t dim, int64_t length) {
  const int64_t mirrored = (length - 1) / 2;
  const Tensor first = half.narrow(dim, 0, length / 2 + 1);
  if (mirrored == 0) return first;
  return at::cat({first, half.narrow(dim, 1, mirrored).flip(dim).conj_physical()}, dim);
}

Tensor c2r(const Tensor& self, at::IntArrayRef dims, int64_t normalization, int64_t last_dim_size) {
  if ((self.scalar_type() == at::kComplexFloat || self.scalar_type() == at::kComplexDouble) &&
      transforms(c2r_site, self, dims, normalization) && last_dim_size > 0 &&
      self.size(dims.back()) == last_dim_size / 2 + 1) {
    // For input that is not the spectrum of a real signal, the last dimension decides, as in torch.
    const int64_t last = dims.back();
    const at::IntArrayRef others = dims.slice(0, dims.size() - 1);
    const Tensor input = others.empty() ? self : at::_fft_c2c(self, others, normalization, false);
    const Tensor spectrum = whole_spectrum(input, last, last_dim_size);
    const Tensor found = at::empty_like(spectrum);
    if (transform(c2r_site, found, spectrum, {last}, normalization, false)) {
      Tensor out =
          empty_transformed(input, found.sizes(), c10::toRealValueType(self.scalar_type()), {last});
      return out.copy_(at::real(found));
    }
  }
  return on_cpu<"_fft_c2r", decltype(c2r)>(self, dims, normalization, last_dim_size);
}

Tensor& c2r_out(const Tensor& self, at::IntArrayRef dims, int64_t normalization,
                int64_t last_dim_size, Tensor& out) {
  return write_to(out, at::_fft_c2r(self, dims, normalization, last_dim_size));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("_fft_c2c", c2c);
  DL_KERNEL("_fft_c2c.out", c2c_out);
  DL_KERNEL("_fft_r2c", r2c);
  DL_KERNEL("_fft_r2c.out", r2c_out);
  DL_KERNEL("_fft_c2r", c2r);
  DL_KERNEL("_fft_c2r.out", c2r_out);
}

}  // namespace dl::core::composed
