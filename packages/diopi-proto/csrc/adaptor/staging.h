// Tensors that the host reads and writes, whatever memory they are in.
#pragma once

#include <cstddef>
#include <memory>

#include "adaptor/elements.h"
#include "dl/context.h"

namespace dl::adaptor {

// One tensor for the time of one conversion. Its memory itself where the host can reach it, else a
// copy of the span of its elements; either way its stream has been waited for.
class Staged {
 public:
  // Throws Failure where it cannot be read. `checked` is the instance behind the checks of
  // dl/checked.hpp.
  Staged(dl_vendor_t* checked, diopiContextHandle_t ctx, const dl_tensor_prefix_t& tensor);

  Elements elements() const;
  // Brings what was written into elements() to where the tensor is. Throws Failure.
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
