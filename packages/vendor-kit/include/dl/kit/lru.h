// A bounded cache that evicts the least recently used entry. Thread-safe; an entry in use stays
// alive after its eviction.
#ifndef DL_KIT_LRU_H_
#define DL_KIT_LRU_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "dl/kit/base.h"

DL_KIT_BEGIN

template <class Key, class Value, class Hash = std::hash<Key>>
class Lru {
 public:
  explicit Lru(size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  // Returns the value of `key`, created by `make()` if missing. `make()` runs without the lock,
  // because it may be slow: two threads may both create a value, and the first to finish wins.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) {
    if (auto found = find(key)) return found;
    return insert(key, std::make_shared<const Value>(make()));
  }

  // Caches a value, and returns it. If the key has a value by now, that one is returned and kept.
  std::shared_ptr<const Value> insert(const Key& key, std::shared_ptr<const Value> made) {
    std::shared_ptr<const Value> forgotten;  // freed after unlocking
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = places_.find(key);
    if (found != places_.end()) return use(found->second);
    entries_.emplace_front(key, made);
    places_.emplace(key, entries_.begin());
    ++made_;
    if (entries_.size() > capacity_) {
      forgotten = std::move(entries_.back().second);
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return made;
  }

  // Returns NULL if the key is missing.
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : use(found->second);
  }

  // Does nothing if the key is missing.
  void erase(const Key& key) {
    std::shared_ptr<const Value> forgotten;  // freed after unlocking
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    forgotten = std::move(found->second->second);
    entries_.erase(found->second);
    places_.erase(found);
  }

  void clear() {
    Entries forgotten;
    const std::lock_guard<std::mutex> lock(mutex_);
    places_.clear();
    forgotten.swap(entries_);
  }

  size_t size() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }
  size_t capacity() const { return capacity_; }
  // Number of values created and inserted so far, which measures cache misses.
  uint64_t made() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return made_;
  }

 private:
  using Entries = std::list<std::pair<Key, std::shared_ptr<const Value>>>;

  std::shared_ptr<const Value> use(typename Entries::iterator place) {
    entries_.splice(entries_.begin(), entries_, place);
    return place->second;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recently used first
  std::unordered_map<Key, typename Entries::iterator, Hash> places_;
  uint64_t made_ = 0;
};

DL_KIT_END

#endif  // DL_KIT_LRU_H_
