#include "runtime/vendor.h"

namespace dl::ascend {
namespace {

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % acl::kCopyAlignment == 0;
}

}  // namespace

void Vendor::memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                         void* stream) {
  if (kind == DL_COPY_DEVICE_TO_DEVICE && bytes != 0 && !(is_aligned(to) && is_aligned(from)))
    return copy_through_host(device, to, from, bytes, stream);
  Base::memory_copy(device, to, from, bytes, kind, stream);
}

void Vendor::copy_through_host(int32_t device, void* to, const void* from, uint64_t bytes,
                               void* stream) {
  if (stream != nullptr && graph_capture_status(stream))
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "the stream is capturing, and a copy on the device between addresses that are "
                     "not multiples of 64 is not allowed during a capture");
  struct Staging {
    Vendor& vendor;
    void* memory;
    ~Staging() {
      try {
        vendor.host_free(memory);
      } catch (const kit::Error&) {
        // The failure of the copy, if any, is more informative.
      }
    }
  } staging{*this, host_allocate(bytes)};
  Base::memory_copy(device, staging.memory, from, bytes, DL_COPY_DEVICE_TO_HOST, stream);
  Base::memory_copy(device, to, staging.memory, bytes, DL_COPY_HOST_TO_DEVICE, stream);
  stream_synchronize(device, stream);
}

}  // namespace dl::ascend
