// Host access to tensors in device memory.
#pragma once

#include <cstddef>
#include <memory>

#include "adaptor/elements.h"
#include "dl/context.h"

namespace dl::adaptor {

// Host access to one tensor during a conversion: directly if the host can access its memory,
// otherwise through a copy of the span of its elements. The constructor synchronizes the stream.
class Staged {
 public:
  // Throws Failure if the tensor cannot be read. `checked` is the wrapper of dl/checked.hpp.
  Staged(dl_vendor_t* checked, diopiContextHandle_t ctx, const dl_tensor_prefix_t& tensor);

  Elements elements() const;
  // Copies the contents of elements() back to the tensor. Throws Failure.
  void write_back();

 private:
  void copy(void* to, const void* from, int32_t kind, const char* what);

  dl_vendor_t* checked_;
  diopiContextHandle_t ctx_;
  const dl_tensor_prefix_t& tensor_;
  std::unique_ptr<char[]> copy_;
  size_t bytes_ = 0;
};

// Waits for the stream of a call, unless the vendor is synchronous. Throws Failure.
void wait(dl_vendor_t* checked, diopiContextHandle_t ctx);

}  // namespace dl::adaptor
