// A vendor in one file. Its device has a driver in the shape of CUDA's runtime (card.h), and memory
// that the host cannot read; six operators on float32 run there, and torch does the rest by copies.
#include <algorithm>

#include "card.h"
#include "dl/kit/cuda_shaped.h"
#include "dl/kit/operators.h"
#include "dl/kit/runtime.h"
#include "dl/kit/tensor.h"
#include "dl/kit/workspace.h"

namespace {

namespace kit = dl::kit;

// The driver, opened on first use.
struct Card : kit::Library {
  Card() : Library({kit::own_folder() + "/libcard.so.1", "libcard.so.1"}) {}
  DL_KIT_CUDA_SHAPED(DL_KIT_SYMBOL_AS, card)
  DL_KIT_SYMBOL(cardGetName);
  DL_KIT_SYMBOL(cardLaunch);

  Result properties(int device, dl_device_properties_t* all) {
    all->dtype_mask = uint64_t{1} << diopi_dtype_float32;
    return cardGetName(all->name, sizeof all->name, device);
  }
};

struct Vendor : kit::Runtime<Card> {
  static constexpr const char* kName = "onefile";
  static constexpr const char* kVersion = "0.1.0";
  kit::Operators operators();
};

constexpr int64_t kMost = 8;  // dimensions

struct Operand {  // in the dimensions of the work
  const void* data;
  size_t bytes;
  int64_t strides[kMost];
};

struct Work {
  float (*element)(float out, float a, float b, float alpha);
  float alpha;
  int64_t count, ndim, sizes[kMost];
  Operand out, a, b;
};

void kernel(const void* arguments, cardMemory_t memory) {  // runs on the card
  const Work& work = *static_cast<const Work*>(arguments);
  auto* out = static_cast<float*>(memory(work.out.data, work.out.bytes));
  const auto* a = static_cast<const float*>(memory(work.a.data, work.a.bytes));
  const auto* b = static_cast<const float*>(memory(work.b.data, work.b.bytes));
  for (int64_t i = 0; out != nullptr && a != nullptr && b != nullptr && i < work.count; ++i) {
    int64_t to = 0, left = 0, right = 0, rest = i;
    for (int64_t d = work.ndim - 1; d >= 0; rest /= work.sizes[d--]) {
      const int64_t at = rest % work.sizes[d];
      to += at * work.out.strides[d], left += at * work.a.strides[d];
      right += at * work.b.strides[d];
    }
    out[to] = work.element(out[to], a[left], b[right], work.alpha);
  }
}

diopiError_t launch(diopiContextHandle_t ctx, const Work& work) {
  auto& vendor = kit::vendor_of<Vendor>(ctx);
  if (work.count > 0)
    vendor.check(vendor.api().cardLaunch(kernel, &work, sizeof work, vendor.stream_of(ctx)),
                 "cardLaunch");
  return diopiSuccess;
}

const dl_tensor_prefix_t& read(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t& tensor = kit::tensor_of(handle);
  if (tensor.dtype != diopi_dtype_float32 || tensor.ndim > kMost)
    throw kit::Error(DL_NOT_SUPPORTED, "only float32 of up to 8 dimensions is computed here");
  return tensor;
}

Operand broadcast(diopiConstTensorHandle_t handle, const Work& work) {
  const dl_tensor_prefix_t& tensor = read(handle);
  Operand made{tensor.data, kit::reach(tensor, sizeof(float)), {}};
  kit::broadcast_strides(tensor, work.sizes, work.ndim, made.strides);
  return made;
}

diopiError_t compute(diopiContextHandle_t ctx, diopiTensorHandle_t out, diopiConstTensorHandle_t a,
                     diopiConstTensorHandle_t b, decltype(Work::element) element, float alpha = 1) {
  const dl_tensor_prefix_t& result = read(out);
  Work work{element, alpha, result.numel, result.ndim, {}, {}, {}, {}};
  std::copy_n(result.sizes, result.ndim, work.sizes);
  work.out = broadcast(out, work), work.a = broadcast(a, work), work.b = broadcast(b, work);
  return launch(ctx, work);
}

namespace ops {

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out, diopiConstTensorHandle_t a,
                      diopiConstTensorHandle_t b, const diopiScalar_t* alpha) {
  const auto element = [](float, float x, float y, float times) { return x + times * y; };
  return compute(ctx, out, a, b, element, kit::number_of<float>(alpha));
}
diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out, diopiConstTensorHandle_t a,
                      diopiConstTensorHandle_t b) {
  return compute(ctx, out, a, b, [](float, float x, float y, float) { return x * y; });
}
diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t a) {
  return compute(ctx, out, a, a, [](float, float x, float, float) { return -x; });
}
diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t a) {
  return compute(ctx, out, a, a, [](float, float x, float, float) { return x < 0 ? 0 : x; });
}
diopiError_t diopiCopyInp(diopiContextHandle_t ctx, diopiConstTensorHandle_t from,
                          diopiTensorHandle_t to) {
  return compute(ctx, to, from, from, [](float, float x, float, float) { return x; });
}
// The sums are made in a workspace of the host's, one step of the product after another.
diopiError_t diopiMm(diopiContextHandle_t ctx, diopiTensorHandle_t out, diopiConstTensorHandle_t a,
                     diopiConstTensorHandle_t b) {
  const dl_tensor_prefix_t &x = read(a), &y = read(b);
  const int64_t m = x.sizes[0], k = x.sizes[1], n = y.sizes[1];
  const size_t bytes = static_cast<size_t>(m * n) * sizeof(float);
  const Operand sums{kit::workspace(ctx, bytes), bytes, {n, 1}};
  const Operand rows{x.data, kit::reach(x, sizeof(float)), {x.strides[0], 0, x.strides[1]}};
  const Operand columns{y.data, kit::reach(y, sizeof(float)), {0, y.strides[1], y.strides[0]}};
  const auto step = [](float sum, float left, float right, float) { return sum + left * right; };
  const auto copy = [](float, float sum, float, float) { return sum; };
  kit::vendor_of<Vendor>(ctx).memory_set(0, const_cast<void*>(sums.data), 0, bytes,
                                         dl_context_stream(ctx));
  launch(ctx, {step, 1, m * n * k, 3, {m, n, k}, sums, rows, columns});
  Work last{copy, 1, m * n, 2, {m, n}, {}, sums, sums};
  last.out = broadcast(out, last);
  return launch(ctx, last);
}

}  // namespace ops

const dl_operator_t kOperators[] = {
    DL_KIT_OPERATOR(Vendor, ops, diopiAdd),     DL_KIT_OPERATOR(Vendor, ops, diopiMul),
    DL_KIT_OPERATOR(Vendor, ops, diopiNeg),     DL_KIT_OPERATOR(Vendor, ops, diopiRelu),
    DL_KIT_OPERATOR(Vendor, ops, diopiCopyInp), DL_KIT_OPERATOR(Vendor, ops, diopiMm),
};
kit::Operators Vendor::operators() { return kOperators; }

}  // namespace

DL_KIT_VENDOR(Vendor)
