// The code that this process has mapped: what is called must be some. For hosts; not part of the
// contract.
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
  // Reads anew what it does not know: a library may have loaded others, or made code. Where nothing
  // can be read, memory will have to do.
  bool has(const void* pointer) {
    if (knows(pointer)) return true;
    read();
    return knows(pointer) || (ranges_.empty() && readable(pointer, 1));
  }

  // The files that it comes from.
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

// Whether there is code at an address, as far as one can tell without running it.
inline bool executable(const void* pointer) {
  static std::mutex mutex;
  static Code& code = *new Code;  // what ends after it may still ask
  const std::lock_guard lock(mutex);
#ifdef __aarch64__
  constexpr uintptr_t kInstruction = 4;  // bytes, to which all are aligned
#else
  constexpr uintptr_t kInstruction = 1;
#endif
  return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % kInstruction == 0 &&
         code.has(pointer);
}

#pragma GCC visibility pop

}  // namespace dl::foreign

#endif  // DL_FOREIGN_CODE_HPP_
