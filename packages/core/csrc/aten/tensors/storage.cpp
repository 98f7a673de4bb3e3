// resize_, set_, assignment to `x.data`, and lazy copies: operators on a tensor's storage.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/native/ResizeCommon.h>
#include <ATen/ops/_lazy_clone_native.h>
#include <ATen/ops/set_native.h>
#include <torch/library.h>

#include "aten/kernel/composed.h"
#include "aten/kernel/deterministic.h"
#include "memory/allocator.h"
#include "memory/sharing.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

// Does what at::native::resize_ does, which cannot be used: it copies storages by memcpy.
const at::Tensor& resize(const at::Tensor& self, c10::SymIntArrayRef symbolic,
                         std::optional<at::MemoryFormat> format) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(symbolic);
  auto* impl = self.unsafeGetTensorImpl();
  if (self.sizes() == sizes && !format) return self;
  at::detail::check_size_nonnegative(sizes);
  // Throws for sizes whose product is not a valid number of bytes.
  const size_t bytes = at::detail::computeStorageNbytesContiguous(
      sizes, impl->itemsize(), static_cast<size_t>(impl->storage_offset()));
  if (bytes > 0) {
    const c10::Storage& storage = impl->unsafe_storage();
    const auto before = static_cast<int64_t>(storage.nbytes());
    if (bytes > storage.nbytes())
      at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(storage, bytes);
    if (C10_UNLIKELY(fills_new_memory())) at::native::fill_resize_deterministic_(self, before);
  }
  impl->set_sizes_contiguous(sizes);
  if (format && *format != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_source_storage(at::Tensor& self, at::Storage source) {
  return at::native::set_(self, source);
}

at::Tensor& set_source_tensor(at::Tensor& self, const at::Tensor& source) {
  return at::native::set_tensor_(self, source);
}

at::Tensor& set_storage_offset(at::Tensor& self, at::Storage source, c10::SymInt symbolic_offset,
                               c10::SymIntArrayRef symbolic_sizes,
                               c10::SymIntArrayRef symbolic_strides) {
  const int64_t offset = symbolic_offset.guard_int(__FILE__, __LINE__);
  const auto sizes = C10_AS_INTARRAYREF_SLOW(symbolic_sizes);
  const auto strides = C10_AS_INTARRAYREF_SLOW(symbolic_strides);
  at::native::checkSetStorage(self, source, offset, sizes, strides);
  auto* impl = self.unsafeGetTensorImpl();
  const bool contiguous = strides.empty() && !sizes.empty();
  const size_t bytes =
      contiguous ? at::detail::computeStorageNbytesContiguous(sizes, impl->itemsize(), offset)
                 : at::detail::computeStorageNbytes(sizes, strides, impl->itemsize(), offset);
  const c10::Storage& storage = impl->unsafe_storage();
  if (bytes > storage.nbytes())
    at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(storage, bytes);
  impl->set_storage_offset(offset);
  if (contiguous) {
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides);
  }
  return self;
}

at::Tensor& set_empty(at::Tensor& self) {
  const int index = self.get_device();
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), 0, device_allocator()->allocate_on(0, index),
      device_allocator(), true));
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(0);
  impl->set_sizes_contiguous({0});
  impl->set_storage_keep_dtype(std::move(storage));
  return self;
}

// Returns true if torch may give a tensor the memory, device and shape of another tensor, so that
// parameters remain the same objects when their module moves. For out-of-tree
// devices torch calls this operator, and without it assumes false.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto is_plain = [](const at::Tensor& tensor) {
    if (tensor.device().type() == kDeviceType)
      return tensor.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Dense));
    return tensor.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(
        c10::DispatchKeySet(c10::DispatchKey::CPU));
  };
  return is_plain(self) && is_plain(from);
}

at::Tensor lazy_clone(const at::Tensor& self) {
  make_shareable(*self.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
  return at::native::_lazy_clone(self);
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  device_allocator()->recordStream(self.storage().data_ptr(), stream);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_PROVIDED("resize_", resize);
  DL_PROVIDED("set_", set_empty);
  DL_PROVIDED("set_.source_Tensor", set_source_tensor);
  DL_PROVIDED("set_.source_Storage", set_source_storage);
  DL_PROVIDED("set_.source_Storage_storage_offset", set_storage_offset);
  library.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
  library.impl("_lazy_clone", lazy_clone);
  library.impl("record_stream", record_stream);
}

}  // namespace dl::core
