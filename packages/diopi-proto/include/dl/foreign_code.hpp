// Executable mappings of this process, which function pointers of a library must refer to. For
// hosts; not part of the contract.
#ifndef DL_FOREIGN_CODE_HPP_
#define DL_FOREIGN_CODE_HPP_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dl/foreign.hpp"

namespace dl::foreign {

#pragma GCC visibility push(hidden)

class Code {
 public:
  // Reads the mappings again for an unknown address, because a library may have loaded other files
  // or generated code. If /proc/self/maps is unavailable, any readable address is accepted.
  bool has(const void* pointer) {
    if (knows(pointer)) return true;
    read();
    return knows(pointer) || (ranges_.empty() && readable(pointer, 1));
  }

  // The files that are mapped as code.
  const std::set<std::string>& files() {
    read();
    return files_;
  }

 private:
  bool knows(const void* pointer) const {
    const auto at = reinterpret_cast<uintptr_t>(pointer);
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const auto& range) { return at >= range.first && at < range.second; });
  }

  void read() {
    ranges_.clear();
    FILE* file = std::fopen("/proc/self/maps", "re");
    if (file == nullptr) return;
    char* line = nullptr;
    size_t room = 0;
    while (getline(&line, &room, file) >= 0) {
      unsigned long first = 0, last = 0;
      char rights[5] = "";
      int path = 0;
      if (std::sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &first, &last, rights, &path) != 3 ||
          rights[2] != 'x')
        continue;
      ranges_.push_back({first, last});
      if (line[path] == '/') files_.emplace(line + path, std::strcspn(line + path, "\n"));
    }
    std::free(line);
    std::fclose(file);
  }

  std::vector<std::pair<uintptr_t, uintptr_t>> ranges_;
  std::set<std::string> files_;
};

// Returns true if the address is in an executable mapping and aligned like an instruction.
inline bool executable(const void* pointer) {
  static std::mutex mutex;
  static Code& code = *new Code;  // never destroyed: destructors at exit may still call this
  const std::lock_guard lock(mutex);
#ifdef __aarch64__
  constexpr uintptr_t kInstruction = 4;  // alignment of instructions in bytes
#else
  constexpr uintptr_t kInstruction = 1;
#endif
  return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % kInstruction == 0 &&
         code.has(pointer);
}

#pragma GCC visibility pop

}  // namespace dl::foreign

#endif  // DL_FOREIGN_CODE_HPP_
