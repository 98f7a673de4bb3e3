// Error objects of the vendor table.
#ifndef DL_CPU_RUNTIME_STATUS_H_
#define DL_CPU_RUNTIME_STATUS_H_

#include <exception>
#include <new>

#include "dl/status.h"

namespace dl::cpu {

// A status with a copy of `message`. `operation` must be a literal or null.
dl_status_t* make_status(dl_code_t code, const char* message,
                         const char* operation = nullptr) noexcept;

// Runs `body`, which returns a status, and turns exceptions into one: nothing may leave the
// library.
template <class F>
dl_status_t* guarded(const F& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return make_status(DL_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return make_status(DL_ERROR, error.what());
  } catch (...) {
    return make_status(DL_ERROR, "an exception that is not a std::exception");
  }
}

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_STATUS_H_
