// Validation of the layout that an operator passes to diopiRequireTensor.
#pragma once

#include <c10/util/ArrayRef.h>

#include <optional>
#include <stdexcept>

#include "diopi/functions.h"

namespace dl::core {

// A violation of the interface by an operator. The handler adds the operator and the vendor.
class VendorDefect : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RequiredLayout {
  c10::IntArrayRef sizes;
  std::optional<c10::IntArrayRef> strides;  // empty: contiguous
};

// Throws VendorDefect for invalid pointers, negative lengths, sizes or strides, and sizes beyond
// the address space.
RequiredLayout required_layout(const diopiSize_t* size, const diopiSize_t* stride,
                               size_t element_bytes);

}  // namespace dl::core
