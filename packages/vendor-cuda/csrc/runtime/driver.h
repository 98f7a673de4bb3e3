// The driver of this process and the cards that it has for this library. They are of the process,
// as the driver's own contexts are: all hosts share them.
#ifndef DL_CUDA_RUNTIME_DRIVER_H_
#define DL_CUDA_RUNTIME_DRIVER_H_

#include <mutex>
#include <string>
#include <vector>

#include "dl/kit/cuda_driver.h"

namespace dl::cuda {

namespace driver = kit::cuda;

// libcuda.so.1, or what DL_CUDA_DRIVER names by an absolute path: opened when it is first called.
// Throws kit::Error where the variable holds anything else.
kit::CudaDriver& the_driver();

// Whether DL_CUDA_DRIVER names another one.
bool names_driver();

// Why there is no driver, or no card, found out without touching either, with the way out; empty
// where both seem to be there.
std::string absence();

class Cards {
 public:
  static Cards& here();

  // Starts the driver if need be, and counts the cards that this library has code for. Throws
  // kit::Error with DL_UNAVAILABLE where the driver is of no use, or all cards are too old.
  driver::Code count(int* count);

  // By the number that hosts know a card by, which must be there: the driver's own number, and the
  // card's primary context, made on first use and kept.
  driver::Device device(int card);
  driver::Code context(int card, driver::Context* context);

  // The card whose context it is; -1 for none.
  int card_of(driver::Context context);

 private:
  struct Card {
    driver::Device device;
    driver::Context context = nullptr;
  };

  driver::Code start();
  void find_usable(int found);

  std::mutex mutex_;
  bool started_ = false;
  std::vector<Card> cards_;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_DRIVER_H_
