// Check whether a path is trusted for loading code: true if every user who can write there could
// also change the installation itself. diopi_proto/trust.py documents and implements the same rule
// in Python; this version is for libraries that search for others. Not part of the contract: hosts
// do not use it.
#ifndef DL_TRUST_HPP_
#define DL_TRUST_HPP_

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

namespace dl {

#pragma GCC visibility push(hidden)

class Installation {
 public:
  // The installation whose code is in `folder`; if the folder does not exist, no path is trusted.
  explicit Installation(const std::string& folder) {
    const std::unique_ptr<char, void (*)(void*)> resolved(realpath(folder.c_str(), nullptr), free);
    if (resolved != nullptr && stat(resolved.get(), &status_) == 0) folder_ = resolved.get();
  }

  // Returns false for a path that does not exist.
  bool trusts(const std::string& path) const {
    if (folder_.empty() || path.empty() || path[0] != '/') return false;
    std::string here, rest = path;
    for (int links = 0;;) {
      const std::string part = first_part(rest);
      if (part.empty()) return true;
      if (part == ".") continue;
      if (part == "..") {
        here.resize(here.empty() ? 0 : here.rfind('/'));
        continue;
      }
      const std::string entry = here + "/" + part;
      struct stat status;
      if (lstat(entry.c_str(), &status) != 0) return false;
      if (!is_within(entry) && !trusts(status)) return false;
      if (!S_ISLNK(status.st_mode)) {
        here = entry;
        continue;
      }
      char target[PATH_MAX];
      const ssize_t size = readlink(entry.c_str(), target, sizeof target);
      // The kernel follows at most 40 symbolic links in one path.
      if (size < 0 || ++links > 40) return false;
      if (target[0] == '/') here.clear();
      rest.insert(0, std::string(target, static_cast<size_t>(size)) + "/");
    }
  }

 private:
  // Removes and returns the first component of the path.
  static std::string first_part(std::string& path) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) return {};
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    path.erase(0, end);
    return part;
  }

  // Returns true if the installation is in `folder`.
  bool is_within(const std::string& folder) const {
    return folder_.compare(0, folder.size(), folder) == 0 &&
           (folder_.size() == folder.size() || folder_[folder.size()] == '/');
  }

  bool trusts(const struct stat& status) const {
    const uid_t user = geteuid();
    const mode_t mode = status.st_mode;
    if (status.st_uid != 0 && status.st_uid != user && status.st_uid != status_.st_uid)
      return false;
    if (S_ISLNK(mode)) return true;
    // In a sticky directory users cannot rename or delete the files of others.
    if (S_ISDIR(mode) && (mode & S_ISVTX) != 0) return true;
    if ((mode & S_IWOTH) != 0 && (status_.st_mode & S_IWOTH) == 0) return false;
    if ((mode & S_IWGRP) == 0 || status.st_gid == 0) return true;
    const bool ours = (status_.st_mode & S_IWGRP) != 0 && status_.st_gid == status.st_gid;
    return ours || (status.st_gid == user && getegid() == user);
  }

  std::string folder_;
  struct stat status_{};
};

#pragma GCC visibility pop

}  // namespace dl

#endif  // DL_TRUST_HPP_
