// Trial of a library in two processes: the child loads it; the parent never calls the library,
// observes how the child ends, and cleans up.
#include "dl/trial.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "trial/library.h"

namespace dl::trial {
namespace {

// Some libraries close all low file descriptors, so the report uses a high one.
constexpr int kHighDescriptor = 100;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

sigset_t end_of_child() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Resets signal dispositions and masks that were inherited from the caller. SIGPIPE stays ignored,
// as in Python.
void reset_signals() {
  struct sigaction action{};
  for (int number = 1; number < NSIG; ++number) {
    action.sa_handler = number == SIGPIPE ? SIG_IGN : SIG_DFL;
    sigaction(number, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::string ending(const char* how, int code) {
  return "{\"end\": \"" + std::string(how) + "\", \"code\": " + std::to_string(code) + "}";
}

// Waits for the child and returns the line that reports how it ended. SIGCHLD is blocked, so that
// sigtimedwait can wait for it.
std::string wait_for(pid_t child, double seconds) {
  const double deadline = now() + seconds;
  const sigset_t ended = end_of_child();
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFSIGNALED(status) ? ending("signal", WTERMSIG(status))
                                 : ending("exit", WEXITSTATUS(status));
    }
    const double left = deadline - now();
    if (left <= 0) return ending("timeout", 0);
    const auto whole = static_cast<time_t>(left);
    const timespec time = {whole, static_cast<long>((left - static_cast<double>(whole)) * 1e9)};
    sigtimedwait(&ended, nullptr, &time);
  }
}

// Returns the child processes, which include orphaned descendants: this process is a subreaper.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    for (int pid = 0; std::fscanf(file, "%d", &pid) == 1;) found.push_back(pid);
    std::fclose(file);
  }
  return found;
}

// Kills the child and all processes that the library has started.
void kill_descendants() {
  const timespec pause = {0, 1'000'000};
  for (const double deadline = now() + 2; now() < deadline;) {
    for (const pid_t pid : children()) kill(pid, SIGKILL);
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) return;
    if (ended == 0) nanosleep(&pause, nullptr);
  }
}

void run(const dl_trial_request_t& request, int descriptor) {
  const Report report(descriptor);
  const sigset_t ended = end_of_child();
  sigprocmask(SIG_BLOCK, &ended, nullptr);
  const pid_t child = fork();
  if (child < 0) return report.line(ending("error", errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_UNBLOCK, &ended, nullptr);
    try_library(request, Report(descriptor));
  }
  const std::string end = wait_for(child, request.seconds);
  kill_descendants();
  report.line(end);
}

}  // namespace
}  // namespace dl::trial

extern "C" DL_EXPORT void dl_trial(const dl_trial_request_t* request) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != request->waiting) _exit(0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dl::trial::reset_signals();
  const int high = fcntl(request->report, F_DUPFD_CLOEXEC, dl::trial::kHighDescriptor);
  if (high >= 0) close(request->report);
  dl::trial::run(*request, high >= 0 ? high : request->report);
}
