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
//   bool declines(int status)                      of a first phase: it does not support the call
//   dl_code_t code(int status), std::string message(int status)
//   bool read_shape(void* tensor, Ints* sizes)     sizes that a function has set
//
// Repeatable executors are cached for each thread and device, with their objects: a call with the
// same layouts and numbers only exchanges addresses.
#ifndef DL_KIT_LIBRARY_TWO_PHASE_H_
#define DL_KIT_LIBRARY_TWO_PHASE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/layout.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/call_key.h"
#include "dl/kit/library/per_thread.h"
#include "dl/kit/library/prepared_call.h"
#include "dl/kit/library/symbols.h"
#include "dl/kit/lru.h"
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

  const LibraryFacts& facts() const override { return facts_; }
  bool has(const Function& function) override { return addresses_.has(function); }

  void run(Call& call, const Function& function, const std::vector<Argument>& arguments) override {
    if (!is_cacheable(function, arguments)) {
      Prepared once = prepare(call, function, arguments);
      execute(call, function, once, false);
      return;
    }
    Cache& cache = thread_cache(call.device());
    const Layout key = call_key(*this, function, arguments);
    if (const auto found = cache.find(key)) {
      if (found->rebind(function, arguments)) {
        try {
          execute(call, function, found->bytes(), [&] { return found->executor(); });
        } catch (...) {
          cache.erase(key);
          throw;
        }
        return;
      }
      cache.erase(key);
    }
    Prepared made = prepare(call, function, arguments);
    const bool is_repeatable = make_repeatable(function, made);
    execute(call, function, made, is_repeatable);
    if (is_repeatable) cache.insert(key, std::make_shared<const Prepared>(std::move(made)));
  }

  // The first phase of the call, whose executor is cached for run if it is repeatable.
  void accept(Call& call, const Function& function,
              const std::vector<Argument>& arguments) override {
    if (!is_cacheable(function, arguments)) {
      (void)prepare(call, function, arguments);
      return;
    }
    Cache& cache = thread_cache(call.device());
    const Layout key = call_key(*this, function, arguments);
    if (cache.find(key) != nullptr) return;
    Prepared made = prepare(call, function, arguments);
    if (make_repeatable(function, made))
      cache.insert(key, std::make_shared<const Prepared>(std::move(made)));
  }

  size_t cached() const override {
    size_t count = 0;
    caches_.for_each([&](const auto& cache) { count += cache->size(); });
    return count;
  }
  uint64_t created() const override { return created_.load(std::memory_order_relaxed); }

  // Runs a function whose outputs have sizes that it finds out: waits for the stream by `wait`, and
  // returns the sizes of the arguments in order, empty ones for other values than tensors.
  template <class Wait>
  std::vector<Ints> run_and_read_shapes(Call& call, const Function& function,
                                        const std::vector<Argument>& arguments, const Wait& wait) {
    Prepared once = prepare(call, function, arguments);
    execute(call, function, once, false);
    wait();
    return once.shapes();
  }

 private:
  using Prepared = PreparedCall<Objects>;
  using Cache = Lru<Layout, Prepared, LayoutHash>;

  // Executors are bound to the thread of their first phase.
  Cache& thread_cache(int32_t device) {
    return *caches_.get(device, [&] { return std::make_unique<Cache>(capacity_); });
  }

  bool is_cacheable(const Function& function, const std::vector<Argument>& arguments) {
    if (capacity_ == 0) return false;
    for (const Argument& argument : arguments) {
      if (std::holds_alternative<Views>(argument.value)) return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return once_only_.count(function.index) == 0;
  }

  // Returns true if the executor can run again; if not, the function's next executors are not
  // asked.
  bool make_repeatable(const Function& function, Prepared& made) {
    if (made.make_repeatable()) {
      created_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    once_only_.insert(function.index);
    return false;
  }

  Prepared prepare(Call& call, const Function& function, const std::vector<Argument>& arguments) {
    return Prepared(objects_, addresses_.begin_address(function), call, function, arguments);
  }

  void execute(Call& call, const Function& function, Prepared& prepared, bool is_repeatable) {
    execute(call, function, prepared.bytes(),
            [&] { return is_repeatable ? prepared.executor() : prepared.release_executor(); });
  }
  // The workspace first: if the host has no memory, the executor is still this call's.
  template <class Take>
  void execute(Call& call, const Function& function, uint64_t bytes, const Take& take) {
    void* const memory = workspace(call.context(), bytes);
    const int status =
        facts_.execute(addresses_.address(function), memory, bytes, take(), call.stream());
    if (status == 0) return;
    throw Error(
        objects_.code(status),
        std::string(call.name()) + ": " + function.name + " failed: " + objects_.message(status),
        function.name);
  }

  const LibraryFacts& facts_;
  Objects& objects_;
  FunctionAddresses addresses_;
  const size_t capacity_;
  PerThread<std::unique_ptr<Cache>> caches_;
  std::mutex mutex_;
  std::unordered_set<int> once_only_;
  std::atomic<uint64_t> created_{0};
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_TWO_PHASE_H_
