// One tensor of a collective, and the CPU tensor that stands for it over gloo.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core::distributed {

enum class Use { kRead, kWrite, kUpdate };

// Throws for sparse tensors, and for outputs of which several elements are one in memory.
// `operation` is for the error.
void check_sendable(const at::Tensor& tensor, Use use, const char* operation);
// Whether its memory holds its values one after the other.
bool plain(const at::Tensor& tensor);

// Made on the caller's thread: what is read is on its way to the host when the constructor returns,
// and is there once the device's current stream was waited for. Memory that the host reaches is
// used where it lies, other memory through pinned memory.
class Lane {
 public:
  Lane(const at::Tensor& tensor, Use use, const char* operation);

  const at::Tensor& tensor() const { return tensor_; }
  // Contiguous, on the CPU, with the dtype and sizes of the tensor. Its memory is that of the
  // tensor where the host reaches it and it is contiguous.
  const at::Tensor& host() const { return host_; }
  // -1 for the CPU.
  int device() const { return device_; }

  // Gives the tensor what `host` holds, in the order of the device's current stream.
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
