// Checks of whether a library or device is installed, without opening it: `present` may not touch a
// driver.
#ifndef DL_KIT_PRESENCE_H_
#define DL_KIT_PRESENCE_H_

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dl/kit/base.h"

DL_KIT_BEGIN

namespace detail {

inline bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Searches the paths in the loader's cache. They are NUL-separated strings, so the cache's layout
// is irrelevant.
inline std::string find_in_cache(const std::string& soname, const char* cache) {
  std::ifstream file(cache, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string end = "/" + soname + std::string(1, '\0');
  for (size_t at = text.find(end); at != std::string::npos; at = text.find(end, at + 1)) {
    const size_t before = text.rfind('\0', at);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string path = text.substr(begin, at + end.size() - 1 - begin);
    if (path[0] == '/' && exists(path)) return path;
  }
  return {};
}

}  // namespace detail

// Returns true if a file or device file exists, such as "/dev/kfd".
inline bool any_path(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (detail::exists(path)) return true;
  }
  return false;
}

// The path of the first library that the loader would find, given sonames and absolute paths; empty
// if none is found. Opening it may still fail.
inline std::string find_library(const std::vector<std::string>& names,
                                const char* cache = "/etc/ld.so.cache") {
  std::vector<std::string> folders;
  const char* given = std::getenv("LD_LIBRARY_PATH");
  for (std::string rest = given == nullptr ? "" : given; !rest.empty();) {
    const size_t colon = rest.find(':');
    if (colon != 0) folders.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  const char* const kUsual[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (name[0] == '/') {
      if (detail::exists(name)) return name;
      continue;
    }
    for (const std::string& folder : folders) {
      if (detail::exists(folder + "/" + name)) return folder + "/" + name;
    }
    std::string found = detail::find_in_cache(name, cache);
    if (!found.empty()) return found;
    for (const char* folder : kUsual) {
      if (detail::exists(std::string(folder) + "/" + name)) return std::string(folder) + "/" + name;
    }
  }
  return {};
}

// The folder of the library that contains this code, where its wheel stores other files.
inline std::string own_folder() {
  Dl_info info{};
  // Hidden, like the whole kit, so it belongs to this library.
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  char* const whole = realpath(info.dli_fname, nullptr);
  const std::string path = whole == nullptr ? "" : whole;
  std::free(whole);
  return path.substr(0, path.rfind('/'));
}

DL_KIT_END

#endif  // DL_KIT_PRESENCE_H_
