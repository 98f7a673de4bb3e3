// Compiled programs on disk, because a driver takes up to seconds for a kernel. The folder belongs
// to the user, its size is bounded, damaged files are ignored and replaced, and processes share it
// without locks: files appear and disappear as a whole.
#ifndef DL_OPENCL_PROGRAM_CACHE_H_
#define DL_OPENCL_PROGRAM_CACHE_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace dl::opencl {

class ProgramCache {
 public:
  // `folder` is created if missing; empty means no cache. A cache that cannot be used, or that
  // other users could write to, is off; `reason` says why.
  ProgramCache(std::string folder, uint64_t most_bytes);

  // The folder that DL_OPENCL_CACHE names, or dl/opencl in the user's cache folder; empty for
  // "off". The limit is DL_OPENCL_CACHE_MIB, 512 by default.
  static ProgramCache& here();

  bool is_on() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }
  const std::string& reason() const { return reason_; }

  // Returns the program stored for a key of any length, empty if there is none.
  std::string find(const std::string& key);
  // Stores a program; failures, such as a full disk, are ignored.
  void store(const std::string& key, const std::string& program);
  // Removes a program that the driver has refused.
  void remove(const std::string& key);

 private:
  std::string path_of(const std::string& key) const;
  void evict();

  std::string folder_, reason_;
  const uint64_t most_bytes_;
  std::atomic<uint64_t> stored_{0};  // bytes since the folder was last measured
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_PROGRAM_CACHE_H_
