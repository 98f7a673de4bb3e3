// Errors of the extensions: exceptions inside, statuses at the border, with a compiler's log where
// there is one.
#ifndef DL_CPU_EXTENSIONS_ERROR_H_
#define DL_CPU_EXTENSIONS_ERROR_H_

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "dl/status.h"

namespace dl::cpu {

class Error : public std::runtime_error {
 public:
  Error(dl_code_t code, const std::string& message, std::string details = {})
      : std::runtime_error(message), code_(code), details_(std::move(details)) {}
  dl_code_t code() const { return code_; }
  const std::string& details() const { return details_; }

 private:
  dl_code_t code_;
  std::string details_;
};

inline dl_status_t* status_of(dl_code_t code, const char* message, const std::string& details) {
  struct Owned : dl_status_t {
    std::string message_text, details_text;
  };
  auto status = std::make_unique<Owned>();
  status->message_text = message;
  status->details_text = details;
  status->struct_size = sizeof(dl_status_t);
  status->code = code;
  status->reserved = 0;
  status->message = status->message_text.c_str();
  status->operation = nullptr;
  status->release = [](dl_status_t* self) { delete static_cast<Owned*>(self); };
  status->details = details.empty() ? nullptr : status->details_text.c_str();
  return status.release();
}

// Runs `body` and turns what it throws into a status; NULL where it throws nothing.
template <class Body>
dl_status_t* as_status(const Body& body) noexcept {
  static dl_status_t no_memory = {
      sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "out of host memory", nullptr,
      [](dl_status_t*) {}, nullptr};
  try {
    try {
      body();
      return nullptr;
    } catch (const Error& error) {
      return status_of(error.code(), error.what(), error.details());
    } catch (const std::bad_alloc&) {
      return &no_memory;
    } catch (const std::exception& error) {
      return status_of(DL_ERROR, error.what(), {});
    }
  } catch (...) {
    return &no_memory;
  }
}

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_ERROR_H_
