// Fork detection: threads and drivers do not survive a fork, so in a child process an instance that
// its parent used cannot be used.
#ifndef DL_KIT_FORK_H_
#define DL_KIT_FORK_H_

#include <unistd.h>

#include <atomic>
#include <string>

#include "dl/kit/status.h"

DL_KIT_BEGIN

// Base class of vendors that use a driver. The table (table.h) calls `enter` before each slot that
// may touch the driver, and frees nothing when the host destroys an inherited instance.
class ForkGuard {
 public:
  // Records that this process uses the driver. Throws Error(DL_UNAVAILABLE) if its parent process
  // did so before the fork.
  void enter() {
    const pid_t here = getpid();
    pid_t user = 0;
    if (user_.compare_exchange_strong(user, here) || user == here) return;
    throw Error(DL_UNAVAILABLE,
                "process " + std::to_string(here) + " was forked from " + std::to_string(user) +
                    " after the parent had used the device; start it with the 'spawn' "
                    "or 'forkserver' method instead");
  }

  bool inherited_by_fork() const {
    const pid_t user = user_.load();
    return user != 0 && user != getpid();
  }

 private:
  std::atomic<pid_t> user_{0};
};

DL_KIT_END

#endif  // DL_KIT_FORK_H_
