// The constants extension (dl/constants.h) over the packed constants of library/.
#include "dl/constants.h"

#include "dl/kit/extension.h"
#include "extensions/extensions.h"
#include "library/constants.h"
#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

std::string text_of(const void* memory, uint64_t bytes) {
  return std::to_string(bytes) + " bytes at " + std::to_string(reinterpret_cast<uintptr_t>(memory));
}

dl_status_t* declare(dl_vendor_t* vendor, int32_t device, const void* memory,
                     uint64_t bytes) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (memory == nullptr || bytes == 0)
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "a constant of " + text_of(memory, bytes) + " is empty or at NULL");
    constants::declare(memory, bytes);
  });
}

dl_status_t* forget(dl_vendor_t* vendor, int32_t device, const void* memory,
                    uint64_t bytes) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (!constants::forget(memory, bytes))
      throw kit::Error(DL_INVALID_ARGUMENT, "a constant of " + text_of(memory, bytes) +
                                                " was not declared, or has been forgotten");
  });
}

dl_status_t* use(dl_vendor_t* vendor, int32_t device, int32_t on) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) { constants::in_use = on != 0; });
}

dl_status_t* statistics(dl_vendor_t* vendor, int32_t device,
                        dl_constants_statistics_t* statistics) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    const constants::Statistics found = constants::statistics();
    dl_constants_statistics_t all{};
    all.ranges = found.ranges;
    all.bytes = found.bytes;
    all.kept = found.kept;
    all.kept_bytes = found.kept_bytes;
    kit::fill(statistics, all);
  });
}

}  // namespace

dl_constants_extension_t constants_extension = {
    sizeof(dl_constants_extension_t), DL_EXT_CONSTANTS, nullptr, declare, forget, use, statistics,
};

}  // namespace dl::cpu
