// Libraries in DIOPI's own convention: exported diopi… symbols, no vendor table.
#pragma once

#include <string>

#include "dl/vendor.h"

namespace dl::core {

// Makes libdiopirt.so.1 visible to legacy libraries. `set_legacy_runtime` names the file
// beforehand.
void set_legacy_runtime(std::string path);
void preload_legacy_runtime();

// An instance over the symbols of `handle`: one host-accessible, synchronous device in host memory.
// Lives as long as the process.
dl_vendor_t* make_legacy_instance(void* handle, const std::string& name);

// Functions without a context argument use the thread's current context; a no-op without legacy
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
