// The functions of an operator library that consists of several shared libraries, whose names and
// split differ between its releases.
#ifndef DL_KIT_LIBRARY_SYMBOLS_H_
#define DL_KIT_LIBRARY_SYMBOLS_H_

#include <dlfcn.h>
#include <glob.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/library/functions.h"
#include "dl/kit/presence.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

namespace library {

// Opened on the first lookup, and never closed.
class LibrarySet {
 public:
  // `names` in the order of lookups: sonames, absolute paths, or patterns with `*`, which match
  // files in `folders` and in LD_LIBRARY_PATH. `remedy` says how to install the library.
  LibrarySet(std::vector<std::string> names, std::vector<std::string> folders, std::string remedy)
      : names_(std::move(names)), folders_(std::move(folders)), remedy_(std::move(remedy)) {}
  LibrarySet(const LibrarySet&) = delete;
  LibrarySet& operator=(const LibrarySet&) = delete;

  // Returns the address of a function, or NULL if no library has it. Throws Error with
  // DL_UNAVAILABLE if none of the libraries can be opened.
  void* find(const char* symbol) {
    for (void* library : open()) {
      if (void* const found = dlsym(library, symbol)) return found;
    }
    return nullptr;
  }

  // Names of the libraries that are open.
  std::vector<std::string> opened() {
    open();
    return opened_;
  }

 private:
  const std::vector<void*>& open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!handles_.empty()) return handles_;
    if (!failure_.empty()) throw Error(DL_UNAVAILABLE, failure_, "dlopen");
    std::string reasons;
    for (const std::string& name : names_) {
      for (const std::string& path : matches(name)) {
        // Global, because the parts of such libraries find each other's symbols that way.
        void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
        if (handle != nullptr) {
          handles_.push_back(handle);
          opened_.push_back(path);
        } else {
          const char* const reason = dlerror();
          reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? path : reason);
        }
      }
    }
    if (handles_.empty()) {
      failure_ = "no operator library can be opened (" +
                 (reasons.empty() ? "no file matches its names" : reasons) + "); " + remedy_;
      throw Error(DL_UNAVAILABLE, failure_, "dlopen");
    }
    return handles_;
  }

  std::vector<std::string> matches(const std::string& name) const {
    std::vector<std::string> found;
    std::vector<std::string> folders = folders_;
    const char* const given = std::getenv("LD_LIBRARY_PATH");
    for (std::string rest = given == nullptr ? "" : given; !rest.empty();) {
      const size_t colon = rest.find(':');
      if (colon != 0) folders.push_back(rest.substr(0, colon));
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    const bool is_pattern = name.find('*') != std::string::npos;
    if (!is_pattern && name[0] != '/') {
      for (const std::string& folder : folders_) {
        if (detail::exists(folder + "/" + name)) return {folder + "/" + name};
      }
      return {name};
    }
    if (!is_pattern) return {name};
    if (name[0] == '/') folders = {""};
    for (const std::string& folder : folders) {
      glob_t files{};
      const std::string pattern = folder.empty() ? name : folder + "/" + name;
      if (glob(pattern.c_str(), 0, nullptr, &files) == 0)
        found.insert(found.end(), files.gl_pathv, files.gl_pathv + files.gl_pathc);
      globfree(&files);
      if (!found.empty()) break;  // one installation, not a mixture
    }
    return found;
  }

  const std::vector<std::string> names_, folders_;
  const std::string remedy_;
  std::mutex mutex_;
  std::vector<void*> handles_;
  std::vector<std::string> opened_;
  std::string failure_;
};

// Addresses of a library's functions, each looked up once.
class FunctionAddresses {
 public:
  FunctionAddresses(LibrarySet& libraries, int count)
      : libraries_(libraries), entries_(new Entry[static_cast<size_t>(count)]) {}

  // Returns true if the library has the function, with both phases.
  bool has(const Function& function) { return resolved(function).state == kFound; }
  // Address of the function, or of its second phase, and of the first phase. NULL if it is missing.
  void* address(const Function& function) { return resolved(function).main; }
  void* begin_address(const Function& function) { return resolved(function).begin; }

 private:
  enum State { kUnknown, kFound, kMissing };
  struct Entry {
    std::atomic<int> state{kUnknown};
    void* main = nullptr;
    void* begin = nullptr;
  };

  const Entry& resolved(const Function& function) {
    Entry& entry = entries_[static_cast<size_t>(function.index)];
    if (entry.state.load(std::memory_order_acquire) != kUnknown) return entry;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (entry.state.load(std::memory_order_relaxed) != kUnknown) return entry;
    entry.main = libraries_.find(function.name);
    if (function.begin_name != nullptr) entry.begin = libraries_.find(function.begin_name);
    const bool found =
        entry.main != nullptr && (function.begin_name == nullptr || entry.begin != nullptr);
    entry.state.store(found ? kFound : kMissing, std::memory_order_release);
    return entry;
  }

  LibrarySet& libraries_;
  const std::unique_ptr<Entry[]> entries_;
  std::mutex mutex_;
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_SYMBOLS_H_
