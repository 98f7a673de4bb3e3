#include "ops/launch.h"

#include <cstring>
#include <string>
#include <utility>

#include "error.h"

namespace dl::async_test {
namespace {

constexpr int kPaddingByte = 0xFF;  // NaN in every floating-point dtype

}  // namespace

Launch::Launch(diopiContextHandle_t ctx, const char* name) : ctx_(ctx), name_(name) {
  const dl_context_prefix_t* context = diopirt_context(ctx);
  if (context == nullptr || context->vendor == nullptr) {
    throw Error(DL_INVALID_ARGUMENT,
                "the context names no instance of this vendor; fill its `vendor`");
  }
  Instance& instance = Instance::of(context->vendor);
  instance.enter();
  instance_ = &instance;
  device_ = &instance.device(context->device_index);
  stream_ = device_->stream(context->stream);
}

TensorView Launch::view(diopiConstTensorHandle_t handle) const {
  const dl_tensor_prefix_t* tensor = diopirt_tensor(handle);
  if (tensor == nullptr) throw Error(DL_INVALID_ARGUMENT, "a tensor handle is NULL or invalid");
  if (tensor->device != diopi_device || !device_->reaches(tensor->device_index)) {
    throw Error(DL_INVALID_ARGUMENT, std::string("a tensor is on ") +
                                         (tensor->device == diopi_device
                                              ? "device " + std::to_string(tensor->device_index)
                                              : "the host") +
                                         ", not on device " + std::to_string(device_->index()) +
                                         "; copy it there first, or enable access between the two");
  }
  TensorView view;
  view.dtype = tensor->dtype;
  view.numel = tensor->numel;
  view.sizes.assign(tensor->sizes, tensor->sizes + tensor->ndim);
  view.strides.assign(tensor->strides, tensor->strides + tensor->ndim);
  if (view.numel == 0) return view;
  int64_t element_bytes = 0;
  if (diopiGetTensorElemSize(handle, &element_bytes) != diopiSuccess) {
    throw Error(DL_INVALID_ARGUMENT,
                "dtype " + std::to_string(tensor->dtype) + " is not a diopiDtype_t");
  }
  int64_t last = 0;
  for (size_t dim = 0; dim < view.sizes.size(); ++dim)
    last += (view.sizes[dim] - 1) * view.strides[dim];
  const DeviceMemory& memory = instance_->any_device(tensor->device_index).memory();
  view.data = memory.translate(tensor->data, static_cast<uint64_t>((last + 1) * element_bytes));
  overwrite_padding(*tensor, memory);
  return view;
}

void Launch::overwrite_padding(const dl_tensor_prefix_t& tensor, const DeviceMemory& memory) const {
  const uint64_t padding = instance_->options().padding;
  if (padding == 0) return;
  const auto bytes = static_cast<uint64_t>(tensor.storage_bytes);
  std::byte* const end = memory.translate(tensor.storage, bytes + padding) + bytes;
  enqueue([end, padding] { std::memset(end, kPaddingByte, padding); });
}

void Launch::enqueue(std::function<void()> body) const { stream_->enqueue(name_, std::move(body)); }

void Launch::run(std::function<void()> body) const {
  stream_->check_runs("an operator whose output size is data");
  enqueue(std::move(body));
  stream_->synchronize();
  device_->group().report();
}

dl_device_error_t* Launch::error_word() const {
  dl_device_error_t* const word = dl_context_device_error(ctx_);
  if (word == nullptr) return nullptr;
  return reinterpret_cast<dl_device_error_t*>(device_->memory().translate(word, sizeof *word));
}

diopiTensorHandle_t Launch::require(const std::vector<int64_t>& sizes, int32_t dtype) const {
  const diopiSize_t size = {sizes.data(), static_cast<int64_t>(sizes.size())};
  diopiTensorHandle_t tensor = nullptr;
  const diopiError_t error = diopiRequireTensor(ctx_, &tensor, &size, nullptr,
                                                static_cast<diopiDtype_t>(dtype), diopi_device);
  if (error != diopiSuccess) {
    throw Error(DL_ERROR,
                "the host refused the output tensor with diopiError_t " + std::to_string(error));
  }
  return tensor;
}

}  // namespace dl::async_test
