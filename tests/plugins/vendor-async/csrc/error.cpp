#include "error.h"

#include <memory>
#include <new>

namespace dl::async_test {
namespace {

struct OwnedStatus : dl_status_t {
  std::string text;
};

void release_owned(dl_status_t* self) { delete static_cast<OwnedStatus*>(self); }

void release_nothing(dl_status_t*) {}

dl_status_t* out_of_host_memory() noexcept {
  static dl_status_t status = {
      sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "no host memory is left", nullptr,
      release_nothing,     nullptr};
  return &status;
}

dl_status_t* make_status(dl_code_t code, const char* message, const char* operation) noexcept {
  try {
    auto status = std::make_unique<OwnedStatus>();
    status->text = message;
    status->struct_size = sizeof(dl_status_t);
    status->code = code;
    status->reserved = 0;
    status->message = status->text.c_str();
    status->operation = operation;
    status->release = release_owned;
    return status.release();
  } catch (...) {
    return out_of_host_memory();
  }
}

}  // namespace

dl_status_t* status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return make_status(error.code(), error.what(), error.operation());
  } catch (const std::bad_alloc&) {
    return out_of_host_memory();
  } catch (const std::exception& error) {
    return make_status(DL_ERROR, error.what(), nullptr);
  } catch (...) {
    return make_status(DL_ERROR, "an exception of unknown type was thrown", nullptr);
  }
}

}  // namespace dl::async_test
