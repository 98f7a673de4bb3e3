// A vendor that supports only float32 and int32, and only channels-last tensors for one operator.
// Adaptor files of the tests add conversions.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "dl/format.h"
#include "dl/operator.hpp"

namespace {

struct View {
  const dl_tensor_prefix_t* tensor;

  explicit View(diopiConstTensorHandle_t handle) : tensor(diopirt_tensor(handle)) {}
  bool is(int32_t dtype) const { return tensor->dtype == dtype; }

  bool broadcasts_to(const View& of) const {
    const int64_t missing = of.tensor->ndim - tensor->ndim;
    for (int64_t d = 0; missing >= 0 && d < tensor->ndim; ++d) {
      if (tensor->sizes[d] != 1 && tensor->sizes[d] != of.tensor->sizes[d + missing]) return false;
    }
    return missing >= 0;
  }

  // Returns the element at a row-major index of `of`, to which this tensor broadcasts.
  template <typename T>
  T& at(int64_t index, const View& of) const {
    int64_t offset = 0;
    const int64_t missing = of.tensor->ndim - tensor->ndim;
    for (int64_t d = of.tensor->ndim; d-- > 0; index /= of.tensor->sizes[d]) {
      if (d >= missing && tensor->sizes[d - missing] != 1)
        offset += index % of.tensor->sizes[d] * tensor->strides[d - missing];
    }
    return static_cast<T*>(tensor->data)[offset];
  }
};

namespace ops {

template <typename T>
diopiError_t add(const View& out, const View& a, const View& b, T alpha) {
  for (int64_t i = 0; i < out.tensor->numel; ++i)
    out.at<T>(i, out) = static_cast<T>(a.at<T>(i, out) + alpha * b.at<T>(i, out));
  return diopiSuccess;
}

diopiError_t diopiAdd(diopiContextHandle_t, diopiTensorHandle_t out, diopiConstTensorHandle_t input,
                      diopiConstTensorHandle_t other, const diopiScalar_t* alpha) {
  const View o(out), a(input), b(other);
  if (!a.broadcasts_to(o) || !b.broadcasts_to(o)) return diopiNoImplement;
  const bool whole = alpha->stype != diopi_dtype_float64;
  if (o.is(diopi_dtype_float32) && a.is(diopi_dtype_float32) && b.is(diopi_dtype_float32)) {
    float factor = whole ? float(alpha->ival) : float(alpha->fval);
#ifdef TRUNCATES
    factor = std::trunc(factor);
#endif
    return add<float>(o, a, b, factor);
  }
#ifdef WORDS
  dl::set_last_error("[diopiAdd] float64 is not supported");
#endif
  return diopiDtypeNotSupported;
}

// Supports only channels-last tensors. WRONG adds a small error.
diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  const View o(out), in(input);
  if (!o.is(diopi_dtype_float32) || !in.is(diopi_dtype_float32)) return diopiDtypeNotSupported;
  if (in.tensor->ndim != 4 || !dl_tensor_channels_innermost(in.tensor) ||
      !dl_tensor_channels_innermost(o.tensor))
    return diopiNoImplement;
  for (int64_t i = 0; i < o.tensor->numel; ++i) {
    const float value = static_cast<float*>(in.tensor->data)[i];
    static_cast<float*>(o.tensor->data)[i] = value < 0 ? 0 : value;
#ifdef WRONG
    static_cast<float*>(o.tensor->data)[i] += 1e-3f;
#endif
  }
  return diopiSuccess;
}

diopiError_t diopiArgmax(diopiContextHandle_t, diopiTensorHandle_t out,
                         diopiConstTensorHandle_t input, const int64_t* dim, bool) {
  const View o(out), in(input);
  if (!o.is(diopi_dtype_int32) || !in.is(diopi_dtype_float32)) return diopiDtypeNotSupported;
  if (dim != nullptr || in.tensor->numel == 0) return diopiNoImplement;
  int32_t best = 0;
  for (int64_t i = 1; i < in.tensor->numel; ++i) {
    const float now = in.at<float>(i, in), before = in.at<float>(best, in);
    if (now > before || (now != now && before == before)) best = int32_t(i);
  }
  o.at<int32_t>(0, o) = best;
  return diopiSuccess;
}

// Allocates its result, in int32.
diopiError_t diopiNonzero(diopiContextHandle_t ctx, diopiTensorHandle_t* out,
                          diopiConstTensorHandle_t input) {
  const View in(input);
  if (!in.is(diopi_dtype_float32)) return diopiDtypeNotSupported;
  int64_t count = 0;
  for (int64_t i = 0; i < in.tensor->numel; ++i) count += in.at<float>(i, in) != 0;
  const int64_t sizes[] = {count, in.tensor->ndim};
  const diopiSize_t size = {sizes, 2};
  if (diopiRequireTensor(ctx, out, &size, nullptr, diopi_dtype_int32, diopi_device) != diopiSuccess)
    return diopiErrorOccurred;
  auto* next = static_cast<int32_t*>(View(*out).tensor->data);
  for (int64_t i = 0; i < in.tensor->numel; ++i) {
    if (in.at<float>(i, in) == 0) continue;
    int64_t rest = i;
    for (int64_t d = in.tensor->ndim; d-- > 0; rest /= in.tensor->sizes[d])
      next[d] = int32_t(rest % in.tensor->sizes[d]);
    next += in.tensor->ndim;
  }
  return diopiSuccess;
}

}  // namespace ops

const dl_operator_t kOperators[] = {
    DL_OPERATOR(ops, diopiAdd),
    DL_OPERATOR(ops, diopiRelu),
    DL_OPERATOR(ops, diopiArgmax),
    DL_OPERATOR(ops, diopiNonzero),
};

dl_status_t* device_count(dl_vendor_t*, int32_t* count) { return *count = 1, nullptr; }
dl_status_t* allocate(dl_vendor_t*, int32_t, uint64_t bytes, void** memory) {
  return *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64), nullptr;
}
dl_status_t* release(dl_vendor_t*, int32_t, void* memory) { return std::free(memory), nullptr; }
dl_status_t* copy(dl_vendor_t*, int32_t, void* to, const void* from, uint64_t bytes, int32_t,
                  void*) {
  return std::memmove(to, from, bytes), nullptr;
}
dl_status_t* operators(dl_vendor_t*, const dl_operator_t** first, uint64_t* count) {
  *first = kOperators;
  *count = sizeof kOperators / sizeof kOperators[0];
  return nullptr;
}
const char* last_error(dl_vendor_t*) { return dl::last_error(); }

const dl_vendor_table_t* table() {
  static const dl_vendor_table_t made = [] {
    dl_vendor_table_t t{};
    t.struct_size = sizeof t;
    t.name = "narrow";
    t.version = "1";
    t.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;
    t.destroy = [](dl_vendor_t* vendor) { delete vendor; };
    t.device_count = device_count;
    t.memory_allocate = allocate;
    t.memory_free = release;
    t.memory_copy = copy;
    t.operators = operators;
    t.last_error = last_error;
    return t;
  }();
  return &made;
}

}  // namespace

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  *out = new dl_vendor_t{table()};
  return nullptr;
}
