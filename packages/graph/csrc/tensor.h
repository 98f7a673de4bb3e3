// Tensor handle with its sizes and strides.
#pragma once

#include <vector>

#include "dl/handles.h"

namespace dl::graph {

class Handle {
 public:
  Handle(const dl_handle_ops_t& ops, int32_t dtype, std::vector<int64_t> shape,
         std::vector<int64_t> strides, int64_t offset, int64_t storage_bytes, int32_t device,
         int32_t device_index);
  // Not copyable, because vendors get its address.
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Sets the memory of its storage.
  void move_to(void* storage) {
    prefix_.storage = storage;
    prefix_.data = storage == nullptr ? nullptr : static_cast<char*>(storage) + offset_bytes_;
  }

  // Changes the size of a dimension.
  void resize(size_t dim, int64_t size) {
    sizes_[dim] = size;
    count();
  }

  dl_tensor_prefix_t* prefix() { return &prefix_; }
  void* data() const { return prefix_.data; }
  diopiTensorHandle_t handle() { return reinterpret_cast<diopiTensorHandle_t>(&prefix_); }

 private:
  // Updates the fields that depend on sizes and strides.
  void count();

  dl_tensor_prefix_t prefix_{};
  int64_t offset_bytes_;
  std::vector<int64_t> sizes_;  // the sizes, followed by the strides
};

}  // namespace dl::graph
