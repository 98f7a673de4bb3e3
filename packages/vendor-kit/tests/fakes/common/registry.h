// Objects that a program creates and destroys through a fake library, by their address.
#ifndef DL_FAKES_REGISTRY_H_
#define DL_FAKES_REGISTRY_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#pragma GCC visibility push(hidden)

namespace fake_driver {

// `Object` has a member `kind`. Objects are freed some time after their end, so that stale pointers
// are not soon valid again.
template <class Object>
class Registry {
 public:
  using Kind = std::remove_const_t<decltype(Object::kind)>;

  void add(std::unique_ptr<Object> object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[object->kind];
    const void* key = object.get();
    alive_[key] = std::move(object);
  }
  // Returns the live object of this kind, or null.
  Object* find(const void* pointer, Kind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = alive_.find(pointer);
    return found != alive_.end() && found->second->kind == kind ? found->second.get() : nullptr;
  }
  // Ends the life of an object; false if it is not alive.
  bool remove(const void* pointer, Kind kind) {
    std::unique_ptr<Object> expired;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = alive_.find(pointer);
    if (found == alive_.end() || found->second->kind != kind) return false;
    --counts_[kind];
    ended_.push_back(std::move(found->second));
    alive_.erase(found);
    if (ended_.size() > kQuarantine) {
      expired = std::move(ended_.front());
      ended_.pop_front();
    }
    return true;
  }
  // Number of live objects of a kind.
  size_t count(Kind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_[kind];
  }

 private:
  static constexpr size_t kQuarantine = 4096;

  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Object>> alive_;
  std::deque<std::unique_ptr<Object>> ended_;
  std::map<Kind, size_t> counts_;
};

}  // namespace fake_driver

#pragma GCC visibility pop

#endif  // DL_FAKES_REGISTRY_H_
