#include "runtime/trial.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "dl/vendor.h"
#include "runtime/host.h"
#include "runtime/legacy.h"

namespace dl::core {
namespace {

constexpr int kLoads = 0;
constexpr int kRefused = 1;

// Runs in the child. Only the library's constructors and its entry symbol: nothing that starts a
// driver.
[[noreturn]] void load_and_leave(const std::string& library, bool legacy) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(number, SIG_DFL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) _exit(kRefused);
  if (!legacy) {
    const auto entry = reinterpret_cast<dl_vendor_entry_v1_t>(dlsym(handle, "dl_vendor_v1"));
    dl_vendor_t* instance = nullptr;
    if (entry != nullptr) entry(host_table(), &instance);
  }
  _exit(kLoads);
}

bool wait_until(pid_t child, double seconds, int* status) {
  const timespec pause = {0, 1'000'000};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double deadline = static_cast<double>(now.tv_sec) + now.tv_nsec * 1e-9 + seconds;
  while (true) {
    const pid_t done = waitpid(child, status, WNOHANG);
    if (done == child) return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (done < 0 || static_cast<double>(now.tv_sec) + now.tv_nsec * 1e-9 > deadline) return false;
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

std::string trial_load(const std::string& library, bool legacy, double timeout_seconds) {
  if (legacy) preload_legacy_runtime();
  const pid_t child = fork();
  if (child < 0) return {};  // no process to spare: the load itself will tell
  if (child == 0) load_and_leave(library, legacy);
  int status = 0;
  if (!wait_until(child, timeout_seconds, &status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return "loading it takes longer than " + std::to_string(static_cast<int>(timeout_seconds)) +
           " seconds";
  }
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "it crashes with SIG" + std::string(name != nullptr ? name : "?") +
           " while being loaded";
  }
  // A library that the loader refuses fails again in the real load, which has the loader's own
  // message.
  return {};
}

}  // namespace dl::core
