#include "calls/added.h"

#include <atomic>

#include "runtime/device.h"

namespace dl::core {
namespace {

std::atomic<ServedBy> served_by{nullptr};

}  // namespace

void set_served_by(ServedBy function) { served_by.store(function, std::memory_order_release); }

const char* added_by(int index, const char* contract_name) {
  const ServedBy function = served_by.load(std::memory_order_acquire);
  if (function == nullptr) return nullptr;
  return function(device_unchecked(index).vendor->instance(), contract_name);
}

}  // namespace dl::core
