// empty and related operators: uninitialized tensors.
#include "memory/new_tensor.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "aten/kernel/composed.h"
#include "aten/kernel/deterministic.h"
#include "aten/layout/aliases.h"
#include "memory/allocator.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

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

at::Tensor fill_if_requested(at::Tensor made) {
  if (C10_UNLIKELY(fills_new_memory())) at::native::fill_empty_deterministic_(made);
  return made;
}

at::Tensor empty_memory_format(c10::IntArrayRef sizes, OptionalType type,
                               std::optional<at::Layout> layout, std::optional<at::Device> where,
                               std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  const DeviceScope scope(checked_device(where, layout, pinned));
  return fill_if_requested(at::Tensor(at::detail::empty_generic(
      sizes, device_allocator(), kDlKeys, c10::dtype_or_default(type), format)));
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, OptionalType type,
                         std::optional<at::Layout> layout, std::optional<at::Device> where,
                         std::optional<bool> pinned) {
  return fill_if_requested(empty_strided_on(checked_device(where, layout, pinned), sizes, strides,
                                            c10::dtype_or_default(type)));
}

// A zero tensor without memory: autograd's placeholder for an absent gradient.
at::Tensor efficient_zero_tensor(c10::IntArrayRef sizes, OptionalType type,
                                 std::optional<at::Layout> layout, std::optional<at::Device> where,
                                 std::optional<bool> pinned) {
  const int index = checked_device(where, layout, pinned);
  const caffe2::TypeMeta meta = c10::scalarTypeToTypeMeta(c10::dtype_or_default(type));
  at::detail::check_size_nonnegative(sizes);
  // Views are checked against the number of bytes that a real tensor would have.
  const size_t bytes = at::detail::computeStorageNbytesContiguous(sizes, meta.itemsize());
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes),
      at::DataPtr(nullptr, c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(index))),
      device_allocator(), true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), kDlKeys.add(c10::DispatchKey::ZeroTensor), meta);
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_PROVIDED("empty.memory_format", empty_memory_format);
  DL_PROVIDED("empty_strided", empty_strided);
  DL_PROVIDED("_efficientzerotensor", efficient_zero_tensor);
}

}  // namespace dl::core
