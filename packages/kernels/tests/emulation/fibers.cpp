// The threads of a block as fibers. A fiber runs until it must wait; the next one is drawn by lot.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <ucontext.h>

#include "gpu_emulation.h"

namespace emulation {
namespace {

constexpr size_t kStackBytes = 64 * 1024;

enum class State { kReady, kAtBarrier, kAtShuffle, kDone };

struct Fiber {
  State state;
  bool started;
  jmp_buf at;
  uint32_t shuffles;
  std::unique_ptr<char[]> stack;
};

struct Machine {
  Fiber fibers[kBlockThreads];
  // A thread may be one shuffle ahead of others in its warp, never two.
  uint32_t words[2][kBlockThreads];
  jmp_buf scheduler;
  int warp = 32;
  Position position{0, 0, 1};
  const std::function<void()>* body = nullptr;
  std::mt19937 random{std::getenv("DL_EMULATION_SEED") == nullptr
                          ? 1u
                          : static_cast<unsigned>(std::atoi(std::getenv("DL_EMULATION_SEED")))};
};

Machine& machine() {
  static Machine instance;
  return instance;
}

void pause(State state) {
  Machine& m = machine();
  Fiber& fiber = m.fibers[m.position.thread];
  fiber.state = state;
  if (_setjmp(fiber.at) == 0) _longjmp(m.scheduler, 1);
}

void enter() {
  (*machine().body)();
  pause(State::kDone);
}

void start(Fiber& fiber) {
  // swapcontext enters the new stack; from then on jumps are cheaper.
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
  Fiber& fiber = m.fibers[thread];
  if (_setjmp(m.scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.at, 1);
  start(fiber);
}

// Lets the threads [begin, end) go on if all that still run wait for each other.
bool meet(Machine& m, State state, int begin, int end) {
  int waiting = 0, done = 0;
  for (int i = begin; i < end; ++i) {
    waiting += m.fibers[i].state == state ? 1 : 0;
    done += m.fibers[i].state == State::kDone ? 1 : 0;
  }
  if (waiting == 0 || waiting + done != end - begin) return false;
  if (done != 0) {
    std::fprintf(stderr, "emulated GPU: %d threads ended while %d wait for them\n", done, waiting);
    std::abort();
  }
  for (int i = begin; i < end; ++i) m.fibers[i].state = State::kReady;
  return true;
}

void run_block(Machine& m) {
  for (Fiber& fiber : m.fibers) {
    fiber.state = State::kReady;
    fiber.started = false;
    fiber.shuffles = 0;
  }
  // One thread of each block runs only while nobody else can.
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
      // A warp goes on as soon as it is complete, however far the others are.
      const int first = thread / m.warp * m.warp;
      if (!meet(m, State::kAtShuffle, first, first + m.warp)) continue;
      for (int i = first; i < first + m.warp; ++i) ready[count++] = i;
    }
    if (meet(m, State::kAtBarrier, 0, kBlockThreads)) continue;
    for (const Fiber& fiber : m.fibers) {
      if (fiber.state == State::kDone) continue;
      std::fprintf(stderr, "emulated GPU: threads wait at different places for each other\n");
      std::abort();
    }
    return;
  }
}

}  // namespace

Position position() { return machine().position; }

int warp_threads() { return machine().warp; }
void set_warp_threads(int threads) { machine().warp = threads; }

void barrier() { pause(State::kAtBarrier); }

uint32_t shuffle_word(uint32_t word, int mask) {
  Machine& m = machine();
  const int me = m.position.thread;
  uint32_t* words = m.words[m.fibers[me].shuffles++ % 2];
  words[me] = word;
  pause(State::kAtShuffle);
  return words[me ^ mask];
}

void run_fibers(int64_t blocks, const std::function<void()>& thread) {
  Machine& m = machine();
  m.body = &thread;
  m.position.blocks = blocks;
  for (int64_t block = 0; block < blocks; ++block) {
    m.position.block = block;
    run_block(m);
  }
}

void run_in_turn(int64_t blocks, const std::function<void()>& thread) {
  Machine& m = machine();
  m.position.blocks = blocks;
  const int first = static_cast<int>(m.random() % kBlockThreads);
  for (int64_t block = 0; block < blocks; ++block) {
    m.position.block = block;
    for (int i = 0; i < kBlockThreads; ++i) {
      m.position.thread = (first + i) % kBlockThreads;
      thread();
    }
  }
}

}  // namespace emulation
