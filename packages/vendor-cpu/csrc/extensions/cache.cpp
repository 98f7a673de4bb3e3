#include "extensions/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <thread>

#include "extensions/sha256.h"

namespace dl::cpu {
namespace {

constexpr char kMagic[] = "dl kernel cache 1\n";
constexpr size_t kDigest = 64;
constexpr off_t kLargest = off_t{1} << 30;
constexpr time_t kDay = 86400;
constexpr char kRemedy[] = "; name another folder in DL_CPU_KERNEL_CACHE, or set it to off";
constexpr double kWaitSeconds = 30;
constexpr double kSilentSeconds = 2;
constexpr auto kLookAgain = std::chrono::milliseconds(20);

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t most_bytes() {
  const std::string text = setting("DL_CPU_KERNEL_CACHE_MB");
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  const bool good = !text.empty() && *end == '\0' && text[0] != '-' && value <= (1u << 20);
  return (good ? value : 512) << 20;
}

double wait_seconds() {
  const std::string text = setting("DL_CPU_KERNEL_CACHE_WAIT");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && value >= 0 && value <= 86400 ? value : kWaitSeconds;
}

// Return why a file or folder is not private to this user, as the end of a sentence; empty if it is
// private.
std::string why_not_private(const struct stat& status) {
  if (status.st_uid != geteuid()) return "belongs to user " + std::to_string(status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "is writable by others";
  return {};
}

// Serialize a list of texts, and parse it; parsing returns false for invalid bytes.
void append(std::string& bytes, std::string_view text) {
  bytes += std::to_string(text.size()) + ':';
  bytes += text;
}
bool take(std::string_view& bytes, std::string& text) {
  const size_t colon = bytes.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 18) return false;
  size_t size = 0;
  for (const char digit : bytes.substr(0, colon)) {
    if (digit < '0' || digit > '9') return false;
    size = size * 10 + static_cast<size_t>(digit - '0');
  }
  if (size > bytes.size() - colon - 1) return false;
  text = bytes.substr(colon + 1, size);
  bytes.remove_prefix(colon + 1 + size);
  return true;
}

std::string digest_of(const std::string& key, std::string_view payload) {
  Sha256 sum;
  sum.add_text(key);
  sum.add_text(payload);
  return hexadecimal(sum.finish());
}

// The parts of a complete file, or the reason why it is invalid.
struct Parsed {
  std::string damage;
  bool current = true;  // the files that it was compiled from are unchanged
  CachedKernel kernel;
};
Parsed parse(const std::string& key, const std::string& file) {
  Parsed parsed;
  const std::string_view all = file;
  constexpr size_t kStart = sizeof kMagic - 1;
  if (all.size() < kStart + kDigest || all.substr(0, kStart) != kMagic) {
    parsed.damage = "is not a cached kernel";
    return parsed;
  }
  std::string_view payload = all.substr(kStart + kDigest);
  std::string count, path, identity;
  if (all.substr(kStart, kDigest) != digest_of(key, payload) ||
      !take(payload, parsed.kernel.code) || !take(payload, parsed.kernel.log)) {
    parsed.damage = "has changed since it was written";
    return parsed;
  }
  while (take(payload, path) && take(payload, identity))
    parsed.current = parsed.current && file_identity(path) == identity;
  return parsed;
}

// Return the folder, created if necessary; empty if there is no usable one.
std::string usable_folder(const std::function<void(const std::string&)>& warn) {
  std::string folder = setting("DL_CPU_KERNEL_CACHE");
  if (folder == "off") return {};
  if (folder.empty()) {
    folder = setting("XDG_CACHE_HOME");
    if (folder.empty() || folder[0] != '/') folder = setting("HOME") + "/.cache";
    folder += "/dl/kernels";
  }
  const auto refuse = [&](const std::string& why) {
    warn("kernels are not cached in " + folder + ": it " + why + kRemedy);
    return std::string();
  };
  if (folder[0] != '/') return refuse("is not an absolute path");
  if (!make_folders(folder)) return refuse("is not a folder, and cannot be created");
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return refuse("cannot be examined");
  const std::string why = why_not_private(status);
  if (!why.empty()) return refuse(why);
  if (!trusted(folder)) return refuse("is in a folder that others can write to");
  return folder;
}

}  // namespace

KernelCache::KernelCache(std::function<void(const std::string&)> warn)
    : warn_(std::move(warn)), folder_(usable_folder(warn_)), most_bytes_(most_bytes()) {}

std::optional<CachedKernel> KernelCache::find(
    const std::string& key, const std::function<void(const std::string&)>& warn) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(key);
  const auto refuse = [&](const std::string& why) {
    warn("the cached kernel " + path + " " + why + ": it is not used");
    return std::nullopt;
  };
  // Do not follow links, and do not wait for the writer of a pipe.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno == ENOENT ? std::nullopt : refuse(std::strerror(errno));
  struct stat status;
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return refuse("is not a file");
  const std::string why = why_not_private(status);
  if (!why.empty()) return refuse(why);
  if (status.st_size > kLargest) return refuse("is too large");
  const std::optional<std::string> bytes = read_file(file.get());
  if (!bytes) return refuse("cannot be read");
  Parsed parsed = parse(key, *bytes);
  if (!parsed.damage.empty()) return refuse(parsed.damage);
  if (!parsed.current) return std::nullopt;
  futimens(file.get(), nullptr);  // mark as used now
  return std::move(parsed.kernel);
}

void KernelCache::store(const std::string& key, const CachedKernel& kernel,
                        const std::vector<std::string>& dependencies) const noexcept {
  if (folder_.empty()) return;
  try {
    std::string payload;
    append(payload, kernel.code);
    append(payload, kernel.log);
    for (const std::string& path : dependencies) {
      append(payload, path);
      append(payload, file_identity(path));
    }
    const TemporaryFolder work(folder_);
    const std::string fresh = work.path() + "/entry";
    write_file(fresh, kMagic + digest_of(key, payload) + payload);
    const std::string path = path_of(key);
    if (rename(fresh.c_str(), path.c_str()) != 0)
      throw FolderError(DL_ERROR, path + " cannot be written: " + std::strerror(errno));
    prune();
  } catch (const FolderError& error) {
    // The kernel is compiled again next time.
    warn_("kernels are not cached in " + folder_ + ": " + error.what() + kRemedy);
  } catch (...) {
    // Out of memory: the kernel is compiled again too, without a message.
  }
}

Descriptor KernelCache::lock(const std::string& key,
                             const std::function<void(const std::string&)>& inform) const {
  if (folder_.empty()) return Descriptor();
  // One lock file serves many keys and is never deleted.
  const std::string path = folder_ + "/lock-" + key.substr(0, 2);
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(open(path.c_str(), kFlags, 0600));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK && errno != EINTR) return Descriptor();
  const double seconds = wait_seconds();
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // Processes that start together often wait for a moment, which needs no message.
  bool informed = false;
  while (waited() < seconds) {
    std::this_thread::sleep_for(kLookAgain);
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    if (informed || waited() < std::min(kSilentSeconds, seconds / 2)) continue;
    informed = true;
    char text[32];
    std::snprintf(text, sizeof text, "%g", seconds);
    inform("another process or thread holds " + path +
           " while it compiles a kernel: waiting up to " + text +
           " seconds for it (DL_CPU_KERNEL_CACHE_WAIT)");
  }
  inform(path + " is still locked: the kernel is compiled without waiting any longer");
  return Descriptor();
}

void KernelCache::prune() const {
  struct File {
    timespec used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<File> files;
  uint64_t bytes = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    const std::string path = folder_ + "/" + std::string(name);
    struct stat status;
    if (lstat(path.c_str(), &status) != 0) continue;
    // Left by a process that was killed while it compiled.
    if (S_ISDIR(status.st_mode) && starts_with(name, "work-") &&
        status.st_mtim.tv_sec < time(nullptr) - kDay)
      remove_tree(path);
    if (!S_ISREG(status.st_mode) || !ends_with(name, ".kernel")) continue;
    files.push_back({status.st_mtim, static_cast<uint64_t>(status.st_size), path});
    bytes += files.back().bytes;
  }
  if (bytes <= most_bytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                          : a.used.tv_nsec < b.used.tv_nsec;
  });
  // Free some more than needed, so that not every compilation has to.
  for (const File& file : files) {
    if (bytes <= most_bytes_ / 4 * 3) return;
    if (unlink(file.path.c_str()) == 0) bytes -= file.bytes;
  }
}

}  // namespace dl::cpu
