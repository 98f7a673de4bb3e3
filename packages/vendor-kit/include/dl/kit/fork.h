// Neither threads nor drivers survive a fork: in a child, an instance that its parent used is dead.
#ifndef DL_KIT_FORK_H_
#define DL_KIT_FORK_H_

#include <unistd.h>

#include <atomic>
#include <string>

#include "dl/kit/status.h"

DL_KIT_BEGIN

// A base of vendors that use a driver. The table (table.h) calls `enter` before each slot that may
// touch it, and leaves an inherited instance alone when the host destroys it.
class ForkGuard {
 public:
  // Notes that this process uses the driver. Throws Error(DL_UNAVAILABLE) if the parent did, before
  // the fork.
  void enter() {
    const pid_t here = getpid();
    pid_t user = 0;
    if (user_.compare_exchange_strong(user, here) || user == here) return;
    throw Error(DL_UNAVAILABLE, "process " + std::to_string(here) + " was forked from " +
                                    std::to_string(user) +
                                    " after that had used the device; start it with the 'spawn' "
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
