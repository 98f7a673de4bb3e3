// Contiguous views of tensors of any strides. Contiguous tensors of the right dtype are used in
// place; other tensors are copied to scratch memory and, if they are outputs, copied back.
#ifndef DL_KERNELS_BASE_DENSE_H_
#define DL_KERNELS_BASE_DENSE_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

namespace detail {

// Describe `data` as a row-major tensor with the shape of another tensor.
template <class T>
TensorRef array_like(T* data, const TensorRef& like, int64_t (&strides)[kMaxDims]) {
  int64_t next = 1;
  for (int64_t d = like.ndim - 1; d >= 0; --d) {
    strides[d] = next;
    next *= like.sizes[d];
  }
  TensorRef array = like;
  array.data = data;
  array.strides = strides;
  array.dtype = dtype_of<T>();
  array.contiguous = true;
  return array;
}

}  // namespace detail

// The elements of a tensor as a row-major `const T*`; null for a null handle. Check status() before
// data().
template <class T>
class DenseInput {
 public:
  DenseInput(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor) {
    open(ctx, op, tensor);
  }
  DenseInput(diopiContextHandle_t ctx, const char* op, const TensorRef* tensor) {
    if (tensor != nullptr) open(ctx, op, *tensor);
  }
  DenseInput(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t tensor) {
    if (tensor != nullptr) open(ctx, op, ref(tensor));
  }

  diopiError_t status() const { return status_; }
  const T* data() const { return data_; }

 private:
  void open(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor) {
    if (tensor.dtype == dtype_of<T>() && tensor.contiguous) {
      data_ = tensor.as<const T>();
      return;
    }
    if (tensor.ndim > kMaxDims) {
      status_ = diopiNoImplement;
      return;
    }
    T* copy = storage_.reserve(Launch(ctx), tensor.numel);
    data_ = copy;
    int64_t strides[kMaxDims];
    status_ = copy_elements(ctx, op, detail::array_like(copy, tensor, strides), tensor);
  }

  Workspace<T> storage_;
  const T* data_ = nullptr;
  diopiError_t status_ = diopiSuccess;
};

// Row-major memory for the elements of an output; finish() copies them to the tensor. Null for a
// null handle.
template <class T>
class DenseOutput {
 public:
  DenseOutput(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t tensor)
      : ctx_(ctx), op_(op) {
    if (tensor != nullptr) open(ref(tensor));
  }
  DenseOutput(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor)
      : ctx_(ctx), op_(op) {
    open(tensor);
  }

  diopiError_t status() const { return status_; }
  T* data() const { return data_; }

  diopiError_t finish() const {
    if (storage_.data() == nullptr) return diopiSuccess;
    int64_t strides[kMaxDims];
    return copy_elements(ctx_, op_, tensor_, detail::array_like(data_, tensor_, strides));
  }

 private:
  void open(const TensorRef& tensor) {
    tensor_ = tensor;
    if (tensor_.dtype == dtype_of<T>() && tensor_.contiguous) {
      data_ = tensor_.template as<T>();
    } else if (tensor_.ndim > kMaxDims) {
      status_ = diopiNoImplement;
    } else {
      data_ = storage_.reserve(Launch(ctx_), tensor_.numel);
    }
  }

  diopiContextHandle_t ctx_;
  const char* op_;
  TensorRef tensor_{};
  Workspace<T> storage_;
  T* data_ = nullptr;
  diopiError_t status_ = diopiSuccess;
};

// Return the first status that is not diopiSuccess.
template <class... Tensors>
diopiError_t first_status(const Tensors&... tensors) {
  diopiError_t result = diopiSuccess;
  ((result == diopiSuccess ? void(result = tensors.status()) : void()), ...);
  return result;
}

// Finish outputs; stop at the first failure.
template <class... Outputs>
diopiError_t finish_all(const Outputs&... outputs) {
  diopiError_t result = diopiSuccess;
  ((result == diopiSuccess ? void(result = outputs.finish()) : void()), ...);
  return result;
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_DENSE_H_
