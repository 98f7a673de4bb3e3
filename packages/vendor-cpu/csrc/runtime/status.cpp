#include "runtime/status.h"

#include <cstdlib>
#include <cstring>

namespace dl::cpu {
namespace {

struct Status {
  dl_status_t base;
  char text[1];  // as long as the message, in the same allocation
};

void release(dl_status_t* self) { std::free(self); }
void keep(dl_status_t*) {}

// Reported when there is no memory for a status of its own.
dl_status_t no_memory_status = {
    sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "out of host memory", nullptr, keep, nullptr};

}  // namespace

dl_status_t* make_status(dl_code_t code, const char* message, const char* operation) noexcept {
  const size_t length = std::strlen(message);
  auto* status = static_cast<Status*>(std::malloc(sizeof(Status) + length));
  if (status == nullptr) return &no_memory_status;
  std::memcpy(status->text, message, length + 1);
  status->base = {sizeof(dl_status_t), code, 0, status->text, operation, release, nullptr};
  return &status->base;
}

}  // namespace dl::cpu
