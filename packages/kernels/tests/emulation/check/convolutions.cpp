// Compares convolutions and their gradients with reference loops, in contiguous and channels-last
// layout. The exit status is 0 if all agree. Elements are small integers, so sums are exact.
#include <cstdio>
#include <vector>

#include "dl_kernels/gpu/parts/convolve.inc"
#include "dl_kernels/gpu/parts/gemm.inc"

using namespace dl::kernels;

namespace {

struct Tensor {
  std::vector<float> values;
  gpu::Images<float> images;

  float& at(int64_t sample, int64_t channel, int64_t cell) {
    const gpu::ImageSteps& step = images.step;
    return values[static_cast<size_t>(sample * step.sample + channel * step.channel +
                                      cell * step.cell)];
  }
  gpu::Images<const float> constant() const { return {images.data, images.step}; }
  void fetch() { emulation::copy_now(values.data(), images.data, values.size() * sizeof(float)); }
};

Tensor tensor(int64_t samples, int64_t channels, int64_t cells, bool beside, int64_t modulus) {
  Tensor made;
  made.values.resize(static_cast<size_t>(samples * channels * cells));
  for (size_t i = 0; i < made.values.size(); ++i)
    made.values[i] = static_cast<float>(static_cast<int64_t>(i * 7919) % modulus - modulus / 2);
  const size_t bytes = made.values.size() * sizeof(float);
  made.images = {static_cast<float*>(emulation::allocate(bytes)),
                 beside ? gpu::ImageSteps{channels * cells, 1, channels}
                        : gpu::ImageSteps{channels * cells, cells, 1}};
  emulation::copy_now(made.images.data, made.values.data(), bytes);
  return made;
}

// Call f(sample, filter, channel of the group, output cell, input cell, tap) for all products.
template <class F>
void each_product(const ConvShape& shape, const F& f) {
  const Axis &z = shape.axes[0], &y = shape.axes[1], &x = shape.axes[2];
  for (int64_t n = 0; n < shape.samples; ++n)
    for (int64_t filter = 0; filter < shape.filters; ++filter)
      for (int64_t p = 0; p < shape.output_plane(); ++p)
        for (int64_t k = 0; k < shape.window(); ++k) {
          const int64_t iz =
              z.start(p / (x.output * y.output)) + k / (x.kernel * y.kernel) * z.dilation;
          const int64_t iy =
              y.start(p / x.output % y.output) + k / x.kernel % y.kernel * y.dilation;
          const int64_t ix = x.start(p % x.output) + k % x.kernel * x.dilation;
          if (iz < 0 || iz >= z.input || iy < 0 || iy >= y.input || ix < 0 || ix >= x.input)
            continue;
          for (int64_t c = 0; c < shape.group_channels(); ++c)
            f(n, filter, c, p, (iz * y.input + iy) * x.input + ix, k);
        }
}

bool agrees(const Launch& launch, const ConvShape& shape, bool beside, bool weight_beside) {
  const int64_t group_channels = shape.group_channels();
  Tensor in = tensor(shape.samples, shape.channels, shape.input_plane(), beside, 7),
         weight = tensor(shape.filters, group_channels, shape.window(), weight_beside, 5),
         grad = tensor(shape.samples, shape.filters, shape.output_plane(), beside, 9), out = grad,
         grad_in = in, grad_weight = weight;
  for (Tensor* made : {&out, &grad_in, &grad_weight}) {
    made->images.data =
        static_cast<float*>(emulation::allocate(made->values.size() * sizeof(float)));
    for (float& value : made->values) value = 0;
  }
  const auto channel_of = [&](int64_t filter, int64_t c) {
    return filter / shape.group_filters() * group_channels + c;
  };
  each_product(shape, [&](int64_t n, int64_t f, int64_t c, int64_t p, int64_t cell, int64_t k) {
    const int64_t channel = channel_of(f, c);
    out.at(n, f, p) += weight.at(f, c, k) * in.at(n, channel, cell);
    grad_in.at(n, channel, cell) += weight.at(f, c, k) * grad.at(n, f, p);
    grad_weight.at(f, c, k) += grad.at(n, f, p) * in.at(n, channel, cell);
  });
  if (!gpu::convolve_images<float>(launch, shape, out.images, in.constant(), weight.constant(),
                                   nullptr) ||
      !gpu::convolve_images_input_gradient<float>(launch, shape, grad_in.images, grad.constant(),
                                                  weight.constant()) ||
      !gpu::convolve_images_weight_gradient<float>(launch, shape, grad_weight.images,
                                                   grad.constant(), in.constant()))
    return false;
  for (Tensor* made : {&out, &grad_in, &grad_weight}) {
    const std::vector<float> wanted = made->values;
    made->fetch();
    if (made->values != wanted) return false;
  }
  return true;
}

// A host that frees scratch memory only when the process ends.
diopiError_t require_buffer(diopiContextHandle_t, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t) {
  auto* buffer = new dl_tensor_prefix_t{};
  buffer->magic = DL_TENSOR_MAGIC;
  buffer->version = DL_PREFIX_VERSION;
  buffer->data = emulation::allocate(static_cast<size_t>(bytes));
  *tensor = reinterpret_cast<diopiTensorHandle_t>(buffer);
  return diopiSuccess;
}

}  // namespace

int main() {
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof(ops);
  ops.require_buffer = require_buffer;
  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.ops = &ops;
  const Launch launch(reinterpret_cast<diopiContextHandle_t>(&context));
  // Input, output, kernel, stride, padding, dilation of each axis.
  const Axis none{1, 1, 1, 1, 0, 1}, three{7, 7, 3, 1, 1, 1}, apart{9, 4, 3, 2, 1, 2},
      wide{5, 6, 2, 1, 1, 1}, strided{5, 3, 1, 2, 0, 1};
  const ConvShape shapes[] = {
      {2, 2, 5, 6, 1, {none, three, apart}},  {2, 3, 4, 8, 1, {none, apart, three}},
      {3, 1, 3, 2, 1, {wide, apart, three}},  {2, 2, 32, 40, 2, {none, wide, wide}},
      {2, 2, 8, 5, 1, {none, none, none}},    {2, 1, 8, 12, 1, {none, strided, strided}},
      {2, 40, 4, 3, 1, {none, three, three}},
  };
  for (const ConvShape& shape : shapes) {
    for (const bool beside : {false, true}) {
      for (const bool weight_beside : {false, true}) {
        if (agrees(launch, shape, beside, weight_beside)) continue;
        std::printf(
            "a convolution (%lld channels, %lld filters) differs from the reference loops\n",
            static_cast<long long>(shape.channels), static_cast<long long>(shape.filters));
        return 1;
      }
    }
  }
  return 0;
}
