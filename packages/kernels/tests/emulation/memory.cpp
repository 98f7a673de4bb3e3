// Device memory of the emulated GPU, and the queue of the work that may access it. Every allocation
// ends at the end of a page (up to its alignment), is followed by a gap, and is inaccessible while
// the host runs: reading it there, past its end or after its release crashes the process. New
// memory is not zero, and the bytes around an allocation must not change.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "gpu_emulation.h"
#include "watch.h"

namespace emulation {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr size_t kAlignment = 64;
// The address range, which costs nothing: addresses are not reused.
constexpr size_t kAddresses = size_t(1) << 40;
constexpr int kAround = 0xa5;

struct Memory {
  char* begin = nullptr;
  size_t used = 0;                         // bytes of address space
  uint64_t live_bytes = 0;                 // bytes of all allocations
  std::map<const char*, Allocation> live;  // by their first page
  Allocation* last = nullptr;              // most recently found
  bool open = false;
};

Memory& memory() {
  static Memory& instance = *new Memory;
  return instance;
}

struct Work {
  std::function<void()> run;
  const char* kernel;
};

std::deque<Work>& queue() {
  static auto& instance = *new std::deque<Work>;
  return instance;
}

uint64_t fetched = 0;

void set_open(bool open) {
  memory().open = open;
  for (const auto& [page, found] : memory().live)
    mprotect(found.pages, found.page_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

// Overwrite what the host's functions left on the stack, so that it does not look like valid data.
__attribute__((noinline)) void overwrite_stack() {
  volatile char garbage[32768];
  for (size_t i = 0; i < sizeof(garbage); ++i) garbage[i] = static_cast<char>(0xa5);
}

void check_around(const Allocation& found, const char* begin, const char* end) {
  static const std::vector<unsigned char> kUnchanged(kPage, kAround);
  const auto size = static_cast<size_t>(end - begin);
  if (std::memcmp(begin, kUnchanged.data(), size) == 0) return;
  for (const char* at = begin; at != end; ++at) {
    if (static_cast<unsigned char>(*at) == kAround) continue;
    char what[160];
    const bool before = at < found.address;
    std::snprintf(what, sizeof what, "a write %td bytes %s an allocation of %zu bytes",
                  before ? found.address - at : at - found.address - ptrdiff_t(found.bytes) + 1,
                  before ? "before" : "behind", found.bytes);
    report("out-of-bounds", what, nullptr);
    std::memset(const_cast<char*>(begin), kAround, size);
    return;
  }
}

void note_written(void* to, size_t bytes) {
  Allocation* const found = is_watched() ? allocation_of(to) : nullptr;
  if (found == nullptr) return;
  const size_t first = static_cast<size_t>(static_cast<char*>(to) - found->address);
  std::memset(found->known().is_written.get() + first, 1, bytes);
}

}  // namespace

bool is_device_address(const void* address) {
  const Memory& m = memory();
  const char* const at = static_cast<const char*>(address);
  return m.begin != nullptr && at >= m.begin && at < m.begin + kAddresses;
}

Allocation* allocation_of(const void* address) {
  Memory& m = memory();
  const char* const at = static_cast<const char*>(address);
  const auto holds = [at](const Allocation& one) {
    return at >= one.pages && at < one.pages + one.page_bytes;
  };
  if (m.last != nullptr && holds(*m.last)) return m.last;
  auto found = m.live.upper_bound(at);
  if (found == m.live.begin()) return nullptr;
  Allocation& one = (--found)->second;
  if (!holds(one)) return nullptr;
  m.last = &one;
  return &one;
}

void check_surroundings() {
  for (const auto& [page, found] : memory().live) {
    const char* const end = found.address + found.bytes;
    check_around(found, found.pages, found.address);
    check_around(found, end, found.pages + found.page_bytes);
  }
}

uint64_t free_memory() { return kMemory - memory().live_bytes; }

void* allocate(size_t bytes) {
  Memory& m = memory();
  if (bytes > free_memory()) return nullptr;
  if (m.begin == nullptr) {
    void* const made =
        mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return nullptr;
    m.begin = static_cast<char*>(made);
  }
  const size_t used = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (used + kPage - 1) / kPage * kPage;
  if (pages + kPage > kAddresses - m.used) return nullptr;
  char* const begin = m.begin + m.used;
  if (mprotect(begin, pages, PROT_READ | PROT_WRITE) != 0) return nullptr;
  m.used += pages + kPage;
  m.live_bytes += bytes;
  char* const address = begin + (pages - used);
  std::memset(begin, kAround, pages);
  std::memset(address, kNewByte, bytes);
  if (!m.open) mprotect(begin, pages, PROT_NONE);
  m.live[begin] = {begin, pages, address, bytes, nullptr};
  return address;
}

void release(void* address) {
  Allocation* const found = allocation_of(address);
  if (found == nullptr || found->address != address) return;
  madvise(found->pages, found->page_bytes, MADV_DONTNEED);
  mprotect(found->pages, found->page_bytes, PROT_NONE);
  memory().last = nullptr;
  memory().live_bytes -= found->bytes;
  memory().live.erase(found->pages);
}

void enqueue(std::function<void()> work, const char* kernel) {
  queue().push_back({std::move(work), kernel});
}

void wait() {
  if (queue().empty()) return;
  overwrite_stack();
  set_open(true);
  while (!queue().empty()) {
    const Work work = std::move(queue().front());
    queue().pop_front();
    watch_work(work.kernel);
    expect_crashes();
    work.run();
    expect_no_crashes();
    watch_end();
    check_surroundings();
  }
  set_open(false);
}

void copy_now(void* to, const void* from, size_t bytes) {
  wait();
  set_open(true);
  copy_bytes(to, from, bytes);
  set_open(false);
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  Allocation* const source = allocation_of(from);
  Allocation* const target = allocation_of(to);
  std::memmove(to, from, bytes);
  if (target == nullptr || bytes == 0 || !is_watched()) return;
  if (source == nullptr) return note_written(to, bytes);
  const size_t first = static_cast<size_t>(static_cast<char*>(to) - target->address);
  const size_t other = static_cast<size_t>(static_cast<const char*>(from) - source->address);
  std::memmove(target->known().is_written.get() + first, source->known().is_written.get() + other,
               bytes);
}

void fill_bytes(void* to, int value, size_t bytes) {
  std::memset(to, value, bytes);
  note_written(to, bytes);
}

void fetch(void* to, const void* from, size_t bytes) {
  ++fetched;
  copy_now(to, from, bytes);
}

uint64_t fetches() { return fetched; }

}  // namespace emulation
