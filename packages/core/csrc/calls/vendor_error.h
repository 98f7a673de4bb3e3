// What a vendor's operator says when it fails.
#pragma once

#include <c10/util/Exception.h>

namespace dl::core {

// An operator of a vendor failed. Reaches the caller only where torch's CPU has no words for it.
class VendorError : public c10::Error {
 public:
  using c10::Error::Error;
};

}  // namespace dl::core
