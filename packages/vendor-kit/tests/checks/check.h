// CHECK(condition) prints a failed condition and makes the program, whose main is MAIN's body,
// fail.
#ifndef DL_KIT_CHECK_H_
#define DL_KIT_CHECK_H_

#include <cstdio>
#include <string>

#include "dl/kit/status.h"

inline int failures = 0;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ++failures;                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                      \
  } while (false)

#define MAIN                      \
  static void run_checks();       \
  int main() {                    \
    run_checks();                 \
    return failures == 0 ? 0 : 1; \
  }                               \
  static void run_checks()

// Copy of a status, which is released.
struct StatusInfo {
  int code = DL_OK;
  std::string message;
  std::string operation;
};
inline StatusInfo take(dl_status_t* status) {
  if (status == nullptr) return {};
  StatusInfo info{status->code, status->message,
                  status->operation == nullptr ? "" : status->operation};
  status->release(status);
  return info;
}
inline bool mentions(const StatusInfo& status, const char* part) {
  return status.message.find(part) != std::string::npos;
}

// Returns the Error that `body` throws; code DL_OK if it does not throw.
template <class Body>
StatusInfo thrown(const Body& body) {
  return take(dl::kit::guarded(body));
}

#endif  // DL_KIT_CHECK_H_
