// Conversion of a library's statuses into our own; part of dl/checked.hpp.
#ifndef DL_CHECKED_STATUS_HPP_
#define DL_CHECKED_STATUS_HPP_

#include <cinttypes>
#include <exception>
#include <memory>
#include <new>

#include "dl/checked.h"
#include "dl/foreign_code.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

inline constexpr int32_t kMostDevices = 4096;
inline constexpr uint64_t kMostOperators = 1 << 16;
inline constexpr uint64_t kLongestStruct = 1 << 16;
inline constexpr uint64_t kMostPadding = 1 << 16;
inline constexpr uint64_t kLongestId = 1 << 20;
inline constexpr int kLongestChain = 64;
inline constexpr size_t kLongestDetails = size_t{1} << 16;
inline constexpr uintptr_t kAlignment = 64;

// True if a struct of `size` bytes contains `field`; the whole struct must be readable.
#define DL_CHECKED_REACHES(size, type, field) \
  ((size) >= offsetof(type, field) + sizeof(static_cast<type*>(nullptr)->field))

// A status that owns its strings.
struct Status : dl_status_t {
  std::string message_text;
  std::string operation_text;
  std::string details_text;
};

inline dl_status_t* make_status(int32_t code, std::string message, std::string operation = {},
                                std::string details = {}) {
  static dl_status_t no_memory = {
      sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "no memory for an error", nullptr,
      [](dl_status_t*) {}, nullptr};
  auto* status = new (std::nothrow) Status;
  if (status == nullptr) return &no_memory;
  status->message_text = std::move(message);
  status->operation_text = std::move(operation);
  status->details_text = std::move(details);
  status->struct_size = sizeof(dl_status_t);
  status->code = code;
  status->reserved = 0;
  status->message = status->message_text.c_str();
  status->operation = status->operation_text.empty() ? nullptr : status->operation_text.c_str();
  status->release = [](dl_status_t* self) { delete static_cast<Status*>(self); };
  status->details = status->details_text.empty() ? nullptr : status->details_text.c_str();
  return status;
}

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// Status for a violation of the contract. The message names the vendor as the cause, so that users
// do not search for the fault in torch or in the host.
inline dl_status_t* defect(std::string what) {
  return make_status(DL_ERROR, std::move(what) + "; that is a defect of the vendor");
}

template <typename Function>
bool callable(Function* function) {
  return foreign::executable(reinterpret_cast<const void*>(function));
}

// Turns a foreign status into one of our own and releases it.
inline dl_status_t* take(dl_status_t* foreign) {
  if (foreign == nullptr) return nullptr;
  const void* address = foreign;
  if (!foreign::readable(foreign, sizeof(foreign->struct_size)))
    return defect(
        format("it failed with a status at %p, which is not memory of this process", address));
  const uint64_t size = foreign->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_status_t, code) || size > kLongestStruct ||
      !foreign::readable(foreign, size))
    return defect(format("it failed with a status of %" PRIu64 " bytes", size));
  std::string message, operation, details;
  if (DL_CHECKED_REACHES(size, dl_status_t, message))
    message = foreign::read_text(foreign->message);
  if (DL_CHECKED_REACHES(size, dl_status_t, operation))
    operation = foreign::read_text(foreign->operation);
  if (DL_CHECKED_REACHES(size, dl_status_t, details))
    details = foreign::read_lines(foreign->details, kLongestDetails);
  // A status with the code of success is an error nevertheless.
  const int32_t code = foreign->code == DL_OK ? int32_t{DL_ERROR} : foreign->code;
  if (message.empty()) message = format("it failed with code %d and gave no reason", code);
  dl_status_t* own =
      make_status(code, std::move(message), std::move(operation), std::move(details));
  if (DL_CHECKED_REACHES(size, dl_status_t, release) && callable(foreign->release))
    foreign->release(foreign);
  return own;
}

// Calls into the library and converts a C++ exception to a status: none may cross the C interface.
template <typename Call>
dl_status_t* guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    return defect("it threw an exception: " + foreign::read_text(error.what()));
  } catch (...) {
    return defect("it threw an exception that is not a std::exception");
  }
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_STATUS_HPP_
