// A driver's library, opened on first use, and its functions with the types of its header:
//
//   struct Driver : dl::kit::Library {
//     Driver() : Library({"libcuda.so.1"}) {}
//     DL_KIT_SYMBOL(cuInit);
//     DL_KIT_SYMBOL(cuDeviceGetCount);
//   };
//
// `driver.cuInit(0)` opens the library if necessary, and throws Error(DL_UNAVAILABLE), which lists
// all names that were tried, if that fails. A wheel does not link a driver, so it installs on any
// machine and reports that it has no device.
#ifndef DL_KIT_SYMBOLS_H_
#define DL_KIT_SYMBOLS_H_

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/presence.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

class Library {
 public:
  // `names` of the library's releases, the preferred one first: sonames or absolute paths. A
  // relative path would depend on the current folder and is refused. `what` and `remedy` are used
  // in messages: the kind of library and how to install it.
  explicit Library(std::vector<std::string> names, std::string what = "driver",
                   std::string remedy = "install it, or add its folder to LD_LIBRARY_PATH")
      : names_(std::move(names)), what_(std::move(what)), remedy_(std::move(remedy)) {
    for (const std::string& name : names_) {
      if (name.empty() || (name[0] != '/' && name.find('/') != std::string::npos))
        throw Error(DL_INVALID_ARGUMENT,
                    "the library '" + name + "' is neither a soname nor an absolute path");
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Returns true if one of the names seems to be installed. Opens nothing, because drivers
  // initialize when they are opened.
  bool present() const { return !find_library(names_).empty(); }
  // Why the library is not present: the names that were looked for, with the remedy.
  std::string why_missing() const {
    std::string looked_for;
    for (const std::string& name : names_) looked_for += (looked_for.empty() ? "" : ", ") + name;
    return "no " + what_ + " is installed: " + (names_.size() == 1 ? "" : "none of ") + looked_for +
           (names_.size() == 1 ? " was not found; " : " was found; ") + remedy_;
  }

  // Returns the address of a function. The library is never closed, because drivers leave threads
  // running.
  void* find(const char* symbol) {
    void* const found = dlsym(open(), symbol);
    if (found == nullptr)
      throw Error(DL_UNAVAILABLE,
                  opened_ + " has no function " + symbol +
                      "; it is older or newer than this vendor supports",
                  "dlsym");
    return found;
  }
  bool has(const char* symbol) { return dlsym(open(), symbol) != nullptr; }

  // The name under which the library was opened; empty before.
  std::string opened() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return opened_;
  }

 private:
  void* open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != nullptr) return handle_;
    // A failure is cached: another attempt would fail as slowly.
    if (!failure_.empty()) throw Error(DL_UNAVAILABLE, failure_, "dlopen");
    std::string reasons;
    for (const std::string& name : names_) {
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      if (handle_ != nullptr) {
        opened_ = name;
        return handle_;
      }
      const char* reason = dlerror();
      reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? name : reason);
    }
    if (names_.empty()) reasons = "no name is configured";
    failure_ = "no " + what_ + " can be opened (" + reasons + "); " + remedy_;
    throw Error(DL_UNAVAILABLE, failure_, "dlopen");
  }

  const std::vector<std::string> names_;
  const std::string what_, remedy_;
  mutable std::mutex mutex_;
  void* handle_ = nullptr;
  std::string opened_;
  std::string failure_;
};

// One function of a library, looked up on its first call.
template <class Function>
class Symbol;
template <class Result, class... Args>
class Symbol<Result (*)(Args...)> {
 public:
  Symbol(Library& library, const char* name) : library_(library), name_(name) {}

  Result operator()(Args... args) const {
    return reinterpret_cast<Result (*)(Args...)>(address())(args...);
  }
  // Returns true if the library, which must be installed, has the function.
  bool available() const { return library_.has(name_); }
  const char* name() const { return name_; }

 private:
  void* address() const {
    void* found = address_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = library_.find(name_);
      address_.store(found, std::memory_order_release);
    }
    return found;
  }

  Library& library_;
  const char* name_;
  mutable std::atomic<void*> address_{nullptr};
};
// Strips attributes that a header adds to the type of a function.
template <class Result, class... Args>
auto plain(Result (*function)(Args...)) -> Result (*)(Args...);

DL_KIT_END

// Declares, in a class derived from Library, a Symbol for the driver's `function`, with the type in
// the driver's header. The member is named `function` or, with DL_KIT_SYMBOL_AS, `member`.
#define DL_KIT_SYMBOL(function) DL_KIT_SYMBOL_AS(function, function)
#define DL_KIT_SYMBOL_AS(member, function) \
  ::dl::kit::Symbol<decltype(::dl::kit::plain(&::function))> member { *this, #function }

#endif  // DL_KIT_SYMBOLS_H_
