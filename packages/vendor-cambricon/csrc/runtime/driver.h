// Cambricon's runtime in this process and its devices. They belong to the process, and all hosts
// share them.
#ifndef DL_CAMBRICON_RUNTIME_DRIVER_H_
#define DL_CAMBRICON_RUNTIME_DRIVER_H_

#include <string>
#include <vector>

#include "runtime/cnrt_api.h"

namespace dl::cambricon {

// Names of one of the SDK's libraries: in $NEUWARE_HOME/lib64, then as the loader finds it.
std::vector<std::string> library_names(const std::string& soname);
// $NEUWARE_HOME, or the folder where installers put the SDK.
std::string neuware_home();

// libcnrt.so, or the library that DL_CAMBRICON_DRIVER names by an absolute path, opened on the
// first call. Throws kit::Error if the variable has another value.
cnrt::Driver& the_driver();

// Returns why there is no driver or MLU, with the remedy, without touching either; empty if both
// seem to be present.
std::string absence();

// Counts the devices. Throws kit::Error with DL_UNAVAILABLE if the runtime lacks a function.
cnrt::Code count_devices(int* count);

// Returns the number, text and remedy of an error.
std::string describe(cnrt::Code code);

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_RUNTIME_DRIVER_H_
