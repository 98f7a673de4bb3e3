#include "program/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace dl::opencl {
namespace {

constexpr const char* kSuffix = ".clbin";

// FNV-1a with 64 bits (RFC draft-eastlake-fnv), from two starting points.
uint64_t hash_of(const std::string& text, uint64_t start) {
  uint64_t hash = start;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3u;
  return hash;
}
constexpr uint64_t kStart = 0xcbf29ce484222325u, kOther = 0x9ae16a3b2f90404fu;

// A file: this header, the program.
struct Header {
  char magic[8];
  uint64_t key, other_key, bytes, checksum;
};
constexpr char kMagic[8] = {'d', 'l', 'c', 'l', 'b', 'i', 'n', '1'};

Header header_of(const std::string& key, const std::string& program) {
  Header header{
      {}, hash_of(key, kStart), hash_of(key, kOther), program.size(), hash_of(program, kStart)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return header;
}

class File {
 public:
  File(const std::string& path, int flags)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) (void)close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }

  std::string read_all() const {
    std::string all;
    char part[1 << 16];
    for (;;) {
      const ssize_t count = read(descriptor_, part, sizeof part);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return all;
      all.append(part, static_cast<size_t>(count));
    }
  }

  bool write_all(const void* data, size_t bytes) const {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t count = write(descriptor_, at, bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      bytes -= static_cast<size_t>(count);
    }
    return true;
  }

 private:
  const int descriptor_;
};

void create_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    (void)mkdir(path.substr(0, at).c_str(), 0700);
  (void)mkdir(path.c_str(), 0700);
}

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string default_folder() {
  const std::string named = setting("DL_OPENCL_CACHE");
  if (named == "off") return {};
  if (!named.empty()) return named;
  const std::string cache = setting("XDG_CACHE_HOME"), home = setting("HOME");
  if (!cache.empty() && cache[0] == '/') return cache + "/dl/opencl";
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/dl/opencl";
}

uint64_t default_limit() {
  const std::string named = setting("DL_OPENCL_CACHE_MIB");
  const uint64_t mebibytes = std::strtoull(named.c_str(), nullptr, 10);
  return (mebibytes == 0 ? 512 : mebibytes) << 20;
}

}  // namespace

ProgramCache::ProgramCache(std::string folder, uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
  if (folder_.empty()) return;
  create_folders(folder_);
  struct stat status{};
  if (folder_[0] != '/') {
    reason_ = "is not an absolute path";
  } else if (stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    reason_ = "is not a folder, and could not be created";
  } else if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    reason_ = "can be written to by other users";
  }
  if (reason_.empty()) return;
  reason_ = "compiled kernels are not stored: " + folder_ + " " + reason_;
  folder_.clear();
}

ProgramCache& ProgramCache::here() {
  static ProgramCache& cache = *new ProgramCache(default_folder(), default_limit());
  return cache;
}

std::string ProgramCache::path_of(const std::string& key) const {
  char name[40];
  std::snprintf(name, sizeof name, "/%016llx%016llx",
                static_cast<unsigned long long>(hash_of(key, kStart)),
                static_cast<unsigned long long>(hash_of(key, kOther)));
  return folder_ + name + kSuffix;
}

std::string ProgramCache::find(const std::string& key) {
  if (!is_on()) return {};
  const std::string path = path_of(key);
  std::string all;
  {
    const File file(path, O_RDONLY | O_NOFOLLOW);
    if (!file) return {};
    all = file.read_all();
  }
  Header header{};
  if (all.size() >= sizeof header) {
    std::memcpy(&header, all.data(), sizeof header);
    std::string program = all.substr(sizeof header);
    const Header expected = header_of(key, program);
    if (std::memcmp(&header, &expected, sizeof header) == 0) {
      // The time of its last use, which eviction compares.
      (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
      return program;
    }
  }
  (void)unlink(path.c_str());
  return {};
}

void ProgramCache::store(const std::string& key, const std::string& program) {
  const Header header = header_of(key, program);
  if (!is_on() || program.size() + sizeof header > most_bytes_ / 4) return;
  // Renamed when complete: other processes see all of the file or nothing.
  static std::atomic<uint64_t> count{0};
  const std::string path = path_of(key);
  const std::string fresh =
      path + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".new";
  bool complete = false;
  {
    const File file(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    complete = file && file.write_all(&header, sizeof header) &&
               file.write_all(program.data(), program.size());
  }
  if (!complete || rename(fresh.c_str(), path.c_str()) != 0) {
    (void)unlink(fresh.c_str());
    return;
  }
  // Measuring the folder for every program would take long. The first one of a process measures,
  // for processes that each store a few.
  const uint64_t before = stored_.fetch_add(program.size());
  if (before == 0 || before + program.size() > most_bytes_ / 8) evict();
}

void ProgramCache::remove(const std::string& key) {
  if (is_on()) (void)unlink(path_of(key).c_str());
}

// Removes the least recently used files until three quarters of the limit are in use, and files of
// processes that died while they wrote them.
void ProgramCache::evict() {
  stored_ = 1;
  struct Entry {
    timespec used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  DIR* const opened = opendir(folder_.c_str());
  if (opened == nullptr) return;
  while (const dirent* entry = readdir(opened)) {
    const std::string name = entry->d_name;
    if (name.find(kSuffix) == std::string::npos) continue;
    const std::string path = folder_ + "/" + name;
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto bytes = static_cast<uint64_t>(status.st_size);
    total += bytes;
    entries.push_back({status.st_mtim, bytes, path});
  }
  (void)closedir(opened);
  if (total <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= most_bytes_ / 4 * 3) break;
    if (unlink(entry.path.c_str()) == 0) total -= entry.bytes;
  }
}

}  // namespace dl::opencl
