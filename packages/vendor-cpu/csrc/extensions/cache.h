// Compiled kernels that are kept for later processes: one file each, by what it was made from.
//
// The folder belongs to this user alone. A file is read through a descriptor whose owner and
// rights were looked at, and counts only if it is whole and was made for this key; what was read is
// what is loaded. Processes may use it at once: files come by renaming, and one of them compiles
// while the others wait.
#ifndef DL_CPU_EXTENSIONS_CACHE_H_
#define DL_CPU_EXTENSIONS_CACHE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "extensions/file.h"

namespace dl::cpu {

struct Kept {
  std::string code;
  std::string log;
};

class KernelCache {
 public:
  // DL_CPU_KERNEL_CACHE names the folder, by an absolute path; "off" is none. By default it is
  // dl/kernels in the user's cache. `warn` receives the reason why it cannot be used or written.
  explicit KernelCache(std::function<void(const std::string&)> warn);

  // Empty without a cache.
  const std::string& folder() const { return folder_; }

  // What was kept under the key, if the files that it was made from are as they were. `warn` is
  // told of a file that is there and must not be used.
  std::optional<Kept> find(const std::string& key,
                           const std::function<void(const std::string&)>& warn) const;
  // Keeps it, and forgets what was not used for longest where all is too much
  // (DL_CPU_KERNEL_CACHE_MB, 512 by default). A cache that cannot be written is done without, with
  // a warning.
  void keep(const std::string& key, const Kept& kept,
            const std::vector<std::string>& dependencies) const noexcept;
  // One process or thread at a time has this for a key; where the file system knows no locks, all.
  // Waits for the one that has it up to DL_CPU_KERNEL_CACHE_WAIT seconds (30 by default), and goes
  // on without the lock then. `inform` receives a message about a long wait.
  Descriptor lock(const std::string& key,
                  const std::function<void(const std::string&)>& inform) const;

 private:
  std::string path_of(const std::string& key) const { return folder_ + "/" + key + ".kernel"; }
  void prune() const;

  std::function<void(const std::string&)> warn_;
  std::string folder_;
  uint64_t most_bytes_;
};

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_CACHE_H_
