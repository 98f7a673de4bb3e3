// One bit that any thread of a kernel may set and that the host reads afterwards.
#ifndef DL_KERNELS_PARALLEL_FLAG_H_
#define DL_KERNELS_PARALLEL_FLAG_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

class Flag {
 public:
  explicit Flag(const Launch& launch) : launch_(launch), memory_(launch, 1) {
    clear_bytes(launch_, memory_.data(), sizeof(bool));
  }

  // The argument of raise_flag.
  bool* data() const { return memory_.data(); }

  // Waits for the device.
  bool raised() const { return fetch(launch_, memory_.data()); }

 private:
  Launch launch_;
  Workspace<bool> memory_;
};

// Several threads may raise it at the same time.
DL_FN void raise_flag(bool* flag) { store_relaxed(flag, true); }

// Return true if another thread has raised the flag and this is already visible.
DL_FN bool is_raised(const bool* flag) { return load_relaxed(flag); }

DL_KERNELS_END

#endif  // DL_KERNELS_PARALLEL_FLAG_H_
