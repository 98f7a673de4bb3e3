// CHECK(condition) prints what failed and makes the program, whose main is MAIN's body, fail.
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

// The code of a status, which is released, and what it said.
struct Said {
  int code = DL_OK;
  std::string message;
  std::string operation;
};
inline Said take(dl_status_t* status) {
  if (status == nullptr) return {};
  Said said{status->code, status->message, status->operation == nullptr ? "" : status->operation};
  status->release(status);
  return said;
}
inline bool says(const Said& said, const char* part) {
  return said.message.find(part) != std::string::npos;
}

// The Error that `body` throws; code DL_OK where it throws none.
template <class Body>
Said thrown(const Body& body) {
  return take(dl::kit::guarded(body));
}

#endif  // DL_KIT_CHECK_H_
