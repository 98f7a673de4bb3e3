// Compiler options that may be passed on: those that only affect the generated code.
#ifndef DL_KIT_COMPILER_OPTIONS_H_
#define DL_KIT_COMPILER_OPTIONS_H_

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// Returns true if the option defines a macro or matches an allowed one, with one dash or two:
// "lineinfo" matches that word with or without "=…"; "fmad=" and "diag-" match as prefixes.
inline bool allows_option(const std::vector<const char*>& allowed, const std::string& option) {
  if (option.size() > 2 && option[0] == '-' && (option[1] == 'D' || option[1] == 'U')) return true;
  const size_t begin = option.find_first_not_of('-');
  if (begin == 0 || begin == std::string::npos || begin > 2) return false;
  const std::string rest = option.substr(begin);
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& one) {
    const bool whole = std::isalnum(static_cast<unsigned char>(one.back())) != 0;
    return whole ? rest == one || rest.rfind(one + "=", 0) == 0 : rest.rfind(one, 0) == 0;
  });
}

DL_KIT_END

#endif  // DL_KIT_COMPILER_OPTIONS_H_
