// Shared code of a vendor's extensions (dl/extension.h): structs that a slot fills, their strings,
// and handles that are validated before use.
#ifndef DL_KIT_EXTENSION_H_
#define DL_KIT_EXTENSION_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "dl/extension.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// Copies as much as the caller's struct can hold. Throws Error if its size is not set.
template <class T>
void fill(T* to, T from) {
  if (!DL_HAS_FIELD(to, T, struct_size))
    throw Error(DL_INVALID_ARGUMENT,
                "the struct to fill is NULL or too short; set its struct_size");
  const uint64_t size = to->struct_size;
  from.struct_size = size;
  std::memcpy(static_cast<void*>(to), &from, std::min<uint64_t>(size, sizeof from));
}

// Copies text into an array of a struct and truncates it if necessary.
template <size_t kSize>
void put(char (&to)[kSize], const std::string& text) {
  std::snprintf(to, kSize, "%s", text.c_str());
}

// Objects that a vendor returns as handles. An invalid handle, or one of another device, is an
// error, not a crash. An object in use stays alive when its handle is dropped.
template <class T>
class Handles {
 public:
  // `what` names the object in messages: "graph".
  explicit Handles(const char* what) : what_(what) {}

  // Device of objects that do not belong to a device.
  static constexpr int32_t kNoDevice = -1;

  void* add(std::shared_ptr<T> made, int32_t device = kNoDevice) {
    T* const handle = made.get();
    const std::lock_guard<std::mutex> lock(mutex_);
    held_[handle] = {device, std::move(made)};
    return handle;
  }
  std::shared_ptr<T> find(const void* handle, int32_t device = kNoDevice) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return place(handle, device)->second.object;
  }
  std::shared_ptr<T> remove(const void* handle, int32_t device = kNoDevice) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = place(handle, device);
    std::shared_ptr<T> object = std::move(found->second.object);
    held_.erase(found);
    return object;
  }

 private:
  struct Held {
    int32_t device;
    std::shared_ptr<T> object;
  };

  auto place(const void* handle, int32_t device) {
    const auto found = held_.find(handle);
    if (found == held_.end() || found->second.device != device) {
      char text[32];
      std::snprintf(text, sizeof text, "%p", handle);
      const std::string whose = device == kNoDevice ? "" : " of device " + std::to_string(device);
      throw Error(DL_INVALID_ARGUMENT,
                  std::string(text) + " is not a " + what_ + whose + ", or was destroyed");
    }
    return found;
  }

  const char* const what_;
  std::mutex mutex_;
  std::unordered_map<const void*, Held> held_;
};

DL_KIT_END

#endif  // DL_KIT_EXTENSION_H_
