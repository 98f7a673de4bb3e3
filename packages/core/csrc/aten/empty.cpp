#include "aten/empty.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "aten/composed.h"
#include "aten/deterministic.h"
#include "memory/allocator.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

using OptionalType = std::optional<at::ScalarType>;

int checked_device(std::optional<at::Device> where, std::optional<at::Layout> layout,
                   std::optional<bool> pinned) {
  TORCH_CHECK(c10::layout_or_default(layout) == at::kStrided, "[dl] tensors of layout ",
              c10::layout_or_default(layout),
              " are not supported on dl devices; create it on the CPU");
  TORCH_CHECK(!c10::pinned_memory_or_default(pinned), "[dl] only CPU tensors can be pinned");
  const int index = device_or_current(c10::device_or_default(where).index());
  device(index);
  return index;
}

at::Tensor filled_if_asked(at::Tensor made) {
  if (C10_UNLIKELY(fills_new_memory())) at::native::fill_empty_deterministic_(made);
  return made;
}

at::Tensor empty_memory_format(c10::IntArrayRef sizes, OptionalType type,
                               std::optional<at::Layout> layout, std::optional<at::Device> where,
                               std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  const DeviceScope scope(checked_device(where, layout, pinned));
  return filled_if_asked(at::Tensor(at::detail::empty_generic(
      sizes, device_allocator(), kDlKeys, c10::dtype_or_default(type), format)));
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, OptionalType type,
                         std::optional<at::Layout> layout, std::optional<at::Device> where,
                         std::optional<bool> pinned) {
  return filled_if_asked(empty_strided_on(checked_device(where, layout, pinned), sizes, strides,
                                          c10::dtype_or_default(type)));
}

// A zero that takes no memory: autograd's stand-in for an absent gradient.
at::Tensor efficient_zero_tensor(c10::IntArrayRef sizes, OptionalType type,
                                 std::optional<at::Layout> layout, std::optional<at::Device> where,
                                 std::optional<bool> pinned) {
  const int index = checked_device(where, layout, pinned);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), int64_t{0},
      at::DataPtr(nullptr, c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(index))),
      device_allocator(), true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), kDlKeys.add(c10::DispatchKey::ZeroTensor),
      c10::scalarTypeToTypeMeta(c10::dtype_or_default(type)));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

}  // namespace

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

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_PROVIDED("empty.memory_format", empty_memory_format);
  DL_PROVIDED("empty_strided", empty_strided);
  DL_PROVIDED("_efficientzerotensor", efficient_zero_tensor);
}

}  // namespace dl::core
