// Device memory of the emulated GPU, and the queue of the work that may touch it. Every allocation
// ends at the end of a page, has a gap behind it, and is closed while the host runs: reading it
// there, past its end or after its release ends the process.
#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <map>
#include <new>
#include <utility>

#include "gpu_emulation.h"

namespace emulation {
namespace {

constexpr size_t kPage = 4096, kAlignment = 64;

struct Memory {
  struct Pages {
    void* begin;
    size_t bytes;
  };
  std::map<void*, Pages> live;  // by the address that was handed out
  bool open = false;
};

Memory& memory() {
  static Memory instance;
  return instance;
}

std::deque<std::function<void()>>& queue() {
  static std::deque<std::function<void()>> instance;
  return instance;
}

uint64_t fetched = 0;

void set_open(bool open) {
  memory().open = open;
  for (const auto& [address, pages] : memory().live)
    mprotect(pages.begin, pages.bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

// What the host's functions left behind must not look like what they worked on.
__attribute__((noinline)) void overwrite_stack() {
  volatile char garbage[32768];
  for (size_t i = 0; i < sizeof(garbage); ++i) garbage[i] = static_cast<char>(0xa5);
}

}  // namespace

void* allocate(size_t bytes) {
  const size_t used = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (used + kPage - 1) / kPage * kPage;
  void* begin = mmap(nullptr, pages + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  if (memory().open) mprotect(begin, pages, PROT_READ | PROT_WRITE);
  void* address = static_cast<char*>(begin) + (pages - used);
  memory().live[address] = {begin, pages};
  return address;
}

void release(void* address) {
  const auto found = memory().live.find(address);
  if (found == memory().live.end()) return;
  munmap(found->second.begin, found->second.bytes + kPage);
  memory().live.erase(found);
}

void enqueue(std::function<void()> work) { queue().push_back(std::move(work)); }

void wait() {
  if (queue().empty()) return;
  overwrite_stack();
  set_open(true);
  while (!queue().empty()) {
    const std::function<void()> work = std::move(queue().front());
    queue().pop_front();
    work();
  }
  set_open(false);
}

void copy_now(void* to, const void* from, size_t bytes) {
  wait();
  set_open(true);
  std::memmove(to, from, bytes);
  set_open(false);
}

void fetch(void* to, const void* from, size_t bytes) {
  ++fetched;
  copy_now(to, from, bytes);
}

uint64_t fetches() { return fetched; }

}  // namespace emulation
