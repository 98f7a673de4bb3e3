// The driver of this process and the devices that this library supports. They belong to the
// process, like HIP's devices, and all hosts share them.
#ifndef DL_ROCM_RUNTIME_DRIVER_H_
#define DL_ROCM_RUNTIME_DRIVER_H_

#include <mutex>
#include <string>
#include <vector>

#include "dl/kit/hip_driver.h"

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

class Devices {
 public:
  static Devices& here();

  // Initializes the driver if necessary and counts the devices that this library has code for.
  // Throws kit::Error with DL_UNAVAILABLE if the driver is unusable or supports none of the GPUs.
  driver::Code count(int* count);

  // HIP's number of a device that exists, given by the host's index.
  int device(int index);
  // The host's index of HIP's device; -1 if there is none.
  int index_of(int device);

 private:
  driver::Code start();
  void find_usable(int found);

  std::mutex mutex_;
  bool started_ = false;
  std::vector<int> devices_;
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_DRIVER_H_
