#include "distributed/lane.h"

#include <ATen/ATen.h>
#include <ATen/ops/from_blob.h>

#include <memory>

#include "aten/fallback/overlap.h"
#include "memory/new_tensor.h"
#include "memory/pinned.h"
#include "memory/transfer.h"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core::distributed {
namespace {

// Returns a CPU tensor over memory that lives as long as `owner`.
template <typename Owner>
at::Tensor over(void* data, const at::Tensor& like, Owner owner) {
  auto kept = std::make_shared<Owner>(std::move(owner));
  return at::from_blob(data, like.sizes(), [kept](void*) {}, at::TensorOptions(like.scalar_type()));
}

}  // namespace

bool plain(const at::Tensor& tensor) {
  return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

void check_sendable(const at::Tensor& tensor, Use use, const char* operation) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, "[dicl] ", operation,
                              ": a tensor of layout ", tensor.layout(),
                              " cannot be sent; call .to_dense(), or move it to the CPU for gloo");
  TORCH_CHECK(use == Use::kRead || !overlap::repeats(tensor), "[dicl] ", operation,
              ": several elements of an output of sizes ", tensor.sizes(), " and strides ",
              tensor.strides(), " are one in memory; give it memory of its own with .contiguous()");
}

Lane::Lane(const at::Tensor& tensor, Use use, const char* operation)
    : tensor_(tensor), use_(use), device_(tensor.is_cpu() ? -1 : tensor.get_device()) {
  check_sendable(tensor, use, operation);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (plain(tensor)) {
    dense_ = tensor.detach();
  } else if (use == Use::kWrite) {
    dense_ = at::empty(tensor.sizes(), tensor.options());
  } else {
    dense_ = tensor.resolve_conj().resolve_neg().contiguous();
  }
  move_to_host();
}

void Lane::move_to_host() {
  if (device_ < 0) {
    host_ = dense_;
    return;
  }
  void* const data =
      use_ == Use::kRead ? const_cast<void*>(dense_.const_data_ptr()) : dense_.mutable_data_ptr();
  if (dl::core::device(device_).host_accessible) {
    host_ = over(data, dense_, dense_);
    return;
  }
  staged_ = true;
  const DeviceScope scope(device_);
  at::DataPtr pinned = pinned_allocator()->allocate(dense_.nbytes());
  void* const memory = pinned.get();
  host_ = over(memory, dense_, std::move(pinned));
  if (use_ != Use::kWrite) copy_to_host(device_, memory, data, dense_.nbytes());
}

void Lane::bring_back() const {
  if (use_ == Use::kRead) return;
  if (staged_) {
    copy_to_device(device_, dense_.mutable_data_ptr(), host_.const_data_ptr(), host_.nbytes());
    record_pinned_use(host_.const_data_ptr(), current_stream(device_));
  }
  if (plain(tensor_)) return;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::Tensor target = tensor_.detach();
  target.copy_(dense_);
}

}  // namespace dl::core::distributed
