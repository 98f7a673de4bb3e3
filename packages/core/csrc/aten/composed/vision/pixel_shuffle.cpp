// pixel_shuffle, pixel_unshuffle and channel_shuffle: permutations of a view with more dimensions.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "aten/kernel/composed.h"
#include "aten/layout/checked_sizes.h"

namespace dl::core::composed {
namespace {

std::vector<int64_t> with_leading_sizes(const at::Tensor& self,
                                        std::initializer_list<int64_t> rest) {
  std::vector<int64_t> shape(self.sizes().begin(), self.sizes().end() - 3);
  shape.insert(shape.end(), rest);
  return shape;
}

// A new tensor with the memory format of `self`, even if some dimensions have size 1.
at::Tensor empty_in_format_of(const at::Tensor& self, at::IntArrayRef shape) {
  return at::empty(shape, self.options(), self.suggest_memory_format());
}

// Permutes the last `order.size()` dimensions.
at::Tensor permute_last(const at::Tensor& self, std::initializer_list<int64_t> order) {
  const int64_t kept = self.dim() - static_cast<int64_t>(order.size());
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < kept; ++d) dims.push_back(d);
  for (const int64_t d : order) dims.push_back(kept + d);
  return self.permute(dims);
}

at::Tensor channel_shuffle(const at::Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with ",
              "sizes ", self.sizes());
  const int64_t channels = self.size(1);
  TORCH_CHECK(groups > 0, "Number of groups to divide channels in must be positive.",
              " Value of groups:", groups);
  TORCH_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ",
              channels, " channels and ", groups, " groups.");
  if (self.numel() == 0) return self.alias();
  const at::Tensor parts = self.unflatten(1, {groups, channels / groups});
  at::Tensor out = empty_in_format_of(self, self.sizes());
  out.unflatten(1, {channels / groups, groups}).copy_(parts.transpose(1, 2));
  return out;
}

at::Tensor pixel_shuffle(const at::Tensor& self, int64_t factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but ",
              "got input with ", self.dim(), " dimension(s)");
  TORCH_CHECK(factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ", factor);
  int64_t square = 0;
  TORCH_CHECK_VALUE(!__builtin_mul_overflow(factor, factor, &square), "upscale factor is too ",
                    "large, (upscale_factor)^2 overflowed: upscale_factor=", factor);
  const int64_t channels = self.size(-3), height = self.size(-2), width = self.size(-1);
  TORCH_CHECK(channels % square == 0, "pixel_shuffle expects its input's 'channel' ",
              "dimension to be divisible by the square of upscale_factor, but input.size(-3)=",
              channels, " is not divisible by ", square);
  const int64_t left = channels / square;
  const at::Tensor split =
      self.reshape(with_leading_sizes(self, {left, factor, factor, height, width}));
  at::Tensor out = empty_in_format_of(
      self, with_leading_sizes(
                self, {left, checked_product({height, factor}, "pixel_shuffle: the height"),
                       checked_product({width, factor}, "pixel_shuffle: the width")}));
  if (out.numel() > 0) {
    out.view(with_leading_sizes(self, {left, height, factor, width, factor}))
        .copy_(permute_last(split, {0, 3, 1, 4, 2}));
  }
  return out;
}

at::Tensor pixel_unshuffle(const at::Tensor& self, int64_t factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but ",
              "got input with ", self.dim(), " dimension(s)");
  TORCH_CHECK(factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", factor);
  const int64_t channels = self.size(-3), height = self.size(-2), width = self.size(-1);
  TORCH_CHECK(height % factor == 0, "pixel_unshuffle expects height to be divisible by ",
              "downscale_factor, but input.size(-2)=", height, " is not divisible by ", factor);
  TORCH_CHECK(width % factor == 0, "pixel_unshuffle expects width to be divisible by ",
              "downscale_factor, but input.size(-1)=", width, " is not divisible by ", factor);
  const int64_t parts =
      checked_product({channels, factor, factor}, "pixel_unshuffle: the number of channels");
  const at::Tensor split = self.reshape(
      with_leading_sizes(self, {channels, height / factor, factor, width / factor, factor}));
  at::Tensor out =
      empty_in_format_of(self, with_leading_sizes(self, {parts, height / factor, width / factor}));
  if (out.numel() > 0) {
    out.view(with_leading_sizes(self, {channels, factor, factor, height / factor, width / factor}))
        .copy_(permute_last(split, {0, 2, 4, 1, 3}));
  }
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("channel_shuffle", channel_shuffle);
  DL_COMPOSED("pixel_shuffle", pixel_shuffle);
  DL_COMPOSED("pixel_unshuffle", pixel_unshuffle);
}

}  // namespace dl::core::composed
