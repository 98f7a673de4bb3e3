// What the extensions of a vendor (dl/extension.h) have in common: structs that a slot fills, text
// in them, and handles that are looked up before they are used.
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

// Copies what the caller's struct has room for. Throws Error where it says no size.
template <class T>
void fill(T* to, T from) {
  if (!DL_HAS_FIELD(to, T, struct_size))
    throw Error(DL_INVALID_ARGUMENT,
                "the struct to fill is NULL or too short; set its struct_size");
  const uint64_t size = to->struct_size;
  from.struct_size = size;
  std::memcpy(static_cast<void*>(to), &from, std::min<uint64_t>(size, sizeof from));
}

// Text in an array of a struct, cut where it is too long.
template <size_t kSize>
void put(char (&to)[kSize], const std::string& text) {
  std::snprintf(to, kSize, "%s", text.c_str());
}

// Objects that a vendor hands out as handles. What is no handle of the device is an error, not a
// crash. An object that is being used lives on when its handle is dropped.
template <class T>
class Handles {
 public:
  // `what` names one in messages: "graph".
  explicit Handles(const char* what) : what_(what) {}

  // What belongs to no device is found under kNoDevice.
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
                  std::string(text) + " is no " + what_ + whose + ", or was destroyed");
    }
    return found;
  }

  const char* const what_;
  std::mutex mutex_;
  std::unordered_map<const void*, Held> held_;
};

DL_KIT_END

#endif  // DL_KIT_EXTENSION_H_
