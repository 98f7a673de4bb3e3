// A vendor whose device is the emulated GPU, with enough of the vendor table to run operators.
#include <cstdlib>
#include <cstring>

#include "dl/operator.hpp"
#include "dl/vendor.h"
#include "dl_kernels/operators.h"
#include "gpu_emulation.h"
#include "watch.h"

namespace {

void destroy(dl_vendor_t*) noexcept {}

// Static: out of memory must not require an allocation.
dl_status_t no_memory = {
    sizeof(dl_status_t), DL_OUT_OF_MEMORY,    0,       "the emulated GPU is out of memory",
    "allocate",          [](dl_status_t*) {}, nullptr,
};

dl_status_t* yes(dl_vendor_t*, int32_t* present) noexcept {
  *present = 1;
  return nullptr;
}

dl_status_t* properties(dl_vendor_t*, int32_t, dl_device_properties_t* properties) noexcept {
  std::strcpy(properties->name, "emulated GPU");
  properties->total_memory = emulation::kMemory;
  properties->multiprocessor_count = 1;
  properties->warp_size = emulation::warp_threads();
  return nullptr;
}

dl_status_t* synchronize(dl_vendor_t*, int32_t) noexcept {
  emulation::wait();
  return nullptr;
}

dl_status_t* allocate(dl_vendor_t*, int32_t, uint64_t bytes, void** memory) noexcept {
  *memory = emulation::allocate(bytes);
  return *memory == nullptr ? &no_memory : nullptr;
}

dl_status_t* release(dl_vendor_t*, int32_t, void* memory) noexcept {
  emulation::wait();
  emulation::release(memory);
  return nullptr;
}

dl_status_t* info(dl_vendor_t*, int32_t, uint64_t* free_bytes, uint64_t* total_bytes) noexcept {
  *free_bytes = emulation::free_memory();
  *total_bytes = emulation::kMemory;
  return nullptr;
}

dl_status_t* host_allocate(dl_vendor_t*, uint64_t bytes, void** memory) noexcept {
  *memory = std::malloc(bytes == 0 ? 1 : bytes);
  return nullptr;
}

dl_status_t* host_free(dl_vendor_t*, void* memory) noexcept {
  std::free(memory);
  return nullptr;
}

dl_status_t* copy(dl_vendor_t*, int32_t, void* to, const void* from, uint64_t bytes, int32_t,
                  void*) noexcept {
  emulation::copy_now(to, from, bytes);
  return nullptr;
}

dl_status_t* set(dl_vendor_t*, int32_t, void* memory, int32_t value, uint64_t bytes,
                 void*) noexcept {
  emulation::enqueue([=] { emulation::fill_bytes(memory, value, bytes); });
  return nullptr;
}

dl_status_t* create(dl_vendor_t*, int32_t, int32_t, void** stream) noexcept {
  *stream = std::malloc(1);
  return nullptr;
}

dl_status_t* remove(dl_vendor_t*, int32_t, void* thing) noexcept {
  std::free(thing);
  return nullptr;
}

dl_status_t* synchronize_stream(dl_vendor_t*, int32_t, void*) noexcept {
  emulation::wait();
  return nullptr;
}

dl_status_t* query(dl_vendor_t*, int32_t, void*, int32_t* finished) noexcept {
  emulation::wait();
  *finished = 1;
  return nullptr;
}

dl_status_t* order(dl_vendor_t*, int32_t, void*, void*) noexcept { return nullptr; }

dl_status_t* create_event(dl_vendor_t*, int32_t, uint64_t, void** event) noexcept {
  *event = std::malloc(1);
  return nullptr;
}

dl_status_t* elapsed(dl_vendor_t*, int32_t, void*, void*, double* milliseconds) noexcept {
  *milliseconds = 0;
  return nullptr;
}

dl_status_t* operators(dl_vendor_t*, const dl_operator_t** operators, uint64_t* count) noexcept {
  const dl::kernels::OperatorList list = dl::kernels::operators();
  *operators = list.data;
  *count = list.count;
  return nullptr;
}

const char* last_error(dl_vendor_t*) noexcept {
  const char* message = dl::last_error();
  return message[0] == '\0' ? nullptr : message;
}

const dl_vendor_table_t kTable = {
    sizeof(dl_vendor_table_t),
    nullptr,
    "emulated",
    "0",
    0,
    destroy,
    yes,
    yes,
    properties,
    synchronize,
    allocate,
    release,
    info,
    host_allocate,
    host_free,
    copy,
    set,
    create,
    remove,
    synchronize_stream,
    query,
    order,
    create_event,
    remove,
    order,
    synchronize_stream,
    query,
    elapsed,
    operators,
    last_error,
    nullptr,
};

}  // namespace

// Number of times that operators have waited for a result of the device.
extern "C" DL_EXPORT uint64_t emulated_gpu_fetches() { return emulation::fetches(); }

// Number of defects found in kernels.
extern "C" DL_EXPORT uint64_t emulated_gpu_findings() { return emulation::findings(); }

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static dl_vendor_t vendor{&kTable};
  *out = &vendor;
  return nullptr;
}
