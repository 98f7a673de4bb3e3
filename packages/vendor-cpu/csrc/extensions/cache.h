// On-disk cache of compiled kernels: one file each, named by a hash of everything that determines
// it.
//
// The folder is private to this user. A file is read through a descriptor whose owner and
// permissions have been checked, and is valid only if it is complete and belongs to the key;
// exactly the bytes that were read are loaded. Several processes may use the cache at once: files
// are renamed into place, and one process compiles while other ones wait.
#ifndef DL_CPU_EXTENSIONS_CACHE_H_
#define DL_CPU_EXTENSIONS_CACHE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "extensions/file.h"

namespace dl::cpu {

struct CachedKernel {
  std::string code;
  std::string log;
};

class KernelCache {
 public:
  // DL_CPU_KERNEL_CACHE is the absolute path of the folder; "off" disables the cache. The default
  // is dl/kernels in the user's cache folder. `warn` receives the reason if it cannot be used or
  // written.
  explicit KernelCache(std::function<void(const std::string&)> warn);

  // Empty without a cache.
  const std::string& folder() const { return folder_; }

  // Return the kernel cached under the key if the files that it was compiled from are unchanged.
  // `warn` is called for an existing file that must not be used.
  std::optional<CachedKernel> find(const std::string& key,
                                   const std::function<void(const std::string&)>& warn) const;
  // Store a kernel, and delete the least recently used ones if the cache is too large
  // (DL_CPU_KERNEL_CACHE_MB, default: 512). If the cache cannot be written, warn and continue
  // without it.
  void store(const std::string& key, const CachedKernel& kernel,
             const std::vector<std::string>& dependencies) const noexcept;
  // Lock a key for one process or thread at a time; without effect if the file system does not
  // support locks. Waits for the holder up to DL_CPU_KERNEL_CACHE_WAIT seconds (default: 30), then
  // continues without the lock. `inform` receives a message about a long wait.
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
