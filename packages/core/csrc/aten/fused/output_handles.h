// Handles of tensor lists that operators write to.
#pragma once

#include "aten/kernel/wrapper.h"

namespace dl::core {

class OutputHandleList {
 public:
  explicit OutputHandleList(at::TensorList tensors) {
    handles_.reserve(tensors.size());
    for (const at::Tensor& tensor : tensors) handles_.emplace_back(tensor);
    for (OptionalOutputHandle& handle : handles_) pointers_.push_back(handle.get());
  }
  OutputHandleList(const OutputHandleList&) = delete;
  OutputHandleList& operator=(const OutputHandleList&) = delete;
  // Returns NULL for an empty list.
  diopiTensorHandle_t* data() { return pointers_.empty() ? nullptr : pointers_.data(); }

 private:
  c10::SmallVector<OptionalOutputHandle, 8> handles_;
  c10::SmallVector<diopiTensorHandle_t, 8> pointers_;
};

}  // namespace dl::core
