// Whether code may be loaded from a path: true if everyone who can put something there could change
// the installation that asks anyway. The rule stands in diopi_proto/trust.py, where it is the same
// for Python; this is for libraries that look for others themselves. Not part of the contract: a
// host never sees it.
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
  // The one whose code is in `folder`; without such a folder it trusts nothing.
  explicit Installation(const std::string& folder) {
    const std::unique_ptr<char, void (*)(void*)> resolved(realpath(folder.c_str(), nullptr), free);
    if (resolved != nullptr && stat(resolved.get(), &status_) == 0) folder_ = resolved.get();
  }

  // False too for what does not exist.
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
      const std::string place = here + "/" + part;
      struct stat status;
      if (lstat(place.c_str(), &status) != 0) return false;
      if (!lies_in(place) && !trusts(status)) return false;
      if (!S_ISLNK(status.st_mode)) {
        here = place;
        continue;
      }
      char target[PATH_MAX];
      const ssize_t size = readlink(place.c_str(), target, sizeof target);
      // As many links in one path as the kernel follows.
      if (size < 0 || ++links > 40) return false;
      if (target[0] == '/') here.clear();
      rest.insert(0, std::string(target, static_cast<size_t>(size)) + "/");
    }
  }

 private:
  // Takes it off.
  static std::string first_part(std::string& path) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) return {};
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    path.erase(0, end);
    return part;
  }

  bool lies_in(const std::string& folder) const {
    return folder_.compare(0, folder.size(), folder) == 0 &&
           (folder_.size() == folder.size() || folder_[folder.size()] == '/');
  }

  bool trusts(const struct stat& status) const {
    const uid_t user = geteuid();
    const mode_t mode = status.st_mode;
    if (status.st_uid != 0 && status.st_uid != user && status.st_uid != status_.st_uid)
      return false;
    if (S_ISLNK(mode)) return true;
    // In a sticky folder nobody can touch what belongs to others.
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
