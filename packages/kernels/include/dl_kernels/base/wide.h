// Utilities of kernels that compute in float or double for all floating-point inputs:
// half-precision tensors are converted on load and store, so they need no instantiations of their
// own.
#ifndef DL_KERNELS_BASE_WIDE_H_
#define DL_KERNELS_BASE_WIDE_H_

#include <cstdio>
#include <initializer_list>

#include "diopi/diopirt.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"

DL_KERNELS_BEGIN

inline constexpr uint32_t kSingleAndDouble =
    dtype_bit(diopi_dtype_float32) | dtype_bit(diopi_dtype_float64);

// Calls `f(Tag<double>{})` for float64 and `f(Tag<float>{})` for narrower floats.
template <class F>
diopiError_t dispatch_wide(diopiDtype_t dtype, F&& f) {
  return dtype == diopi_dtype_float64 ? f(Tag<double>{}) : f(Tag<float>{});
}

// Return true if all tensors have the same dtype, and it is in the mask.
template <uint32_t Mask>
bool alike(std::initializer_list<TensorRef> tensors) {
  const diopiDtype_t first = tensors.begin()->dtype;
  for (const TensorRef& tensor : tensors) {
    if (tensor.dtype != first) return false;
  }
  return (dtype_bit(first) & Mask) != 0;
}

inline bool all_indexes(std::initializer_list<TensorRef> tensors) {
  for (const TensorRef& tensor : tensors) {
    if ((dtype_bit(tensor.dtype) & kIndexes) == 0) return false;
  }
  return true;
}

// A required size. A size that the caller computed is never the wildcard, even if it is -1.
struct NeededSize {
  int64_t value;
  bool any;
  constexpr NeededSize(int64_t size, bool is_any = false) : value(size), any(is_any) {}
};
inline constexpr NeededSize kAnySize{0, true};

// Check the sizes of a tensor.
inline diopiError_t check_sizes(const char* op, const char* name, const TensorRef& tensor,
                                std::initializer_list<NeededSize> sizes) {
  bool good = tensor.ndim == static_cast<int64_t>(sizes.size());
  int64_t d = 0;
  for (const NeededSize& size : sizes) {
    good = good && (size.any || tensor.sizes[d] == size.value);
    ++d;
  }
  if (good) return diopiSuccess;
  char wanted[160] = "", given[160] = "";
  size_t used = 0;
  for (const NeededSize& size : sizes) {
    if (used >= sizeof(wanted) - 32) break;
    const char* comma = used == 0 ? "" : ", ";
    used += static_cast<size_t>(
        size.any ? std::snprintf(wanted + used, 32, "%s*", comma)
                 : std::snprintf(wanted + used, 32, "%s%lld", comma, (long long)size.value));
  }
  used = 0;
  for (d = 0; d < tensor.ndim && used < sizeof(given) - 32; ++d) {
    used += static_cast<size_t>(std::snprintf(given + used, 32, "%s%lld", used == 0 ? "" : ", ",
                                              (long long)tensor.sizes[d]));
  }
  return fail(op, "%s has the shape [%s]; it needs [%s]", name, given, wanted);
}

// An argument that must be positive, with its name.
struct Named {
  const char* name;
  int64_t value;
};
inline diopiError_t check_positive(const char* op, std::initializer_list<Named> numbers) {
  for (const Named& number : numbers) {
    if (number.value < 1)
      return fail(op, "%s is %lld; it must be at least 1", number.name, (long long)number.value);
  }
  return diopiSuccess;
}

// Row-major elements of a tensor that is read and written; finish() copies them back.
template <class T>
class DenseInOut {
 public:
  DenseInOut(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t tensor)
      : output_(ctx, op, tensor), status_(output_.status()) {
    if (tensor != nullptr) fill(ctx, op, ref(tensor));
  }
  DenseInOut(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor)
      : output_(ctx, op, tensor), status_(output_.status()) {
    fill(ctx, op, tensor);
  }

  diopiError_t status() const { return status_; }
  T* data() const { return output_.data(); }
  diopiError_t finish() const { return output_.finish(); }

 private:
  void fill(diopiContextHandle_t ctx, const char* op, const TensorRef& from) {
    if (status_ != diopiSuccess || from.data == static_cast<void*>(output_.data())) return;
    int64_t strides[kMaxDims];
    status_ = copy_elements(ctx, op, detail::array_like(output_.data(), from, strides), from);
  }

  DenseOutput<T> output_;
  diopiError_t status_;
};

// Allocate an output of a shape that the operator determines.
inline diopiError_t require_output(diopiContextHandle_t ctx, const char* op,
                                   diopiTensorHandle_t* out, const diopiSize_t& size,
                                   diopiDtype_t dtype, diopiConstTensorHandle_t beside) {
  diopiDevice_t device = diopi_device;
  DL_TRY(diopiGetTensorDevice(beside, &device));
  const diopiError_t status = diopiRequireTensor(ctx, out, &size, nullptr, dtype, device);
  if (status == diopiSuccess) return diopiSuccess;
  return fail(op, "the host did not provide an output tensor (status %d)", status);
}

inline diopiError_t require_output(diopiContextHandle_t ctx, const char* op,
                                   diopiTensorHandle_t* out, std::initializer_list<int64_t> sizes,
                                   diopiDtype_t dtype, diopiConstTensorHandle_t beside) {
  const diopiSize_t size{sizes.begin(), static_cast<int64_t>(sizes.size())};
  return require_output(ctx, op, out, size, dtype, beside);
}

// Allocate an output with the shape and dtype of another tensor.
inline diopiError_t require_like(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t* out,
                                 diopiConstTensorHandle_t like) {
  const TensorRef tensor = ref(like);
  return require_output(ctx, op, out, diopiSize_t{tensor.sizes, tensor.ndim}, tensor.dtype, like);
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_WIDE_H_
