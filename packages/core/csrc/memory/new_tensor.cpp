#include "memory/new_tensor.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/DeviceGuard.h>

#include "memory/allocator.h"
#include "runtime/device.h"

namespace dl::core {

at::Tensor empty_on(int index, c10::IntArrayRef sizes, c10::ScalarType type,
                    std::optional<c10::MemoryFormat> format) {
  const DeviceScope scope(index);
  return at::Tensor(at::detail::empty_generic(sizes, device_allocator(), kDlKeys, type, format));
}

at::Tensor empty_strided_on(int index, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                            c10::ScalarType type) {
  const DeviceScope scope(index);
  return at::Tensor(
      at::detail::empty_strided_generic(sizes, strides, device_allocator(), kDlKeys, type));
}

at::Tensor empty_contiguous_like(const at::Tensor& tensor, caffe2::TypeMeta type) {
  const auto* impl = tensor.unsafeGetTensorImpl();
  const int64_t bytes = impl->numel() * static_cast<int64_t>(type.itemsize());
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes,
      device_allocator()->allocate_on(bytes, impl->device().index()), device_allocator(), true);
  auto made =
      at::detail::make_tensor<c10::TensorImpl>(c10::Storage(std::move(storage)), kDlKeys, type);
  made.unsafeGetTensorImpl()->set_sizes_contiguous(impl->sizes());
  return made;
}

at::Tensor empty_contiguous_like(const at::Tensor& tensor) {
  return empty_contiguous_like(tensor, tensor.unsafeGetTensorImpl()->dtype());
}

at::Tensor rewrap(c10::Storage storage, const at::Tensor& view, c10::DispatchKeySet keys) {
  const auto* from = view.unsafeGetTensorImpl();
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, from->dtype());
  auto* to = tensor.unsafeGetTensorImpl();
  to->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  if (C10_UNLIKELY(view.is_conj())) to->_set_conj(true);
  if (C10_UNLIKELY(view.is_neg())) to->_set_neg(true);
  if (from->is_wrapped_number()) to->set_wrapped_number(true);
  return tensor;
}

}  // namespace dl::core
