#include "trial/crash.h"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <csignal>
#include <cstring>

namespace dl::trial {
namespace {

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
// Alternate signal stack, for crashes by stack overflow.
constexpr size_t kStackBytes = 1 << 16;
alignas(16) char stack[kStackBytes];
const Report* report_to = nullptr;

// Returns the file that contains an address; null for the dynamic loader, the C and C++ libraries
// and this library, because their crashes are caused by callers.
const char* file_of(void* address) {
  Dl_info info{}, own{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  if (dladdr(reinterpret_cast<void*>(&file_of), &own) != 0 && info.dli_fbase == own.dli_fbase)
    return nullptr;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* name = slash == nullptr ? info.dli_fname : slash + 1;
  for (const char* helper : {"ld-", "libc.", "libpthread", "libgcc_s", "libstdc++"})
    if (std::strncmp(name, helper, std::strlen(helper)) == 0) return nullptr;
  return slash == nullptr ? nullptr : info.dli_fname;
}

_Unwind_Reason_Code find_file(_Unwind_Context* context, void* found) {
  const auto address = reinterpret_cast<void*>(_Unwind_GetIP(context));
  const char* file = file_of(address);
  if (file == nullptr) return _URC_NO_REASON;
  *static_cast<const char**>(found) = file;
  return _URC_END_OF_STACK;
}

// Signal handler. Its calls are not async-signal-safe, but the process ends anyway, and the parent
// kills it if it hangs here.
void crashed(int number) {
  std::signal(number, SIG_DFL);
  const char* file = nullptr;
  _Unwind_Backtrace(find_file, &file);
  if (file != nullptr && foreign::printable(file) == file) report_to->text("crashed_in", file);
  raise(number);
}

_Unwind_Reason_Code stop(_Unwind_Context*, void*) { return _URC_END_OF_STACK; }

}  // namespace

void report_crashes(const Report& report) {
  report_to = &report;
  // The first use allocates memory, which may be impossible after a crash.
  _Unwind_Backtrace(stop, nullptr);
  const stack_t alternative = {stack, 0, kStackBytes};
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int number : kCrashes) sigaction(number, &action, nullptr);
}

}  // namespace dl::trial
