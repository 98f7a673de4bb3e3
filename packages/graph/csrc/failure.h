// Exception with the reason why a graph is rejected or a run fails.
#pragma once

#include <stdexcept>
#include <string>

#include "dl/status.h"

namespace dl::graph {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& reason, int32_t code = DL_INVALID_ARGUMENT)
      : std::runtime_error(reason), code(code) {}
  int32_t code;
};

// Quotes foreign text for a message: shortened, without control characters.
inline std::string shown(const std::string& text) {
  std::string out = "'";
  for (const char c : text.substr(0, 80)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (text.size() > 80 ? "…'" : "'");
}

// Throws Failure if a status is not NULL, and releases it. `what` is the operation that failed.
inline void check(dl_status_t* status, const std::string& what) {
  if (status == nullptr) return;
  const std::string said = status->message == nullptr ? "no reason given" : status->message;
  const int32_t code = status->code;
  status->release(status);
  throw Failure(what + ": " + said, code);
}

}  // namespace dl::graph
