// Name of the library that served a call with an operator that it adds to a vendor's, for profiles
// and messages. dl/added_layer.h describes the layer that calls such libraries.
#pragma once

#include "dl/vendor.h"

namespace dl::core {

using ServedBy = const char* (*)(const dl_vendor_t* vendor, const char* operator_name);
// Sets dl_added_served of libdl_host.so; until then all operators are the vendors' own.
void set_served_by(ServedBy function);

// Returns the library that served this thread's last call of an operator on a device; NULL if the
// vendor did. Static.
const char* added_by(int index, const char* contract_name);

}  // namespace dl::core
