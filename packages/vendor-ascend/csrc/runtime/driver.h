// CANN's runtime in this process and its devices. They belong to the process, and all hosts share
// them.
#ifndef DL_ASCEND_RUNTIME_DRIVER_H_
#define DL_ASCEND_RUNTIME_DRIVER_H_

#include <string>

#include "runtime/acl_api.h"

namespace dl::ascend {

// libascendcl.so, or the library that DL_ASCEND_DRIVER names by an absolute path, opened on the
// first call. Throws kit::Error if the variable has another value.
acl::Driver& the_driver();

// Returns true if DL_ASCEND_DRIVER names a library.
bool names_driver();

// Returns why there is no driver or NPU, with the remedy, without touching either; empty if both
// seem to be present.
std::string absence();

// Initializes the runtime, on the first call, and counts the devices. Throws kit::Error with
// DL_UNAVAILABLE if the runtime is too old or does not initialize.
acl::Code count_devices(int* count);

// Returns "ACL_ERROR_RT_NO_DEVICE (207004)".
std::string code_name(acl::Code code);
// Returns the remedy for an error, as the end of a sentence; empty if unknown.
const char* remedy(acl::Code code);
// Takes the thread's error text from the runtime, which keeps it until it is taken; empty if there
// is none.
std::string take_error_text();
// Returns the name, text and remedy of an error, and takes its text.
std::string describe(acl::Code code);

}  // namespace dl::ascend

#endif  // DL_ASCEND_RUNTIME_DRIVER_H_
