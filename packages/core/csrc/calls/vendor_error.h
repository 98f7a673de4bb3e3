// Errors of vendor operators.
#pragma once

#include <c10/util/Exception.h>

namespace dl::core {

// Failure of a vendor operator. The caller sees it only if torch's CPU kernel raises no error.
class VendorError : public c10::Error {
 public:
  using c10::Error::Error;
};

}  // namespace dl::core
