#include "handle.h"

#include <atomic>
#include <cstdint>

namespace dl::async_test {

void* next_handle() {
  // Steps of 64, in case a host expects the alignment of an object.
  static std::atomic<uintptr_t> last{0};
  return reinterpret_cast<void*>(last += 64);
}

}  // namespace dl::async_test
