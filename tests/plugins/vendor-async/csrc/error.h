#ifndef DL_ASYNC_TEST_ERROR_H_
#define DL_ASYNC_TEST_ERROR_H_

#include <exception>
#include <stdexcept>
#include <string>

#include "dl/status.h"

namespace dl::async_test {

/** A failure with a contract code; becomes a status at the boundary. */
class Error : public std::runtime_error {
 public:
  /** `operation`: the failing call below this vendor, if there is one; a literal. */
  Error(dl_code_t code, const std::string& message, const char* operation = nullptr)
      : std::runtime_error(message), code_(code), operation_(operation) {}
  dl_code_t code() const { return code_; }
  const char* operation() const { return operation_; }

 private:
  dl_code_t code_;
  const char* operation_;
};

/** The status of the exception being handled; call it in a catch block only. Never throws: without
 * memory it is a shared out-of-memory status. */
dl_status_t* status_of_current_exception() noexcept;

/** Runs `body` and turns whatever it throws into a status. The host knows which slot it called:
 * messages do not repeat it. */
template <typename Body>
dl_status_t* guarded(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace dl::async_test

#endif
