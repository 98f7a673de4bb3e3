// The code that this process has mapped.
#ifndef DL_TRIAL_CODE_H_
#define DL_TRIAL_CODE_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dl::trial {

class Code {
 public:
  // Reads anew what it does not know: a library may have loaded others, or made code.
  bool has(const void* pointer) {
    if (knows(pointer)) return true;
    read();
    return knows(pointer) || ranges_.empty();
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

}  // namespace dl::trial

#endif  // DL_TRIAL_CODE_H_
