// Entry point of the CPU vendor, and the checks when it is opened.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "dl_kernels/operators.h"
#include "library/find.h"
#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

template <typename... Args>
void warn(const dl_host_t* host, const char* pattern, Args... args) {
  if (!DL_HAS_FIELD(host, dl_host_t, log) || host->log == nullptr) return;
  char message[320];
  std::snprintf(message, sizeof(message), pattern, args...);
  host->log(host, DL_LOG_WARNING, message);
}

// Read DL_CPU_DEVICES: the number of devices to show, for tests of code for several devices.
int32_t read_device_count(const dl_host_t* host) {
  const char* text = std::getenv("DL_CPU_DEVICES");
  if (text == nullptr || text[0] == '\0') return 1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end == '\0' && value >= 0 && value <= 64) return static_cast<int32_t>(value);
  warn(host, "DL_CPU_DEVICES='%.60s' is not a number from 0 to 64, so there is one device", text);
  return 1;
}

// Warn if a library that the user names cannot be loaded: products would be slow silently.
void check_library_setting(const dl_host_t* host, const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr || path[0] == '\0' || std::strcmp(path, "off") == 0) return;
  if (const char* reason = why_not_loadable(path)) {
    warn(host,
         "%s='%.160s' %s, so the vendor's own kernels are used instead; name another library, or "
         "set "
         "off",
         variable, path, reason);
  }
}

// Return true if the processor has the instruction set that this library was compiled for.
bool processor_fits() {
#if defined(__x86_64__) && defined(__AVX512BW__)
  return __builtin_cpu_supports("x86-64-v4");
#elif defined(__x86_64__) && defined(__AVX2__)
  return __builtin_cpu_supports("x86-64-v3");
#elif defined(__ARM_FEATURE_SVE) && defined(__ARM_FEATURE_BF16)
  return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 && (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#else
  return true;
#endif
}

// Throws if the library was compiled for another processor.
const dl_host_t* checked(const dl_host_t* host) {
  if (!processor_fits())
    throw kit::Error(DL_UNAVAILABLE, "this processor lacks instructions of " DL_CPU_ISA
                                     "; load the library of a lower level");
  return host;
}

}  // namespace

Vendor::Vendor(const dl_host_t* host) : device_count_(read_device_count(checked(host))) {
  check_library_setting(host, "DL_CPU_ONEDNN");
  check_library_setting(host, "DL_CPU_OPENBLAS");
}

kit::Operators Vendor::operators() {
  const kernels::OperatorList list = kernels::operators();
  return {list.data, list.count};
}

}  // namespace dl::cpu

DL_KIT_VENDOR(dl::cpu::Vendor)
