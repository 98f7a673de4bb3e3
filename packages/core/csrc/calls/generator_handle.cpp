#include "calls/generator_handle.h"

#include <ATen/EmptyTensor.h>

#include <cstring>

#include "calls/call.h"
#include "memory/graph_pools.h"

namespace dl::core {

GeneratorHandle::GeneratorHandle(const std::optional<at::Generator>& given, int device)
    : generator_(checked_generator(given && given->defined() ? *given : default_generator(device))),
      lock_(generator_->mutex_) {
  // Each replay would produce the same numbers.
  check_not_capturing(device, "random numbers");
  prefix_ = {DL_GENERATOR_MAGIC,
             DL_PREFIX_VERSION,
             &handle_ops(),
             generator_->current_seed(),
             generator_->get_offset(),
             device_unchecked(device).local,
             0};
}

GeneratorHandle::~GeneratorHandle() {
  if (prefix_.seed != generator_->current_seed()) generator_->set_current_seed(prefix_.seed);
  generator_->set_offset(prefix_.offset);
}

diopiError_t generator_get_state(diopiContextHandle_t context, diopiConstGeneratorHandle_t handle,
                                 diopiTensorHandle_t* state) {
  try {
    const auto* prefix = reinterpret_cast<const dl_generator_prefix_t*>(handle);
    at::Tensor tensor(
        at::detail::empty_cpu({2 * static_cast<int64_t>(sizeof(uint64_t))}, at::kByte));
    auto* bytes = static_cast<char*>(tensor.mutable_data_ptr());
    std::memcpy(bytes, &prefix->seed, sizeof(uint64_t));
    std::memcpy(bytes + sizeof(uint64_t), &prefix->offset, sizeof(uint64_t));
    *state = CallContext::of(context).require(std::move(tensor));
    return diopiSuccess;
  } catch (...) {
    return diopiErrorOccurred;
  }
}

diopiError_t generator_set_state(diopiGeneratorHandle_t handle, diopiConstTensorHandle_t state) {
  const auto* tensor = reinterpret_cast<const dl_tensor_prefix_t*>(state);
  if (tensor == nullptr || tensor->device != diopi_host || tensor->dtype != diopi_dtype_uint8 ||
      tensor->numel != 2 * static_cast<int64_t>(sizeof(uint64_t))) {
    return diopiErrorOccurred;
  }
  auto* prefix = reinterpret_cast<dl_generator_prefix_t*>(handle);
  std::memcpy(&prefix->seed, tensor->data, sizeof(uint64_t));
  std::memcpy(&prefix->offset, static_cast<const char*>(tensor->data) + sizeof(uint64_t),
              sizeof(uint64_t));
  return diopiSuccess;
}

}  // namespace dl::core
