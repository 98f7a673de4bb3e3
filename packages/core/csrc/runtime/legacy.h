// Libraries in DIOPI's original convention: exported diopi… symbols, no vendor table.
#pragma once

#include <string>

#include "dl/vendor.h"

namespace dl::core {

// Loads libdiopirt.so.1 for legacy libraries. `set_legacy_runtime` sets its path before.
void set_legacy_runtime(std::string path);
void preload_legacy_runtime();

// Returns an instance for the symbols of `handle`: one host-accessible, synchronous device in host
// memory. Lives until the process exits.
dl_vendor_t* make_legacy_instance(void* handle, const std::string& name);

// Makes a context current for functions without a context argument; a no-op without legacy
// libraries.
class LegacyContextScope {
 public:
  explicit LegacyContextScope(diopiContextHandle_t context);
  ~LegacyContextScope();
  LegacyContextScope(const LegacyContextScope&) = delete;
  LegacyContextScope& operator=(const LegacyContextScope&) = delete;

 private:
  diopiContextHandle_t previous_ = nullptr;
};

}  // namespace dl::core
