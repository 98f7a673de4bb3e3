#ifndef DL_ASYNC_TEST_SIGNALS_H_
#define DL_ASYNC_TEST_SIGNALS_H_

#include <pthread.h>
#include <signal.h>

namespace dl::async_test {

/** Blocks asynchronous signals within a scope, so that a thread started in it leaves them to the
 * host's threads. */
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace dl::async_test

#endif
