// The blocks of a grid and the threads of a block, as fibers. A fiber runs until it has to wait;
// the next one is chosen at random.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <ucontext.h>

#include "gpu_emulation.h"
#include "watch.h"

namespace emulation {
namespace {

constexpr size_t kStackBytes = 64 * 1024;

enum class State { kReady, kAtBarrier, kAtWarpBarrier, kAtShuffle, kDone };

struct Fiber {
  State state;
  bool started;
  jmp_buf at;
  uint32_t shuffles;
  const void* place;  // code address at which it waits
  std::unique_ptr<char[]> stack;
};

struct Machine {
  Fiber fibers[kBlockThreads];
  // A thread may be one shuffle ahead of others in its warp, never two.
  uint32_t words[2][kBlockThreads];
  jmp_buf scheduler;
  int warp = DL_EMULATION_WARP_THREADS;
  Position position{0, 0, 1};
  const std::function<void()>* body = nullptr;
  std::mt19937 random{std::getenv("DL_EMULATION_SEED") == nullptr
                          ? 1u
                          : static_cast<unsigned>(std::atoi(std::getenv("DL_EMULATION_SEED")))};
};

// On the heap: static variables would be mistaken for those of blocks.
Machine& machine() {
  static Machine& instance = *new Machine;
  return instance;
}

void pause(State state, const void* place) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.position.thread];
  fiber.state = state;
  fiber.place = place;
  if (_setjmp(fiber.at) == 0) _longjmp(m.scheduler, 1);
}

void enter() {
  (*machine().body)();
  pause(State::kDone, nullptr);
}

void start(Fiber& fiber) {
  // swapcontext enters the new stack; later switches are cheaper jumps.
  static ucontext_t here, there;
  if (!fiber.stack) fiber.stack = std::make_unique<char[]>(kStackBytes);
  getcontext(&there);
  there.uc_stack.ss_sp = fiber.stack.get();
  there.uc_stack.ss_size = kStackBytes;
  there.uc_link = nullptr;
  makecontext(&there, enter, 0);
  fiber.started = true;
  swapcontext(&here, &there);
}

void resume(Machine& m, int thread) {
  m.position.thread = thread;
  watch_thread(thread);
  Fiber& fiber = m.fibers[thread];
  if (_setjmp(m.scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.at, 1);
  start(fiber);
}

// Execution cannot continue from here.
[[noreturn]] void stop(const char* what, const void* place) {
  report("divergent-barrier", what, place);
  std::abort();
}

// Resume the threads [begin, end) if all running ones among them wait for each other.
bool meet(Machine& m, State state, int begin, int end) {
  int waiting = 0, done = 0;
  for (int i = begin; i < end; ++i) {
    waiting += m.fibers[i].state == state ? 1 : 0;
    done += m.fibers[i].state == State::kDone ? 1 : 0;
  }
  if (waiting == 0 || waiting + done != end - begin) return false;
  const void* place = nullptr;
  for (int i = begin; i < end; ++i) {
    if (m.fibers[i].state != state) continue;
    if (place == nullptr) place = m.fibers[i].place;
    if (m.fibers[i].place != place)
      stop("threads wait for each other at different code addresses", place);
  }
  if (done != 0) {
    char what[80];
    std::snprintf(what, sizeof what, "%d threads ended while %d wait for them", done, waiting);
    stop(what, place);
  }
  for (int i = begin; i < end; ++i) m.fibers[i].state = State::kReady;
  return true;
}

// The same for a warp.
bool meet_in_warp(Machine& m, int first) {
  if (meet(m, State::kAtShuffle, first, first + m.warp)) return true;
  if (!meet(m, State::kAtWarpBarrier, first, first + m.warp)) return false;
  watch_warp_barrier(first);
  return true;
}

void run_block(Machine& m) {
  for (Fiber& fiber : m.fibers) {
    fiber.state = State::kReady;
    fiber.started = false;
    fiber.shuffles = 0;
  }
  // One thread of each block runs only when no other thread can.
  const int slow = static_cast<int>(m.random() % kBlockThreads);
  for (;;) {
    int ready[kBlockThreads], count = 0;
    for (int i = 0; i < kBlockThreads; ++i) {
      if (m.fibers[i].state == State::kReady) ready[count++] = i;
    }
    while (count > 0) {
      int drawn = static_cast<int>(m.random() % static_cast<unsigned>(count));
      if (ready[drawn] == slow && count > 1) drawn = drawn == 0 ? 1 : 0;
      const int thread = ready[drawn];
      ready[drawn] = ready[--count];
      resume(m, thread);
      // A warp resumes as soon as it is complete, independently of the others.
      const int first = thread / m.warp * m.warp;
      if (!meet_in_warp(m, first)) continue;
      for (int i = first; i < first + m.warp; ++i) ready[count++] = i;
    }
    if (meet(m, State::kAtBarrier, 0, kBlockThreads)) {
      watch_barrier();
      continue;
    }
    for (const Fiber& fiber : m.fibers) {
      if (fiber.state != State::kDone)
        stop("threads wait for each other at different code addresses", fiber.place);
    }
    return;
  }
}

// The blocks of a grid, in an order that the seed determines.
std::vector<int64_t> shuffled(Machine& m, int64_t blocks) {
  std::vector<int64_t> order(static_cast<size_t>(blocks));
  std::iota(order.begin(), order.end(), int64_t(0));
  std::shuffle(order.begin(), order.end(), m.random);
  return order;
}

void begin_block(Machine& m, int64_t block) {
  m.position.block = block;
  watch_block(block);
}

}  // namespace

Position position() { return machine().position; }

int warp_threads() { return machine().warp; }
void set_warp_threads(int threads) { machine().warp = threads; }

void barrier() { pause(State::kAtBarrier, __builtin_return_address(0)); }

void warp_barrier() { pause(State::kAtWarpBarrier, __builtin_return_address(0)); }

uint32_t shuffle_word(uint32_t word, int mask) {
  Machine& m = machine();
  const int me = m.position.thread;
  uint32_t* words = m.words[m.fibers[me].shuffles++ % 2];
  words[me] = word;
  pause(State::kAtShuffle, __builtin_return_address(0));
  return words[me ^ mask];
}

void run_fibers(int64_t blocks, const std::function<void()>& thread) {
  Machine& m = machine();
  m.body = &thread;
  m.position.blocks = blocks;
  for (const int64_t block : shuffled(m, blocks)) {
    begin_block(m, block);
    run_block(m);
  }
}

void run_in_turn(int64_t blocks, const std::function<void()>& thread) {
  Machine& m = machine();
  m.position.blocks = blocks;
  const int first = static_cast<int>(m.random() % kBlockThreads);
  for (const int64_t block : shuffled(m, blocks)) {
    begin_block(m, block);
    for (int i = 0; i < kBlockThreads; ++i) {
      m.position.thread = (first + i) % kBlockThreads;
      watch_thread(m.position.thread);
      thread();
    }
  }
}

}  // namespace emulation
