// The entry symbol and the table of the CPU vendor.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dl/operator.hpp"
#include "dl/vendor.h"
#include "extensions/extensions.h"
#include "library/find.h"
#include "runtime/instance.h"
#include "runtime/operators.h"
#include "runtime/slots.h"
#include "runtime/status.h"

namespace dl::cpu {
namespace {

void destroy(dl_vendor_t* vendor) noexcept { delete &instance_of(vendor); }

dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** operators,
                       uint64_t* count) noexcept {
  const Instance& instance = instance_of(vendor);
  *operators = instance.operators.data();
  *count = instance.operators.size();
  return nullptr;
}

const char* last_operator_error(dl_vendor_t*) noexcept {
  const char* message = dl::last_error();
  return message[0] == '\0' ? nullptr : message;
}

const dl_vendor_table_t kTable = {
    sizeof(dl_vendor_table_t),
    extensions(),
    "cpu",
    DL_CPU_VERSION,
    DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER | DL_CAP_REFERENCE,
    destroy,
    present,
    device_count,
    device_properties,
    device_synchronize,
    memory_allocate,
    memory_free,
    memory_info,
    host_allocate,
    host_free,
    memory_copy,
    memory_set,
    stream_create,
    stream_destroy,
    stream_synchronize,
    stream_query,
    stream_wait_event,
    event_create,
    event_destroy,
    event_record,
    event_synchronize,
    event_query,
    event_elapsed,
    operators,
    last_operator_error,
};

template <typename... Args>
void warn(const dl_host_t* host, const char* pattern, Args... args) {
  if (!DL_HAS_FIELD(host, dl_host_t, log) || host->log == nullptr) return;
  char message[320];
  std::snprintf(message, sizeof(message), pattern, args...);
  host->log(host, DL_LOG_WARNING, message);
}

// DL_CPU_DEVICES: how many devices to show, so that code for several devices can be tested without
// them.
int32_t read_device_count(const dl_host_t* host) {
  const char* text = std::getenv("DL_CPU_DEVICES");
  if (text == nullptr || text[0] == '\0') return 1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end == '\0' && value >= 0 && value <= 64) return static_cast<int32_t>(value);
  warn(host, "DL_CPU_DEVICES='%.60s' is no number from 0 to 64, so there is one device", text);
  return 1;
}

// A library that the user names and that cannot be had is told: products would be slow in silence.
void check_library_setting(const dl_host_t* host, const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr || path[0] == '\0' || std::strcmp(path, "off") == 0) return;
  if (const char* reason = why_not_loaded(path)) {
    warn(host,
         "%s='%.160s' %s, so the vendor's own kernels are used instead; name another one, or say "
         "off",
         variable, path, reason);
  }
}

// Whether the processor has the instructions that this library was compiled to.
bool processor_fits() {
#if defined(__x86_64__) && defined(__AVX512BW__)
  return __builtin_cpu_supports("x86-64-v4");
#elif defined(__x86_64__) && defined(__AVX2__)
  return __builtin_cpu_supports("x86-64-v3");
#else
  return true;
#endif
}

}  // namespace
}  // namespace dl::cpu

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  using namespace dl::cpu;
  return guarded([&]() -> dl_status_t* {
    if (!processor_fits()) {
      return make_status(DL_UNAVAILABLE, "this processor lacks instructions of " DL_CPU_ISA
                                         "; load the library of a lower level");
    }
    auto instance = std::make_unique<Instance>();
    instance->device_count = read_device_count(host);
    check_library_setting(host, "DL_CPU_ONEDNN");
    check_library_setting(host, "DL_CPU_OPENBLAS");
    instance->base.table = &kTable;
    instance->host = host;
    instance->operators = all_operators();
    *out = &instance.release()->base;
    return nullptr;
  });
}
