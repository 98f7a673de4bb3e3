// Arguments of operators: views of torch tensors, scalars and sizes in the contract's form. All are
// allocated on the stack for one call and own nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "contract/device_indices.h"
#include "contract/dtype.h"
#include "dl/handles.h"

namespace dl::core {

const dl_handle_ops_t& handle_ops();

class TensorHandle {
 public:
  // An input tensor: read-only access.
  explicit TensorHandle(const at::Tensor& tensor) { fill(tensor.unsafeGetTensorImpl(), false); }

  diopiConstTensorHandle_t get() const {
    return reinterpret_cast<diopiConstTensorHandle_t>(&prefix_);
  }

 protected:
  struct Mutable {};
  TensorHandle(const at::Tensor& tensor, Mutable) { fill(tensor.unsafeGetTensorImpl(), true); }
  TensorHandle() = default;

  void fill(c10::TensorImpl* impl, bool writable) {
    const c10::IntArrayRef sizes = impl->sizes();
    const c10::Device where = impl->device();
    const bool on_device = where.type() == kDeviceType;
    auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
    prefix_.magic = DL_TENSOR_MAGIC;
    prefix_.version = DL_PREFIX_VERSION;
    prefix_.ops = &handle_ops();
    // Write access materializes copy-on-write storage; read access does not.
    prefix_.storage = writable ? storage->mutable_data() : const_cast<void*>(storage->data());
    prefix_.storage_offset = impl->storage_offset();
    prefix_.storage_bytes = static_cast<int64_t>(storage->nbytes());
    prefix_.data = static_cast<char*>(prefix_.storage) + prefix_.storage_offset * impl->itemsize();
    prefix_.sizes = sizes.data();
    prefix_.strides = impl->strides().data();
    prefix_.ndim = static_cast<int64_t>(sizes.size());
    prefix_.numel = impl->numel();
    prefix_.dtype = to_diopi(c10::typeMetaToScalarType(impl->dtype()));
    prefix_.device = on_device ? diopi_device : diopi_host;
    prefix_.device_index = on_device ? local_index(where.index()) : 0;
    prefix_.flags = impl->is_contiguous() ? DL_TENSOR_CONTIGUOUS : 0;
    prefix_.crow_indices = prefix_.col_indices = prefix_.values = nullptr;
  }

  dl_tensor_prefix_t prefix_;
};

class OutputHandle : public TensorHandle {
 public:
  explicit OutputHandle(const at::Tensor& tensor) : TensorHandle(tensor, Mutable{}) {}
  diopiTensorHandle_t get() { return reinterpret_cast<diopiTensorHandle_t>(&prefix_); }
};

// NULL for an undefined tensor.
class OptionalHandle : public TensorHandle {
 public:
  explicit OptionalHandle(const at::Tensor& tensor) : defined_(tensor.defined()) {
    if (defined_) fill(tensor.unsafeGetTensorImpl(), false);
  }
  explicit OptionalHandle(const std::optional<at::Tensor>& tensor)
      : defined_(tensor && tensor->defined()) {
    if (defined_) fill(tensor->unsafeGetTensorImpl(), false);
  }
  diopiConstTensorHandle_t get() const { return defined_ ? TensorHandle::get() : nullptr; }

 private:
  bool defined_;
};

class OptionalOutputHandle : public TensorHandle {
 public:
  explicit OptionalOutputHandle(const at::Tensor& tensor) : defined_(tensor.defined()) {
    if (defined_) fill(tensor.unsafeGetTensorImpl(), true);
  }
  explicit OptionalOutputHandle(const std::optional<at::Tensor>& tensor)
      : defined_(tensor && tensor->defined()) {
    if (defined_) fill(tensor->unsafeGetTensorImpl(), true);
  }
  diopiTensorHandle_t get() {
    return defined_ ? reinterpret_cast<diopiTensorHandle_t>(&prefix_) : nullptr;
  }

 private:
  bool defined_;
};

inline diopiScalar_t to_scalar(const at::Scalar& value) {
  diopiScalar_t result;
  if (value.isFloatingPoint()) {
    result.stype = diopi_dtype_float64;
    result.fval = value.toDouble();
  } else if (value.isBoolean()) {
    result.stype = diopi_dtype_bool;
    result.ival = value.toBool() ? 1 : 0;
  } else if (value.type() == c10::ScalarType::UInt64) {
    // Integers outside the int64 range are stored as uint64 with the same bits.
    result.stype = diopi_dtype_uint64;
    result.ival = static_cast<int64_t>(value.toUInt64());
  } else {
    result.stype = diopi_dtype_int64;
    result.ival = value.toLong();
  }
  return result;
}

// An optional scalar (NULL if absent).
class OptionalScalar {
 public:
  explicit OptionalScalar(const std::optional<at::Scalar>& value) : present_(value.has_value()) {
    if (present_) value_ = to_scalar(*value);
  }
  const diopiScalar_t* get() const { return present_ ? &value_ : nullptr; }

 private:
  bool present_;
  diopiScalar_t value_;
};

inline diopiSize_t to_size(c10::IntArrayRef values) {
  return {values.data(), static_cast<int64_t>(values.size())};
}

}  // namespace dl::core
