// The driver of this process and the devices that this library supports. They belong to the
// process, like the driver's contexts, and all hosts share them.
#ifndef DL_CUDA_RUNTIME_DRIVER_H_
#define DL_CUDA_RUNTIME_DRIVER_H_

#include <mutex>
#include <string>
#include <vector>

#include "dl/kit/cuda_driver.h"

namespace dl::cuda {

namespace driver = kit::cuda;

// libcuda.so.1, or the library that DL_CUDA_DRIVER names by an absolute path, opened on the first
// call. Throws kit::Error if the variable has another value.
kit::CudaDriver& the_driver();

// Returns true if DL_CUDA_DRIVER names a driver.
bool names_driver();

// Returns why there is no driver or GPU, with the remedy, without touching either; empty if both
// seem to be present.
std::string absence();

class Devices {
 public:
  static Devices& here();

  // Initializes the driver if necessary and counts the devices that this library has code for.
  // Throws kit::Error with DL_UNAVAILABLE if the driver is unusable or all GPUs are too old.
  driver::Code count(int* count);

  // The driver's number and the primary context, created on first use, of a device that exists,
  // given by the host's index.
  driver::Device device(int index);
  driver::Code context(int index, driver::Context* context);

  // The host's index of the device that a context belongs to; -1 if there is none.
  int index_of(driver::Context context);

 private:
  struct Entry {
    driver::Device device;
    driver::Context context = nullptr;
  };

  driver::Code start();
  void find_usable(int found);

  std::mutex mutex_;
  bool started_ = false;
  std::vector<Entry> devices_;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_DRIVER_H_
