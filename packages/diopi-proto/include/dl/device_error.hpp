// Formatting of the message of a raised dl_device_error_t.
#ifndef DL_DEVICE_ERROR_HPP_
#define DL_DEVICE_ERROR_HPP_

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "dl/device_error.h"

namespace dl {

#pragma GCC visibility push(hidden)

// Returns the text with its placeholders replaced. Unknown placeholders are left unchanged.
inline std::string device_error_text(const dl_device_error_t& error) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", error.number);
  const struct {
    std::string_view name;
    std::string shown;
  } fields[] = {{"{value}", std::to_string(error.value)},
                {"{position}", std::to_string(error.position)},
                {"{low}", std::to_string(error.low)},
                {"{high}", std::to_string(error.high)},
                {"{number}", digits}};
  std::string_view rest(error.text, strnlen(error.text, sizeof error.text));
  std::string text;
  while (!rest.empty()) {
    size_t taken = std::min(rest.find('{', 1), rest.size());
    std::string_view next = rest.substr(0, taken);
    for (const auto& [name, shown] : fields) {
      if (rest.substr(0, name.size()) != name) continue;
      taken = name.size();
      next = shown;
    }
    text += next;
    rest.remove_prefix(taken);
  }
  return text;
}

#pragma GCC visibility pop

}  // namespace dl

#endif  // DL_DEVICE_ERROR_HPP_
