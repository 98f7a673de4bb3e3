// Error handling: exceptions inside a vendor become statuses of the contract at its boundary.
//
//   dl_status_t* device_synchronize(dl_vendor_t*, int32_t) {
//     return dl::kit::guarded([&] { throw dl::kit::Error(DL_UNAVAILABLE, "the cable is out"); });
//   }
#ifndef DL_KIT_STATUS_H_
#define DL_KIT_STATUS_H_

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "dl/kit/base.h"
#include "dl/status.h"

DL_KIT_BEGIN

// A failure with a code of the contract. `operation` is the failing call below the vendor, if any:
// a literal, because it outlives the exception. `details` are lines, such as a compiler's log.
class Error : public std::runtime_error {
 public:
  Error(dl_code_t code, const std::string& message, const char* operation = nullptr,
        std::string details = {})
      : std::runtime_error(message),
        code_(code),
        operation_(operation),
        details_(std::move(details)) {}
  dl_code_t code() const { return code_; }
  const char* operation() const { return operation_; }
  const std::string& details() const { return details_; }

 private:
  dl_code_t code_;
  const char* operation_;
  std::string details_;
};

// Returns a status with a copy of `message`. Never fails: without memory it returns a shared
// out-of-memory status.
inline dl_status_t* make_status(dl_code_t code, const char* message,
                                const char* operation = nullptr,
                                const char* details = "") noexcept {
  struct Owned : dl_status_t {
    Owned() : dl_status_t{} {}
    std::string text, details_text;
  };
  static dl_status_t no_memory = [] {
    dl_status_t status{};
    status.struct_size = sizeof status;
    status.code = DL_OUT_OF_MEMORY;
    status.message = "no host memory is left";
    status.release = [](dl_status_t*) {};
    return status;
  }();
  try {
    auto status = std::make_unique<Owned>();
    status->text = message;
    status->struct_size = sizeof(dl_status_t);
    status->code = code;
    status->message = status->text.c_str();
    status->operation = operation;
    status->release = [](dl_status_t* self) { delete static_cast<Owned*>(self); };
    status->details_text = details;
    status->details = *details == '\0' ? nullptr : status->details_text.c_str();
    return status.release();
  } catch (...) {
    return &no_memory;
  }
}

// Returns the status of the current exception; call it only in a catch block.
[[gnu::cold]] inline dl_status_t* status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return make_status(error.code(), error.what(), error.operation(), error.details().c_str());
  } catch (const std::bad_alloc&) {
    return make_status(DL_OUT_OF_MEMORY, "no host memory is left");
  } catch (const std::exception& error) {
    return make_status(DL_ERROR, error.what());
  } catch (...) {
    return make_status(DL_ERROR, "an exception that is not a std::exception");
  }
}

// Runs `body` and converts an exception to a status; returns NULL if it does not throw. The host
// knows which slot it called, so messages need not name it.
template <class Body>
dl_status_t* guarded(const Body& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return status_of_exception();
  }
}

DL_KIT_END

#endif  // DL_KIT_STATUS_H_
