// Libraries that other wheels bring: compilers, collectives, products of matrices. They are not
// needed, so that their absence is an answer, and says what to install.
//
//   const dl::kit::Companion kNvrtc{"DL_CUDA_NVRTC", {"nvidia/cu13/lib/libnvrtc.so.13"},
//                                   {"libnvrtc.so.13"}, "pip install nvidia-cuda-nvrtc"};
//   dl::kit::Library library(kNvrtc.names(), "NVRTC", kNvrtc.way_out());
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
  const char* variable;             // names another one by an absolute path; "off" is none
  std::vector<std::string> beside;  // where wheels put it, from the folder of packages
  std::vector<std::string> others;  // sonames, and absolute paths
  const char* install;              // "pip install nvidia-nccl-cu13"

  // What to open, the best one first: only what nobody else could have put there. Empty: the user
  // wants none, or names what is not to be loaded.
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
    // Ours is <packages>/dl_vendor_x/lib/libdl_vendor_x.so.
    const std::string packages = parent(parent(own));
    for (const std::string& place : beside) {
      const std::string path = packages + "/" + place;
      if (installation.trusts(path)) found.push_back(path);
    }
    for (const std::string& other : others) {
      if (other[0] != '/' || installation.trusts(other)) found.push_back(other);
    }
    return found;
  }
  // The same where only the variable says which one: what works with a driver that somebody names
  // is not known, and the makers' libraries take it for their own.
  Companion only_named() const { return {variable, {}, {}, install}; }
  // Whether one of them seems to be there. Opens nothing.
  bool present() const { return !find_library(names()).empty(); }
  // The end of a sentence that begins with what is missing.
  std::string way_out() const {
    return std::string(install) + " brings it, or " + variable +
           " names one by an absolute path, in a folder that only you can write to";
  }

 private:
  static std::string parent(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
};

// Whether operators may use the libraries that compute: not where the variable (DL_CUDA_LIBRARIES)
// is "off".
inline bool libraries_wanted(const char* variable) {
  const char* const said = std::getenv(variable);
  return said == nullptr || std::strcmp(said, "off") != 0;
}

DL_KIT_END

#endif  // DL_KIT_COMPANION_H_
