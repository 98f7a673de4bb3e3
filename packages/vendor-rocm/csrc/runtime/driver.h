// The driver of this process and the devices that this library supports. They belong to the
// process, like HIP's devices, and all hosts share them.
#ifndef DL_ROCM_RUNTIME_DRIVER_H_
#define DL_ROCM_RUNTIME_DRIVER_H_

#include <string>

#include "dl/kit/hip_driver.h"
#include "dl/kit/usable_devices.h"

namespace dl::rocm {

namespace driver = kit::hip;

// libamdhip64.so of ROCm 7, 6 or 5, or the library that DL_ROCM_DRIVER names by an absolute path,
// opened on the first call. Throws kit::Error if the variable has another value.
kit::HipDriver& the_driver();

// Returns true if DL_ROCM_DRIVER names a driver.
bool names_driver();

// Returns why there is no driver or GPU, with the remedy, without touching either; empty if both
// seem to be present.
std::string absence();

// HIP and this library's code, as dl/kit/usable_devices.h describes them.
struct Machine {
  using Driver = kit::HipDriver;
  using Device = int;
  static constexpr driver::Code kNoDevice = driver::kNoDevice;
  static constexpr const char* kName = "AMD's HIP runtime";
  static constexpr const char* kProbe = "rocminfo";
  static constexpr const char* kArchitectures = "DL_ROCM_ARCH";

  static Driver& driver() { return the_driver(); }
  static void check_version(Driver& found);
  static driver::Code init(Driver& found);
  static bool find(Driver&, int ordinal, int* device);
  static bool supports(Driver& found, int device);
  static std::string describe(Driver& found, int device);
  static const std::string& code();
};

class Devices : public kit::UsableDevices<Machine> {
 public:
  static Devices& here();
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_DRIVER_H_
