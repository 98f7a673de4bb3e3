#include "library/find.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace dl::cpu {
namespace {

void* open(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

std::string own_path() {
  Dl_info info{};
  static const char inside = 0;
  return dladdr(&inside, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

void* open_library(const char* variable, const char* relative, const char* soname) {
  const char* chosen = std::getenv(variable);
  if (chosen != nullptr && std::strcmp(chosen, "off") == 0) return nullptr;
  if (chosen != nullptr && chosen[0] != '\0') return open(chosen);
  // PREFIX/lib/pythonX.Y/site-packages/dl_vendor_cpu/lib/… is five folders below the prefix.
  std::string folder = own_path();
  for (int level = 0; level < 6; ++level) {
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) break;
    folder.resize(slash);
    if (void* library = open((folder + "/" + relative).c_str())) return library;
  }
  return open(soname);
}

}  // namespace dl::cpu
