// Options of compilers that are let through: those that say what code is made, and nothing else.
#ifndef DL_KIT_COMPILER_OPTIONS_H_
#define DL_KIT_COMPILER_OPTIONS_H_

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// Whether it defines a macro, or is among those that are allowed, with one dash or two: "lineinfo"
// is that word, with or without "=…"; "fmad=" and "diag-" are whatever begins so.
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
