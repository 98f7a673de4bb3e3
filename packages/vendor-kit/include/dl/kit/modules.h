// Code that was loaded through the kernel extension, and the functions that were found in it.
#ifndef DL_KIT_MODULES_H_
#define DL_KIT_MODULES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// `Image` owns loaded code and unloads it when it is destroyed; it can be moved. `Function` is what
// a launch needs. Handles are checked as those of Handles. Thread-safe.
template <class Image, class Function>
class Modules {
 public:
  void* add(Image image, int32_t device) {
    return modules_.add(std::make_shared<Module>(std::move(image)), device);
  }

  // Removes a module and its functions, and returns its code.
  Image remove(const void* module, int32_t device) {
    const auto gone = modules_.remove(module, device);
    const std::lock_guard<std::mutex> lock(gone->mutex);
    for (const auto& [name, function] : gone->functions) functions_.remove(function.get(), device);
    return std::move(gone->image);
  }

  // The handle of a module's function. `describe(image, name)` makes its Function when it is first
  // looked up, or throws Error.
  template <class Describe>
  void* find(const void* module, int32_t device, const char* name, const Describe& describe) {
    if (name == nullptr) throw Error(DL_INVALID_ARGUMENT, "the name of the function is NULL");
    const auto owner = modules_.find(module, device);
    const std::lock_guard<std::mutex> lock(owner->mutex);
    const auto known = owner->functions.find(name);
    if (known != owner->functions.end()) return known->second.get();
    std::shared_ptr<Function> made = describe(owner->image, name);
    functions_.add(made, device);
    return owner->functions.emplace(name, std::move(made)).first->second.get();
  }

  std::shared_ptr<Function> function(const void* handle, int32_t device) {
    return functions_.find(handle, device);
  }

 private:
  struct Module {
    explicit Module(Image given) : image(std::move(given)) {}
    Image image;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Function>> functions;  // found so far
  };

  Handles<Module> modules_{"module"};
  Handles<Function> functions_{"kernel"};
};

DL_KIT_END

#endif  // DL_KIT_MODULES_H_
