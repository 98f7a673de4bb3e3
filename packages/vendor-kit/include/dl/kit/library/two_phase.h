// Functions with two phases: the first checks the arguments and returns the size of a workspace and
// an executor; the second enqueues the work.
//
// `Objects` makes the library's own objects; each method is one call of the library:
//
//   static constexpr const char* kName             for messages
//   void* create_tensor(sizes, ndim, dtype, strides, offset, format, storage_elements, base)
//   void* create_scalar(const void* value, int dtype)
//   void* create_ints(const int64_t*, uint64_t), create_bools(const bool*, uint64_t),
//         create_doubles(const double*, uint64_t)
//   void* create_list(void* const* tensors, uint64_t)     owns the tensors
//   void destroy_tensor(void*), destroy_scalar(void*), destroy_ints(void*), destroy_bools(void*),
//        destroy_doubles(void*), destroy_list(void*), destroy_executor(void*)
//   bool make_repeatable(void* executor)           false: it can run only once
//   bool set_input(void* executor, uint64_t index, void* tensor, void* base), set_output(...)
//   bool declines(int status)                      of a first phase: the arguments are not
//   supported dl_code_t code(int status), std::string message(int status) bool read_shape(void*
//   tensor, Ints* sizes)     sizes that a function has set
//
// Repeatable executors are cached for each thread and device, with their objects: a call with the
// same layouts and numbers only exchanges addresses.
#ifndef DL_KIT_LIBRARY_TWO_PHASE_H_
#define DL_KIT_LIBRARY_TWO_PHASE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/layout.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/call_key.h"
#include "dl/kit/library/symbols.h"
#include "dl/kit/workspace.h"

DL_KIT_BEGIN

namespace library {

template <class Objects>
class TwoPhaseBackend : public Backend {
 public:
  // `capacity`: executors that are cached per thread and device; 0 disables the cache.
  TwoPhaseBackend(const LibraryFacts& facts, LibrarySet& libraries, Objects& objects,
                  size_t capacity = 1024)
      : facts_(facts),
        objects_(objects),
        addresses_(libraries, facts.function_count),
        capacity_(capacity) {}

  ~TwoPhaseBackend() override {
    for (auto& [key, cache] : caches_) cache->clear(objects_);
  }

  const LibraryFacts& facts() const override { return facts_; }
  bool has(const Function& function) override { return addresses_.has(function); }

  void run(Call& call, const Function& function, const std::vector<Argument>& arguments) override {
    const bool cacheable = capacity_ != 0 && is_cacheable(function, arguments);
    if (!cacheable) {
      Prepared once = prepare(call, function, arguments);
      Owner owner(objects_, once);
      execute(call, function, once);
      return;
    }
    Cache& cache = thread_cache(call.device());
    Layout key = call_key(*this, function, arguments);
    Prepared* found = cache.find(key);
    if (found != nullptr) {
      if (rebind(*found, function, arguments)) {
        try {
          execute(call, function, *found);
        } catch (...) {
          cache.drop(key, objects_);
          throw;
        }
        return;
      }
      cache.drop(key, objects_);
    }
    Prepared made = prepare(call, function, arguments);
    Owner owner(objects_, made);
    const bool is_repeatable = make_repeatable(function, made);
    execute(call, function, made);
    if (!is_repeatable) return;
    cache.insert(std::move(key), std::move(made), capacity_, objects_);
    made = Prepared{};
  }

  // The first phase of the call, whose executor is cached for run if it is repeatable.
  void accept(Call& call, const Function& function,
              const std::vector<Argument>& arguments) override {
    Cache* cache = nullptr;
    Layout key;
    if (capacity_ != 0 && is_cacheable(function, arguments)) {
      cache = &thread_cache(call.device());
      key = call_key(*this, function, arguments);
      if (cache->find(key) != nullptr) return;
    }
    Prepared made = prepare(call, function, arguments);
    Owner owner(objects_, made);
    if (cache == nullptr || !make_repeatable(function, made)) return;
    cache->insert(std::move(key), std::move(made), capacity_, objects_);
    made = Prepared{};
  }

  size_t cached() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t count = 0;
    for (const auto& [key, cache] : caches_) count += cache->size();
    return count;
  }
  uint64_t created() const override { return created_.load(std::memory_order_relaxed); }

  // Runs a function that determines its outputs' sizes: waits for the stream by `wait`, and
  // returns the sizes of the arguments in order; values other than tensors have none.
  template <class Wait>
  std::vector<Ints> run_and_read_shapes(Call& call, const Function& function,
                                        const std::vector<Argument>& arguments, const Wait& wait) {
    Prepared once = prepare(call, function, arguments);
    Owner owner(objects_, once);
    execute(call, function, once);
    wait();
    std::vector<Ints> shapes(once.objects.size());
    for (size_t i = 0; i < once.objects.size(); ++i) {
      if (once.objects[i].kind == kTensor) objects_.read_shape(once.objects[i].object, &shapes[i]);
    }
    return shapes;
  }

 private:
  enum Kind { kNone, kTensor, kScalar, kInts, kBools, kDoubles, kList };
  struct Object {
    Kind kind = kNone;
    void* object = nullptr;
  };
  // A checked call: its executor and the objects that the executor refers to.
  struct Prepared {
    void* executor = nullptr;
    uint64_t bytes = 0;
    bool is_repeatable = false;
    std::vector<Object> objects;  // one for each argument
  };

  // Destroys what a call leaves, also if it fails.
  class Owner {
   public:
    Owner(Objects& objects, Prepared& prepared) : objects_(objects), prepared_(prepared) {}
    ~Owner() { release(objects_, prepared_); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

   private:
    Objects& objects_;
    Prepared& prepared_;
  };

  static void release(Objects& objects, Prepared& prepared) {
    if (prepared.executor != nullptr) objects.destroy_executor(prepared.executor);
    prepared.executor = nullptr;
    for (Object& each : prepared.objects) destroy(objects, each);
    prepared.objects.clear();
  }
  static void destroy(Objects& objects, const Object& each) {
    if (each.object == nullptr) return;
    switch (each.kind) {
      case kTensor:
        return objects.destroy_tensor(each.object);
      case kScalar:
        return objects.destroy_scalar(each.object);
      case kInts:
        return objects.destroy_ints(each.object);
      case kBools:
        return objects.destroy_bools(each.object);
      case kDoubles:
        return objects.destroy_doubles(each.object);
      case kList:
        return objects.destroy_list(each.object);
      case kNone:
        return;
    }
  }

  // Executors of one thread and device, the most recently used first.
  class Cache {
   public:
    Prepared* find(const Layout& key) {
      const auto found = places_.find(key);
      if (found == places_.end()) return nullptr;
      entries_.splice(entries_.begin(), entries_, found->second);
      return &found->second->second;
    }
    void insert(Layout key, Prepared prepared, size_t capacity, Objects& objects) {
      const std::lock_guard<std::mutex> lock(mutex_);
      entries_.emplace_front(key, std::move(prepared));
      places_.emplace(std::move(key), entries_.begin());
      if (entries_.size() <= capacity) return;
      release(objects, entries_.back().second);
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    void drop(const Layout& key, Objects& objects) {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = places_.find(key);
      if (found == places_.end()) return;
      release(objects, found->second->second);
      entries_.erase(found->second);
      places_.erase(found);
    }
    void clear(Objects& objects) {
      for (auto& [key, prepared] : entries_) release(objects, prepared);
      entries_.clear();
      places_.clear();
    }
    size_t size() const {
      const std::lock_guard<std::mutex> lock(mutex_);
      return entries_.size();
    }

   private:
    using Entries = std::list<std::pair<Layout, Prepared>>;
    Entries entries_;
    std::unordered_map<Layout, typename Entries::iterator, LayoutHash> places_;
    mutable std::mutex mutex_;  // only of size(), which other threads call
  };

  // Executors are bound to the thread of their first phase. Caches stay in the map when their
  // thread ends: its identifier is not reused by threads that are alive.
  Cache& thread_cache(int32_t device) {
    static std::atomic<uint64_t> next{0};
    thread_local const uint64_t thread = next.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Cache>& cache = caches_[{thread, device}];
    if (cache == nullptr) cache = std::make_unique<Cache>();
    return *cache;
  }

  bool is_cacheable(const Function& function, const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) {
      if (std::holds_alternative<Views>(argument.value)) return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return once_only_.count(function.index) == 0;
  }
  void remember_once_only(const Function& function) {
    const std::lock_guard<std::mutex> lock(mutex_);
    once_only_.insert(function.index);
  }

  // Returns true if the executor can run again; if not, the function's next executors are not
  // asked.
  bool make_repeatable(const Function& function, Prepared& made) {
    made.is_repeatable = objects_.make_repeatable(made.executor);
    if (made.is_repeatable)
      created_.fetch_add(1, std::memory_order_relaxed);
    else
      remember_once_only(function);
    return made.is_repeatable;
  }

  Prepared prepare(Call& call, const Function& function, const std::vector<Argument>& arguments) {
    Prepared prepared;
    Owner owner(objects_, prepared);
    std::vector<Slot> slots(arguments.size());
    prepared.objects.resize(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      fill(arguments[i], slots[i], prepared.objects[i], function.arguments[i].name);
    const int status = function.begin(addresses_.begin_address(function), slots.data(),
                                      &prepared.bytes, &prepared.executor);
    if (status != 0) {
      prepared.executor = nullptr;
      const bool declined = objects_.declines(status);
      throw Error(declined ? DL_NOT_SUPPORTED : objects_.code(status),
                  std::string(call.name()) + ": " + function.name +
                      " refuses the arguments: " + objects_.message(status),
                  function.begin_name);
    }
    Prepared result = std::move(prepared);
    prepared = Prepared{};
    return result;
  }

  void fill(const Argument& argument, Slot& slot, Object& object, const char* name) {
    slot.pointer = nullptr;
    if (const View* view = argument.view()) {
      object = {kTensor, create(*view)};
    } else if (const Views* views = std::get_if<Views>(&argument.value)) {
      object = {kList, create(*views)};
    } else if (const Scalar* scalar = std::get_if<Scalar>(&argument.value)) {
      const ScalarBytes bytes(scalar->value);
      object = {kScalar, objects_.create_scalar(bytes.data(), dtype(bytes.dtype()))};
    } else if (const Ints* ints = std::get_if<Ints>(&argument.value)) {
      object = {kInts, objects_.create_ints(ints->data(), ints->size())};
    } else if (const Bools* bools = std::get_if<Bools>(&argument.value)) {
      object = {kBools, objects_.create_bools(reinterpret_cast<const bool*>(bools->values.data()),
                                              bools->size())};
    } else if (const Doubles* doubles = std::get_if<Doubles>(&argument.value)) {
      object = {kDoubles, objects_.create_doubles(doubles->data(), doubles->size())};
    } else if (const Dtype* given = std::get_if<Dtype>(&argument.value)) {
      slot.integer = dtype(given->value);
      return;
    } else if (const int64_t* integer = std::get_if<int64_t>(&argument.value)) {
      slot.integer = *integer;
      return;
    } else if (const double* number = std::get_if<double>(&argument.value)) {
      slot.number = *number;
      return;
    } else if (const bool* boolean = std::get_if<bool>(&argument.value)) {
      slot.integer = *boolean ? 1 : 0;
      return;
    } else if (const char* const* text = std::get_if<const char*>(&argument.value)) {
      slot.pointer = const_cast<char*>(*text);
      return;
    } else {
      return;
    }
    if (object.object == nullptr)
      throw Error(DL_ERROR, std::string(Objects::kName) + " cannot create the object for " + name +
                                ": " + objects_.message(0));
    slot.pointer = object.object;
  }

  void* create(const View& view) {
    return objects_.create_tensor(view.sizes, view.ndim, dtype(view.dtype), view.strides,
                                  view.offset, format(view), storage_elements(view), view.storage);
  }
  void* create(const Views& views) {
    std::vector<void*> tensors;
    void* list = nullptr;
    try {
      for (const View& view : views) {
        void* const tensor = create(view);
        if (tensor == nullptr) break;
        tensors.push_back(tensor);
      }
      if (tensors.size() == views.size())
        list = objects_.create_list(tensors.data(), tensors.size());
    } catch (...) {
      for (void* tensor : tensors) objects_.destroy_tensor(tensor);
      throw;
    }
    if (list == nullptr) {
      for (void* tensor : tensors) objects_.destroy_tensor(tensor);
    }
    return list;
  }

  // Gives a cached executor the addresses of this call. The same tensor objects are passed, because
  // the executor refers to them.
  bool rebind(Prepared& prepared, const Function& function,
              const std::vector<Argument>& arguments) {
    uint64_t inputs = 0, outputs = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const View* view = arguments[i].view();
      if (view == nullptr) continue;
      const ArgumentFacts& facts = function.arguments[i];
      void* const tensor = prepared.objects[i].object;
      if (facts.reads && !objects_.set_input(prepared.executor, inputs++, tensor, view->storage))
        return false;
      if (facts.writes && !objects_.set_output(prepared.executor, outputs++, tensor, view->storage))
        return false;
    }
    return true;
  }

  void execute(Call& call, const Function& function, Prepared& prepared) {
    // The workspace first: without memory for it, the executor still belongs to this call.
    void* const memory = workspace(call.context(), prepared.bytes);
    void* const executor = prepared.executor;
    if (!prepared.is_repeatable) prepared.executor = nullptr;  // the second phase destroys it
    const int status = facts_.execute(addresses_.address(function), memory, prepared.bytes,
                                      executor, call.stream());
    if (status == 0) return;
    throw Error(
        objects_.code(status),
        std::string(call.name()) + ": " + function.name + " failed: " + objects_.message(status),
        function.name);
  }

  struct ThreadDeviceHash {
    size_t operator()(const std::pair<uint64_t, int32_t>& key) const noexcept {
      return std::hash<uint64_t>()(key.first * 1000003U + static_cast<uint64_t>(key.second));
    }
  };

  const LibraryFacts& facts_;
  Objects& objects_;
  FunctionAddresses addresses_;
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::unordered_map<std::pair<uint64_t, int32_t>, std::unique_ptr<Cache>, ThreadDeviceHash>
      caches_;
  std::unordered_set<int> once_only_;
  std::atomic<uint64_t> created_{0};
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_TWO_PHASE_H_
