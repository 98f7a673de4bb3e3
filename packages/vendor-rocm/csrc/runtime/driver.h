// The driver of this process and the cards that it has for this library. They are of the process,
// as HIP's devices are: all hosts share them.
#ifndef DL_ROCM_RUNTIME_DRIVER_H_
#define DL_ROCM_RUNTIME_DRIVER_H_

#include <mutex>
#include <string>
#include <vector>

#include "dl/kit/hip_driver.h"

namespace dl::rocm {

namespace driver = kit::hip;

// libamdhip64.so of ROCm 7, 6 or 5, or what DL_ROCM_DRIVER names by an absolute path: opened when
// it is first called. Throws kit::Error where the variable holds anything else.
kit::HipDriver& the_driver();

// Whether DL_ROCM_DRIVER names another one.
bool names_driver();

// Why there is no driver, or no card, found out without touching either, with the way out; empty
// where both seem to be there.
std::string absence();

class Cards {
 public:
  static Cards& here();

  // Starts the driver if need be, and counts the cards that this library has code for. Throws
  // kit::Error with DL_UNAVAILABLE where the driver is of no use, or has only other cards.
  driver::Code count(int* count);

  // Of the number that hosts know a card by, which must be there: HIP's own number.
  int device(int card);
  // The card of HIP's number; -1 for none.
  int card_of(int device);

 private:
  driver::Code start();
  void find_usable(int found);

  std::mutex mutex_;
  bool started_ = false;
  std::vector<int> devices_;
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_DRIVER_H_
