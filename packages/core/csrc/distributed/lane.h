// A tensor of a collective, and its CPU counterpart for gloo.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core::distributed {

enum class Use { kRead, kWrite, kUpdate };

// Throws for sparse tensors, and for outputs with several elements at one memory location.
// `operation` is for the error message.
void check_sendable(const at::Tensor& tensor, Use use, const char* operation);
// Returns true if the memory of a tensor contains its values in order.
bool plain(const at::Tensor& tensor);

// Created on the caller's thread. When the constructor returns, the copy of inputs to the host is
// enqueued; it is complete once the device's current stream has been synchronized. Host-accessible
// memory is used directly, other memory is copied through pinned memory.
class Lane {
 public:
  Lane(const at::Tensor& tensor, Use use, const char* operation);

  const at::Tensor& tensor() const { return tensor_; }
  // Contiguous, on the CPU, with the dtype and sizes of the tensor. Uses the memory of the tensor
  // if that is host-accessible and contiguous.
  const at::Tensor& host() const { return host_; }
  // -1 for the CPU.
  int device() const { return device_; }

  // Copies `host` to the tensor, in the order of the device's current stream.
  void bring_back() const;

 private:
  void move_to_host();

  at::Tensor tensor_;
  at::Tensor dense_;
  at::Tensor host_;
  Use use_;
  int device_;
  bool staged_ = false;
};

}  // namespace dl::core::distributed
