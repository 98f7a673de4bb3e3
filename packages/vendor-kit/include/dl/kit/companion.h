// Optional libraries that other wheels provide: compilers, collectives, matrix products. If one is
// missing, the error says what to install.
//
//   const dl::kit::Companion kNvrtc{"DL_CUDA_NVRTC", {"nvidia/cu13/lib/libnvrtc.so.13"},
//                                   {"libnvrtc.so.13"}, "pip install nvidia-cuda-nvrtc"};
//   dl::kit::Library library(kNvrtc.names(), "NVRTC", kNvrtc.remedy());
#ifndef DL_KIT_COMPANION_H_
#define DL_KIT_COMPANION_H_

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/presence.h"
#include "dl/trust.hpp"

DL_KIT_BEGIN

struct Companion {
  const char* variable;  // selects another library by absolute path; "off" disables it
  std::vector<std::string> wheel_paths;   // paths in wheels, relative to site-packages
  std::vector<std::string> system_names;  // sonames and absolute paths of the system
  const char* install;                    // "pip install nvidia-nccl-cu13"

  // Names to open, the preferred one first: only files that other users cannot have planted. Empty
  // if the user disabled the library or named one that must not be loaded.
  std::vector<std::string> names() const {
    const char* chosen = std::getenv(variable);
    const std::string named = chosen == nullptr ? "" : chosen;
    if (named == "off") return {};
    const std::string own = own_folder();
    const Installation installation(own);
    if (!named.empty())
      return named[0] == '/' && installation.trusts(named) ? std::vector<std::string>{named}
                                                           : std::vector<std::string>{};
    std::vector<std::string> found;
    // This library is <packages>/dl_vendor_x/lib/libdl_vendor_x.so.
    const std::string packages = parent(parent(own));
    for (const std::string& relative : wheel_paths) {
      const std::string path = packages + "/" + relative;
      if (installation.trusts(path)) found.push_back(path);
    }
    for (const std::string& other : system_names) {
      if (other[0] != '/' || installation.trusts(other)) found.push_back(other);
    }
    return found;
  }
  // The same companion, but only the library that the variable names. Used with a driver that the
  // user selected: we do not know which libraries work with it, and vendor libraries would assume
  // that it is their own driver.
  Companion only_named() const { return {variable, {}, {}, install}; }
  // Returns true if one of the names seems to be installed. Opens nothing.
  bool present() const { return !find_library(names()).empty(); }
  // The end of a sentence that begins with the missing library.
  std::string remedy() const {
    return std::string(install) + " provides it, or set " + variable +
           " to an absolute path, in a folder that only you can write to";
  }

 private:
  static std::string parent(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
};

// Returns true if operators may use vendor libraries: false if the variable (DL_CUDA_LIBRARIES) is
// "off".
inline bool libraries_enabled(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || std::strcmp(value, "off") != 0;
}

DL_KIT_END

#endif  // DL_KIT_COMPANION_H_
