// Implementation of dl/checked.h: a vendor table that wraps the table of a library.
#ifndef DL_CHECKED_HPP_
#define DL_CHECKED_HPP_

#include "dl/checked_extensions.hpp"
#include "dl/checked_table.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

inline dl_status_t* open(dl_vendor_entry_v1_t entry, const dl_host_t* host, dl_opened_t* opened) {
  *opened = {};
  return guarded([&]() -> dl_status_t* {
    if (const void* code = reinterpret_cast<const void*>(entry); !foreign::executable(code)) {
      std::snprintf(opened->defect, sizeof opened->defect, "is%s", not_code(code).c_str());
      return nullptr;
    }
    dl_vendor_t* made = nullptr;
    if (dl_status_t* status = take(entry(host, &made))) return status;
    const std::string broken = why_broken(made);
    if (!broken.empty()) {
      std::snprintf(opened->defect, sizeof opened->defect, "%s", broken.c_str());
      return nullptr;
    }
    opened->vendor = made;
    opened->checked = new Vendor(made);
    return nullptr;
  });
}

#pragma GCC visibility pop

}  // namespace dl::checked

#undef DL_CHECKED_REACHES
#undef DL_CHECKED_AS_IT_IS
#undef DL_CHECKED_OURS
#undef DL_CHECKED_LAST

#endif  // DL_CHECKED_HPP_
