// Reports an access beyond an allocation, or after its release, before it crashes the process.
#include <signal.h>
#include <ucontext.h>

#include "memory.h"
#include "watch.h"

namespace emulation {
namespace {

struct sigaction before;

const char* place_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const char*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const char*>(machine.pc);
#else
  (void)machine;
  return nullptr;
#endif
}

void handle(int, siginfo_t* info, void* context) {
  const char* const place = place_of(context);
  if (is_device_address(info->si_addr)) {
    // As if this were a return address.
    report("out-of-bounds", "an access beyond an allocation or after its release",
           place == nullptr ? nullptr : place + 1);
  }
  // The access is repeated with the original handler, which ends the process.
  sigaction(SIGSEGV, &before, nullptr);
}

}  // namespace

void expect_crashes() {
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
}

void expect_no_crashes() { sigaction(SIGSEGV, &before, nullptr); }

}  // namespace emulation
