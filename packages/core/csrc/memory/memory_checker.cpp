#include "memory/memory_checker.h"

#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "memory/device_state.h"
#include "memory/growth.h"
#include "memory/guarded_block.h"
#include "memory/segments.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

// Limits for freed blocks that are quarantined: their number and their total bytes.
constexpr size_t kMaxQuarantined = 4096;
constexpr size_t kMostKeptBytes = size_t{256} << 20;

class Checker final : public DeviceAllocator {
 public:
  void start(const MemoryCheck& check) {
    check_ = check;
    on_ = true;
    if (check.every_operator) watch_operators();
  }
  bool is_on() const { return on_; }
  void set_plain(DeviceAllocator* plain) { plain_ = plain; }

  at::DataPtr allocate(size_t bytes) override { return allocate_on(bytes, current_device()); }

  at::DataPtr allocate_on(size_t bytes, int index) override {
    const c10::Device where(kDeviceType, static_cast<c10::DeviceIndex>(index));
    if (bytes == 0) return {nullptr, where};
    TORCH_CHECK(static_cast<int64_t>(bytes) > 0, "[dl] a negative number of bytes cannot be ",
                "allocated on dl:", index, ": ", static_cast<int64_t>(bytes));
    check_not_forked();
    note_device_use();
    device(index);
    auto block = std::make_shared<GuardedBlock>();
    block->bytes = bytes;
    block->padding = state_of(index).padding;
    block->device = index;
    block->stream = current_stream(index).id();
    block->allocated = stack();
    block->whole = take(*block);
    paint_new(*block);
    note_segment(block->whole, block->whole_bytes(), index);
    count(index, static_cast<int64_t>(bytes), static_cast<int64_t>(block->whole_bytes()));
    const std::lock_guard<std::mutex> guard(mutex_);
    block->number = ++allocations_;
    void* const memory = block->memory();
    live_[memory] = std::move(block);
    return {memory, memory, &release, where};
  }

  at::DataPtr adopt(at::DataPtr&& host_memory, size_t bytes, int index) override {
    return plain_->adopt(std::move(host_memory), bytes, index);
  }
  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    plain_->copy_data(destination, source, bytes);
  }
  bool initialized() override { return plain_->initialized(); }
  void emptyCache(c10::MempoolId_t pool) override {
    check();
    release_quarantine();
    plain_->emptyCache(pool);
  }
  // Freed memory is reused only after the device has been idle, so streams need not be recorded.
  void recordStream(const at::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    return plain_->getDeviceStats(index);
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    plain_->resetAccumulatedStats(index);
  }
  void resetPeakStats(c10::DeviceIndex index) override { plain_->resetPeakStats(index); }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    return plain_->getMemoryInfo(index);
  }

  // `operator_name` is the operator that has just run; NULL if there is none.
  std::vector<std::string> check(const char* operator_name = nullptr) {
    const std::string when = operator_name == nullptr ? "" : c10::str(" by ", operator_name);
    std::vector<Finding> findings;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      for (int index = 0; index < device_count(); ++index) synchronize_device(index);
      for (auto& [memory, block] : live_) look_at_guards(block, when, findings);
      for (auto& block : kept_) look_at_freed(block, when, findings);
    }
    if (!findings.empty()) tell(findings, operator_name == nullptr ? nullptr : stack());
    const std::lock_guard<std::mutex> guard(mutex_);
    return told_;
  }

  std::string freed_before(const void* memory) {
    BlockPointer found;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      for (const auto& block : kept_)
        if (block->memory() == memory) found = block;
    }
    return found == nullptr ? "" : story(*found);
  }

  void prepare_leak_report() {
    std::vector<BlockPointer> blocks;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      for (const auto& [memory, block] : live_) blocks.push_back(block);
    }
    for (const auto& block : blocks) {
      std::string origin = stack_text(block->allocated);
      const std::lock_guard<std::mutex> guard(mutex_);
      origins_[block->number] = std::move(origin);
    }
    static const int registered = std::atexit([] { instance().report_leaks(); });
    (void)registered;
  }

  static Checker& instance() {
    static auto* made = new Checker;
    return *made;
  }

 private:
  // Shared ownership, because reports are printed without the lock: symbolizing Python frames needs
  // the GIL, whose holder may be waiting for the lock.
  using BlockPointer = std::shared_ptr<GuardedBlock>;

  struct Finding {
    std::string what;
    BlockPointer block;
  };

  static void release(void* memory) {
    if (!in_bad_fork()) instance().free(memory);
  }

  char* take(const GuardedBlock& block) {
    const Device& owner = device_unchecked(block.device);
    const auto from_vendor = [&] {
      void* memory = nullptr;
      owner.vendor->call(&dl_vendor_table_t::memory_allocate, "memory_allocate", owner.local,
                         static_cast<uint64_t>(block.whole_bytes()), &memory);
      return static_cast<char*>(memory);
    };
    try {
      return from_vendor();
    } catch (const c10::OutOfMemoryError&) {
      release_quarantine();
    }
    try {
      return from_vendor();
    } catch (const c10::OutOfMemoryError& error) {
      fail_out_of_memory(block.device, block.stream, block.bytes, error.what_without_backtrace());
    }
  }

  static void count(int index, int64_t bytes, int64_t whole) {
    DeviceState& state = state_of(index);
    const std::lock_guard<SpinLock> guard(state.lock);
    const auto change = [](Tally& tally, int64_t by) {
      by > 0 ? tally.increase(by) : tally.decrease(-by);
    };
    change(state.allocated, bytes);
    change(state.requested, bytes);
    change(state.reserved, whole);
    change(state.allocations, bytes > 0 ? 1 : -1);
    change(state.segments, bytes > 0 ? 1 : -1);
  }

  void free(void* memory) noexcept {
    try {
      const Stack here = stack();
      std::vector<Finding> findings;
      {
        const std::lock_guard<std::mutex> guard(mutex_);
        const auto found = live_.find(memory);
        if (found == live_.end()) return;
        const BlockPointer block = std::move(found->second);
        live_.erase(found);
        count(block->device, -static_cast<int64_t>(block->bytes),
              -static_cast<int64_t>(block->whole_bytes()));
        block->freed = here;
        synchronize_device(block->device);
        look_at_guards(block, "", findings);
        paint_freed(*block);
        kept_bytes_ += block->bytes;
        kept_.push_back(block);
        while (kept_.size() > kMaxQuarantined || kept_bytes_ > kMostKeptBytes)
          drop_oldest(findings);
      }
      tell(findings);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "[dl memory check] a block could not be checked: %s\n", error.what());
    }
  }

  void drop_oldest(std::vector<Finding>& findings) {
    const BlockPointer block = std::move(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= block->bytes;
    const Device& owner = device_unchecked(block->device);
    synchronize_device(block->device);
    look_at_freed(block, "", findings);
    forget_segment(block->whole);
    owner.vendor->call_noexcept(&dl_vendor_table_t::memory_free, "memory_free", owner.local,
                                static_cast<void*>(block->whole));
  }

  void release_quarantine() {
    std::vector<Finding> findings;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      while (!kept_.empty()) drop_oldest(findings);
    }
    tell(findings);
  }

  static void look_at_guards(const BlockPointer& block, const std::string& when,
                             std::vector<Finding>& findings) {
    const auto changed = changed_guard(*block);
    if (!changed) return;
    const int64_t beyond = *changed - static_cast<int64_t>(block->bytes);
    const std::string where = beyond >= 0 ? c10::str(beyond, " bytes after the end of ")
                                          : c10::str(-*changed, " bytes before the start of ");
    findings.push_back(
        {c10::str("out of bounds: ", where, describe(*block), " was written", when), block});
    repaint_guards(*block);
  }

  static void look_at_freed(const BlockPointer& block, const std::string& when,
                            std::vector<Finding>& findings) {
    const auto changed = changed_after_free(*block);
    if (!changed) return;
    findings.push_back({c10::str("use after free: byte ", *changed, " of ", describe(*block),
                                 ", which has been freed, was written", when),
                        block});
    paint_freed(*block);
  }

  // Returns the stacks of the block's allocation and of its release.
  static std::string story(const GuardedBlock& block) {
    if (block.allocated == nullptr)
      return "  DL_MEM_CHECK_ENABLE_BACKTRACE=1 tells where it was allocated.\n";
    std::string text = "  allocated at\n" + stack_text(block.allocated);
    if (block.freed != nullptr) text += "  freed at\n" + stack_text(block.freed);
    return text;
  }

  void tell(const std::vector<Finding>& findings, const Stack& guilty = nullptr) {
    for (const Finding& finding : findings) {
      std::string text = finding.what + ".\n";
      if (guilty != nullptr) text += "  written at\n" + stack_text(guilty);
      text += story(*finding.block);
      std::fprintf(stderr, "[dl memory check] %s", text.c_str());
      const std::lock_guard<std::mutex> guard(mutex_);
      told_.push_back(std::move(text));
    }
  }

  Stack stack() const { return check_.stacks ? gather_stack() : nullptr; }

  void watch_operators() {
    const auto end = [](const at::RecordFunction& function, at::ObserverContext*) {
      instance().check(function.name());
    };
    at::addGlobalCallback(
        at::RecordFunctionCallback(nullptr, end).scopes({at::RecordScope::FUNCTION}));
  }

  void report_leaks() {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (live_.empty()) return;
    size_t bytes = 0;
    for (const auto& [memory, block] : live_) bytes += block->bytes;
    std::fprintf(stderr, "[dl memory check] leaks: %zu blocks, %zu bytes\n", live_.size(), bytes);
    for (const auto& [memory, block] : live_) {
      std::fprintf(stderr, "  %s\n", describe(*block).c_str());
      const auto origin = origins_.find(block->number);
      if (origin != origins_.end() && !origin->second.empty())
        std::fprintf(stderr, "  allocated at\n%s", origin->second.c_str());
    }
  }

  bool on_ = false;
  MemoryCheck check_{};
  DeviceAllocator* plain_ = nullptr;
  std::mutex mutex_;
  uint64_t allocations_ = 0;
  std::unordered_map<const void*, BlockPointer> live_;
  std::deque<BlockPointer> kept_;
  size_t kept_bytes_ = 0;
  std::vector<std::string> told_;
  std::unordered_map<uint64_t, std::string> origins_;  // by block number
};

}  // namespace

void start_memory_check(const MemoryCheck& check) { Checker::instance().start(check); }

bool checks_memory() { return Checker::instance().is_on(); }

DeviceAllocator* checking_allocator(DeviceAllocator* plain) {
  Checker::instance().set_plain(plain);
  return &Checker::instance();
}

std::vector<std::string> check_memory() {
  return checks_memory() ? Checker::instance().check() : std::vector<std::string>();
}

std::string freed_before(const void* memory) { return Checker::instance().freed_before(memory); }

void prepare_leak_report() {
  if (checks_memory()) Checker::instance().prepare_leak_report();
}

}  // namespace dl::core
