// A tensor handle unpacked for kernels: plain values, read once per call.
#ifndef DL_KERNELS_BASE_TENSOR_REF_H_
#define DL_KERNELS_BASE_TENSOR_REF_H_

#include <cstdint>

#include "dl/dtype.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/handles.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

// Tensors of more dimensions are declined. torch allows 64, but operators of networks have at most
// 8.
inline constexpr int kMaxDims = 16;

struct TensorRef {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;  // in elements
  int64_t ndim;
  int64_t numel;
  diopiDtype_t dtype;
  bool contiguous;
  bool on_host = false;  // a single element in host memory, on any device

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

inline TensorRef ref(diopiConstTensorHandle_t handle) {
  TensorRef tensor{};
  read_tensor(handle, tensor);
  return tensor;
}

DL_FN bool same_shape(const TensorRef& a, const TensorRef& b) {
  if (a.numel != b.numel || a.ndim != b.ndim) return false;
  for (int64_t d = 0; d < a.ndim; ++d) {
    if (a.sizes[d] != b.sizes[d]) return false;
  }
  return true;
}

inline bool is_floating(diopiDtype_t dtype) {
  return dtype == diopi_dtype_float32 || dtype == diopi_dtype_float64 ||
         dtype == diopi_dtype_float16 || dtype == diopi_dtype_bfloat16;
}

inline bool is_integral(diopiDtype_t dtype) {
  return (dtype >= diopi_dtype_int8 && dtype <= diopi_dtype_uint64) || dtype == diopi_dtype_bool;
}

// Return a scalar argument in a kernel's compute type.
template <class T>
T scalar_to(const diopiScalar_t& scalar) {
  if (scalar.stype == diopi_dtype_uint64) return cast<T>(static_cast<uint64_t>(scalar.ival));
  return is_integral(scalar.stype) ? cast<T>(scalar.ival) : cast<T>(scalar.fval);
}

// Make scalar arguments.
inline diopiScalar_t integer_scalar(int64_t value) {
  diopiScalar_t scalar{};
  scalar.stype = diopi_dtype_int64;
  scalar.ival = value;
  return scalar;
}

inline diopiScalar_t float_scalar(double value) {
  diopiScalar_t scalar{};
  scalar.stype = diopi_dtype_float64;
  scalar.fval = value;
  return scalar;
}

// Return true if an optional tensor is absent or has this many elements.
inline bool absent_or_numel(diopiConstTensorHandle_t handle, int64_t numel) {
  return handle == nullptr || ref(handle).numel == numel;
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_TENSOR_REF_H_
