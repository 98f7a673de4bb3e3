// Cache of operations: creating one takes a hundred times as long as looking it up.
#include <list>
#include <unordered_map>

#include "library/choices.h"
#include "library/onednn.h"

namespace dl::cpu::onednn {
namespace {

constexpr size_t kCapacity = 1024;

struct HashOfKey {
  size_t operator()(const Key& key) const { return key.hash(); }
};

// LRU cache, one per thread: an operation holds the addresses of the call that it serves. The
// generated code is shared, inside oneDNN.
class Cache {
 public:
  Cache() {
    Stream* created = nullptr;
    if (runtime()->api.stream_create(&created, runtime()->engine, kInOrder) == kSuccess)
      stream_.reset(created);
  }

  Stream* stream() const { return stream_.get(); }

  const Operation* find(const Key& key, const std::function<std::unique_ptr<Operation>()>& make) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->operation.get();
    }
    if (entries_.size() == kCapacity) {
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
    entries_.push_front({key, make()});
    index_.emplace(key, entries_.begin());
    return entries_.front().operation.get();
  }

 private:
  struct Entry {
    Key key;
    std::unique_ptr<Operation> operation;  // null if oneDNN declined
  };

  StreamOwner stream_;
  std::list<Entry> entries_;
  std::unordered_map<Key, std::list<Entry>::iterator, HashOfKey> index_;
};

// Sets OpenMP's number of threads to the host's, for the duration of a call.
class ThreadCount {
 public:
  explicit ThreadCount(int wanted) : before_(runtime()->threads()), wanted_(wanted) {
    if (before_ != wanted_) runtime()->set_threads(wanted_);
  }
  ~ThreadCount() {
    if (before_ != wanted_) runtime()->set_threads(before_);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_, wanted_;
};

}  // namespace

bool Key::operator==(const Key& other) const {
  if (count_ != other.count_) return false;
  for (int i = 0; i < count_; ++i) {
    if (values_[i] != other.values_[i]) return false;
  }
  return true;
}

uint64_t Key::hash() const {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < count_; ++i) {
    hash = (hash ^ static_cast<uint64_t>(values_[i])) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

bool run_cached(const kernels::Launch& launch, const Key& key,
                const std::function<std::unique_ptr<Operation>()>& make, void* const* data) {
  if (!key.complete()) return false;
  thread_local Cache cache;
  const int threads = static_cast<int>(choices::OneThread::threads(launch));
  // Operations are created for a given number of threads.
  const ThreadCount count(threads);
  Key full = key;
  full.add(threads);
  if (!full.complete() || cache.stream() == nullptr) return false;
  const Operation* operation = cache.find(full, make);
  return operation != nullptr && operation->run(launch, cache.stream(), data);
}

}  // namespace dl::cpu::onednn
