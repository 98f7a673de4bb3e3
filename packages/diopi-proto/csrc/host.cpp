// libdl_host.so: the functions of dl/checked.h, for hosts that are not written in C++.
#include "dl/checked.hpp"

extern "C" {

DL_EXPORT dl_status_t* dl_checked_open(dl_vendor_entry_v1_t entry, const dl_host_t* host,
                                       dl_opened_t* opened) {
  return dl::checked::open(entry, host, opened);
}

DL_EXPORT uint64_t dl_checked_text(const char* text, char* out, uint64_t size) {
  if (size == 0) return 0;
  out[0] = '\0';
  try {
    const std::string shown = dl::foreign::read_text(text, size - 1);
    std::memcpy(out, shown.c_str(), shown.size() + 1);
    return shown.size();
  } catch (...) {
    return 0;
  }
}
}
