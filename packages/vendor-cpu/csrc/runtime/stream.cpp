#include "runtime/instance.h"
#include "runtime/slots.h"
#include "runtime/status.h"

namespace dl::cpu {
namespace {

// Work runs on the thread that enqueues it, so a stream is an identity and nothing more.
struct Stream {
  int32_t priority;
};

}  // namespace

dl_status_t* stream_create(dl_vendor_t* vendor, int32_t device, int32_t priority,
                           void** stream) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  return guarded([&]() -> dl_status_t* {
    *stream = new Stream{priority};
    return nullptr;
  });
}

dl_status_t* stream_destroy(dl_vendor_t*, int32_t, void* stream) noexcept {
  delete static_cast<Stream*>(stream);
  return nullptr;
}

dl_status_t* stream_synchronize(dl_vendor_t* vendor, int32_t device, void*) noexcept {
  return check_device(vendor, device);
}

dl_status_t* stream_query(dl_vendor_t* vendor, int32_t device, void*, int32_t* finished) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  *finished = 1;
  return nullptr;
}

dl_status_t* stream_wait_event(dl_vendor_t* vendor, int32_t device, void*, void*) noexcept {
  return check_device(vendor, device);
}

}  // namespace dl::cpu
