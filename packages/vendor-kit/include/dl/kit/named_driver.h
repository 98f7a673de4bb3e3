// A driver library that the user selects instead of the system's, through an environment variable:
// a simulator, or one of several installed drivers.
//
//   static const dl::kit::NamedDriver named("DL_ROCM_DRIVER");
//   dl::kit::HipDriver driver(named.or_else({"libamdhip64.so.7"}));
#ifndef DL_KIT_NAMED_DRIVER_H_
#define DL_KIT_NAMED_DRIVER_H_

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/presence.h"
#include "dl/kit/status.h"
#include "dl/trust.hpp"

DL_KIT_BEGIN

class NamedDriver {
 public:
  explicit NamedDriver(std::string variable) : variable_(std::move(variable)) {
    const char* path = std::getenv(variable_.c_str());
    path_ = path == nullptr ? "" : path;
  }

  bool is_given() const { return !path_.empty(); }

  // Why the library cannot be loaded, with the remedy; empty if it can be, or if none is named.
  std::string why_not() const {
    if (!is_given()) return {};
    const std::string shown = variable_ + "='" + path_.substr(0, 200) + "' ";
    if (path_[0] != '/') return shown + "is not an absolute path; set one, or unset the variable";
    if (!any_path({path_}))
      return shown + "does not exist; set another driver, or unset the variable";
    if (!Installation(own_folder()).trusts(path_))
      return shown +
             "is not loaded, because other users could have put it there; use a driver in a folder "
             "that only you can write to";
    return {};
  }

  // Names for a Library. Throws Error(DL_UNAVAILABLE) with `why_not`.
  std::vector<std::string> or_else(std::vector<std::string> names) const {
    if (!is_given()) return names;
    const std::string reason = why_not();
    if (!reason.empty()) throw Error(DL_UNAVAILABLE, reason);
    return {path_};
  }

 private:
  const std::string variable_;
  std::string path_;
};

DL_KIT_END

#endif  // DL_KIT_NAMED_DRIVER_H_
