#include "library/find.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dl/trust.hpp"

namespace dl::cpu {
namespace {

constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;

std::string own_path() {
  Dl_info info{};
  static const char inside = 0;
  return dladdr(&inside, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// Return the path without its last component; empty if it has none.
std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

// Return PREFIX of PREFIX/lib/pythonX.Y/site-packages; empty if packages are elsewhere, as with
// `pip install --target`, where the folders above do not belong to the environment.
std::string prefix_of(const std::string& packages) {
  const std::string python = parent(packages), lib = parent(python);
  const bool usual = (name(packages) == "site-packages" || name(packages) == "dist-packages") &&
                     starts_with(name(python), "python") &&
                     (name(lib) == "lib" || name(lib) == "lib64");
  return usual ? parent(lib) : "";
}

// Return the folders that dlopen searches for a bare name. dlopen itself would also search relative
// folders of LD_LIBRARY_PATH.
std::vector<std::string> system_folders(const std::string& own) {
  std::vector<std::string> found;
  void* self = dlopen(own.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (self == nullptr) return found;
  Dl_serinfo size{};
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* folders = reinterpret_cast<Dl_serinfo*>(memory.data());
    *folders = size;
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, folders) == 0 &&
        dlinfo(self, RTLD_DI_SERINFO, folders) == 0) {
      for (unsigned i = 0; i < folders->dls_cnt; ++i)
        found.emplace_back(folders->dls_serpath[i].dls_name);
    }
  }
  dlclose(self);
  found.emplace_back("/usr/local/lib");
  return found;
}

}  // namespace

const char* why_not_loadable(const char* path) {
  // dlopen would search for a bare name, and a relative path depends on the current folder.
  if (path[0] != '/') return "is not an absolute path";
  struct stat found{};
  // Opening a pipe would wait for a writer.
  if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || access(path, R_OK) != 0)
    return "is not a readable file";
  if (!Installation(parent(own_path())).trusts(path))
    return "is in a folder that others can write to";
  return nullptr;
}

void* open_library(const char* variable, const WheelPaths& paths, const char* soname) {
  const char* chosen = std::getenv(variable);
  if (chosen != nullptr && std::strcmp(chosen, "off") == 0) return nullptr;
  if (chosen != nullptr && chosen[0] != '\0')
    return why_not_loadable(chosen) == nullptr ? dlopen(chosen, kFlags) : nullptr;
  const std::string own = own_path();
  const Installation installation(parent(own));
  const auto open = [&](const std::string& path) -> void* {
    return installation.trusts(path) ? dlopen(path.c_str(), kFlags) : nullptr;
  };
  // This library is site-packages/dl_vendor_cpu/lib/….
  const std::string packages = parent(parent(parent(own)));
  const std::string prefix = prefix_of(packages);
  if (!paths.beside_us.empty() && !packages.empty()) {
    if (void* library = open(packages + "/" + paths.beside_us)) return library;
  }
  if (!paths.in_prefix.empty() && !prefix.empty()) {
    if (void* library = open(prefix + "/" + paths.in_prefix)) return library;
  }
  // A library that the process has loaded already is trusted.
  if (void* library = dlopen(soname, kFlags | RTLD_NOLOAD)) return library;
  for (const std::string& folder : system_folders(own)) {
    if (void* library = open(folder + "/" + soname)) return library;
  }
  return nullptr;
}

}  // namespace dl::cpu
