// Checks every access of a kernel, as reported by units compiled with -fsanitize=thread, against
// the state of its bytes. Threads of a block are ordered by block barriers, those of a warp also by
// warp barriers (a shuffle does not order memory), and blocks only by a fence and an atomic access
// on both sides. Writing the value that is already there is not a race.
#include "watch.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "gpu_emulation.h"
#include "memory.h"

// The linker's section of zero-initialized variables, which includes those of blocks.
extern "C" {
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace emulation {
namespace {

constexpr int kManyThreads = 511;  // several threads that wrote the same value

// Number of block and warp barriers before an access.
struct Met {
  uint64_t block = 0, warp = 0;
};

Access access(uint64_t work, int64_t block, Met met, int thread, bool atomic) {
  return work << 48 | (static_cast<uint64_t>(block) & 0xfffff) << 28 | (met.block & 0x3ff) << 18 |
         (met.warp & 0xff) << 10 | static_cast<uint64_t>(thread) << 1 |
         static_cast<uint64_t>(atomic);
}
uint64_t work_of(Access one) { return one >> 48; }
int64_t block_of(Access one) { return static_cast<int64_t>(one >> 28 & 0xfffff); }
uint64_t barriers_of(Access one) { return one >> 18 & 0x3ff; }
uint64_t warp_barriers_of(Access one) { return one >> 10 & 0xff; }
int thread_of(Access one) { return static_cast<int>(one >> 1 & 0x1ff); }
bool is_atomic(Access one) { return (one & 1) != 0; }

// Shared variables of blocks: `written_in` is the index of a block over all launches.
struct SharedShadow {
  std::vector<uint32_t> written_in;
  std::vector<Access> write, read, other_read;
};

// A write that is a race if it changes the value, which is checked after it has been done.
struct Pending {
  char* at = nullptr;
  size_t size = 0;
  unsigned char before[16];
  Access* write = nullptr;
  const void* place = nullptr;
};

struct Watch {
  const char* kernel = nullptr;
  uint64_t work = 0, barriers = 0;
  // Indexed by the first thread of a warp.
  uint64_t warp_barriers[kBlockThreads] = {};
  int64_t block = 0;
  uint32_t block_number = 0;
  int thread = 0;
  Pending pending;
  // Blocks that have published their work by a fence and an atomic access; those among them
  // published before this block's last atomic access; and those that a later fence has made
  // visible.
  std::set<int64_t> shown, met, visible;
  bool fenced = false;
  SharedShadow shared;
  std::set<std::pair<const void*, const char*>> said;
  uint64_t findings = 0;
};

Watch& watch() {
  static Watch& instance = *new Watch;
  return instance;
}

// A kernel runs, and no access is being checked. Standard library functions used here may be
// instrumented copies.
bool active = false;
bool watched = false;

// Disables the checks during its lifetime.
class Pause {
 public:
  Pause() : before_(std::exchange(active, false)) {}
  ~Pause() { active = before_; }

 private:
  bool before_;
};

int warp_of(int thread) { return thread / warp_threads() * warp_threads(); }

Access access(const Watch& w, int thread, bool atomic) {
  const Met met{w.barriers, w.warp_barriers[warp_of(w.thread)]};
  return access(w.work, w.block, met, thread, atomic);
}

bool conflict(const Watch& w, Access before, Access now) {
  if (before == 0 || work_of(before) != work_of(now) || (is_atomic(before) && is_atomic(now)))
    return false;
  if (block_of(before) != block_of(now)) return w.visible.count(block_of(before)) == 0;
  if (thread_of(before) == thread_of(now) || barriers_of(before) != barriers_of(now)) return false;
  return warp_of(thread_of(before)) != warp_of(thread_of(now)) ||
         warp_barriers_of(before) == warp_barriers_of(now);
}

void finish_write(Watch& w) {
  Pending& one = w.pending;
  if (one.at == nullptr) return;
  const bool same = std::memcmp(one.at, one.before, one.size) == 0;
  char* const at = std::exchange(one.at, nullptr);
  if (!same) {
    char what[120];
    std::snprintf(what, sizeof what, "a write of %zu bytes that other threads access: %p", one.size,
                  static_cast<void*>(at));
    return report("race", what, one.place);
  }
  for (size_t i = 0; i < one.size; ++i) one.write[i] = access(w, kManyThreads, false);
}

void note_read(Access& read, Access& other, Access now) {
  if (work_of(read) != work_of(now) || read == now) {
    read = now;
  } else if (thread_of(read) != thread_of(now) || block_of(read) != block_of(now)) {
    other = std::exchange(read, now);
  } else {
    read = now;
  }
}

// Check the bytes of one access, whose shadow begins at these addresses.
void access_bytes(Watch& w, char* at, size_t size, Kind kind, Access now, Access* write,
                  Access* read, Access* other, const void* place) {
  bool reads_race = false, writes_race = false;
  for (size_t i = 0; i < size; ++i) {
    const bool many = thread_of(write[i]) == kManyThreads && block_of(write[i]) == w.block;
    if (kind != Kind::kWrite) {
      reads_race |= !many && conflict(w, write[i], now);
      note_read(read[i], other[i], now);
    }
    if (kind == Kind::kRead) continue;
    writes_race |=
        conflict(w, write[i], now) || conflict(w, read[i], now) || conflict(w, other[i], now);
    write[i] = now;
  }
  if (reads_race) {
    char what[120];
    std::snprintf(what, sizeof what, "a read of %zu bytes that another thread writes: %p", size,
                  static_cast<void*>(at));
    return report("race", what, place);
  }
  if (!writes_race) return;
  Pending& one = w.pending;
  if (size > sizeof one.before) return report("race", "a write that races with another", place);
  one = {at, size, {}, write, place};
  std::memcpy(one.before, at, size);
}

void access_device(Watch& w, char* at, size_t size, Kind kind, Access now, const void* place) {
  char what[160];
  Allocation* const found = allocation_of(at);
  if (found == nullptr || at < found->address || at + size > found->address + found->bytes) {
    std::snprintf(what, sizeof what, "%s of %zu bytes at %p, %td bytes into an allocation of %zu",
                  kind == Kind::kRead ? "a read" : "a write", size, static_cast<void*>(at),
                  found == nullptr ? ptrdiff_t(-1) : at - found->address,
                  found == nullptr ? size_t(0) : found->bytes);
    return report("out-of-bounds", what, place);
  }
  Shadow& shadow = found->known();
  const auto first = static_cast<size_t>(at - found->address);
  bool* const is_written = shadow.is_written.get() + first;
  // A structure that a function returns is written without a report: bytes that differ from those
  // of new memory have been written.
  const bool is_new = std::none_of(is_written, is_written + size, [](bool x) { return x; }) &&
                      std::all_of(at, at + size, [](char x) { return x == kNewByte; });
  if (kind != Kind::kWrite && is_new) {
    std::snprintf(what, sizeof what,
                  "a read of %zu bytes that nothing has written, byte %zu of %zu", size, first,
                  found->bytes);
    report("uninitialised", what, place);
  }
  if (kind != Kind::kRead) std::memset(is_written, 1, size);
  access_bytes(w, at, size, kind, now, shadow.write.get() + first, shadow.read.get() + first,
               shadow.other_read.get() + first, place);
}

void access_shared(Watch& w, char* at, size_t size, Kind kind, Access now, const void* place) {
  SharedShadow& shadow = w.shared;
  if (shadow.write.empty()) {
    const auto all = static_cast<size_t>(_end - __bss_start);
    shadow.written_in.resize(all);
    for (auto* each : {&shadow.write, &shadow.read, &shadow.other_read}) each->resize(all);
  }
  const auto first = static_cast<size_t>(at - __bss_start);
  for (size_t i = first; i < first + size; ++i) {
    if (shadow.written_in[i] == w.block_number) continue;
    // Reset the state of another block's variable.
    shadow.write[i] = shadow.read[i] = shadow.other_read[i] = 0;
    if (kind == Kind::kRead) {
      report("uninitialised", "a read of shared memory that the block has not written", place);
      return;
    }
    shadow.written_in[i] = w.block_number;
  }
  access_bytes(w, at, size, kind, now, &shadow.write[first], &shadow.read[first],
               &shadow.other_read[first], place);
}

}  // namespace

void note(const volatile void* address, size_t size, Kind kind, bool atomic, const void* place) {
  if (!active) return;
  const Pause pause;
  Watch& w = watch();
  finish_write(w);
  char* const at = static_cast<char*>(const_cast<void*>(address));
  const bool shared = at >= __bss_start && at < _end;
  if (!shared && !is_device_address(at)) return;
  const bool element = size == 2 || size == 4 || size == 8;
  if (element && reinterpret_cast<uintptr_t>(at) % size != 0)
    report("misaligned", "an address that is not a multiple of the access size", place);
  if (atomic) {
    if (std::exchange(w.fenced, false)) w.shown.insert(w.block);
    w.met = w.shown;
  }
  const Access now = access(w, w.thread, atomic);
  (shared ? access_shared : access_device)(w, at, size, kind, now, place);
}

void note_fence() {
  if (!active) return;
  const Pause pause;
  Watch& w = watch();
  w.fenced = true;
  w.visible.insert(w.met.begin(), w.met.end());
}

void report(const char* kind, const char* what, const void* place) {
  const Pause pause;
  Watch& w = watch();
  if (place != nullptr && !w.said.insert({place, kind}).second) return;
  ++w.findings;
  char text[4096], where[1024] = "";
  Dl_info info{};
  if (place != nullptr && dladdr(place, &info) != 0) {
    std::snprintf(where, sizeof where, "  at %s+%#tx\n", info.dli_fname,
                  static_cast<const char*>(place) - static_cast<const char*>(info.dli_fbase) - 1);
  }
  std::snprintf(text, sizeof text, "emulated GPU: %s: %s\n%s  block %lld thread %d of %s\n", kind,
                what, where, static_cast<long long>(w.block), w.thread,
                w.kernel == nullptr ? "work that is not a kernel" : w.kernel);
  std::fputs(text, stderr);
  const char* const path = std::getenv("DL_EMULATION_FINDINGS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fputs(text, file);
  std::fclose(file);
}

void note_unit() { watched = true; }

bool is_watched() { return watched; }

uint64_t findings() { return watch().findings; }

void watch_work(const char* kernel) {
  Watch& w = watch();
  w.kernel = kernel;
  w.work = w.work % 0xffff + 1;
  w.shown.clear();
  active = kernel != nullptr;
}

void watch_end() {
  active = false;
  finish_write(watch());
  watch().kernel = nullptr;
}

void watch_block(int64_t block) {
  const Pause pause;
  Watch& w = watch();
  finish_write(w);
  w.block = block;
  ++w.block_number;
  w.barriers = 0;
  std::fill(std::begin(w.warp_barriers), std::end(w.warp_barriers), 0);
  w.met.clear();
  w.visible.clear();
  w.fenced = false;
}

void watch_thread(int thread) {
  const Pause pause;
  finish_write(watch());
  watch().thread = thread;
}

void watch_barrier() {
  const Pause pause;
  finish_write(watch());
  ++watch().barriers;
}

void watch_warp_barrier(int first) {
  const Pause pause;
  finish_write(watch());
  ++watch().warp_barriers[first];
}

}  // namespace emulation
