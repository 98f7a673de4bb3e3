// What an operator asks for with diopiRequireTensor, read without trusting it.
#pragma once

#include <c10/util/ArrayRef.h>

#include <optional>
#include <stdexcept>

#include "diopi/functions.h"

namespace dl::core {

// What an operator did that the interface forbids. Who reports it adds the operator and the vendor.
class VendorDefect : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RequiredLayout {
  c10::IntArrayRef sizes;
  std::optional<c10::IntArrayRef> strides;  // none: contiguous
};

// Throws VendorDefect for pointers to no memory, negative lengths, sizes and strides, and for what
// no address space holds.
RequiredLayout required_layout(const diopiSize_t* size, const diopiSize_t* stride,
                               size_t element_bytes);

}  // namespace dl::core
