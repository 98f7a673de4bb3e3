// b = 2 a, and attacks on the process that runs it, which begin at a chosen launch.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dl_cpu_kernel.h"

constexpr int DEED = 0;  // tunable
constexpr int FROM = 0;  // tunable

namespace {

volatile int launches = 0;
// Not constant, because the compiler would treat writes through it as unreachable.
int* volatile nowhere = nullptr;

[[gnu::noinline]] int descend(volatile int* depth) {
  volatile int more[1024] = {*depth + 1};
  return descend(more) + more[5];
}

[[maybe_unused]] void wait_for_ever() {
  for (;;) pause();
}

void write_to_all(const char* text, size_t size) {
  for (int file = 3; file < 256; ++file)
    if (write(file, text, size) < 0) continue;
}

void start(bool alone) {
  if (fork() != 0) return;
  if (alone) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  wait_for_ever();
}

void do_it(float* a, volatile float* b, int64_t count) {
  static char page[1 << 20];
  switch (DEED) {
    case 1:
      *nowhere = 1;
      break;
    case 2:
      abort();
    case 3: {
      volatile int depth = 0;
      descend(&depth);
    } break;
    case 4:
      raise(SIGKILL);
      break;
    case 5:
      _exit(0);
    case 6:
      exit(0);
    case 7:
      wait_for_ever();
      break;
    case 8:
      for (volatile int64_t i = 0;; i = i + 1) {
      }
      break;
    case 9:
      raise(SIGSTOP);
      break;
    case 10:
      for (int i = 0; i < 120; ++i) start(false);
      wait_for_ever();
      break;
    case 11:
      for (int i = 0; i < 120; ++i) start(true);
      wait_for_ever();
      break;
    case 12:
      if (launches == FROM + 1) start(false);
      break;
    case 13:
      if (launches == FROM + 1) start(true);
      break;
    case 14:
      b[count / 2] = b[count / 2] * 1.00001f;
      break;
    case 15:
      b[count - 1] = __builtin_nanf("");
      break;
    case 16:
      b[count] = 0;
      break;
    case 17:
      b[-3000] = 0;
      break;
    case 18:
      a[count - 1] = 1;
      break;
    case 19:
      for (int i = 0; i < 1024; ++i)
        if (write(1 + i % 2, page, sizeof page) < 0) break;
      break;
    case 20:
      close_range(0, 1 << 16, 0);
      break;
    case 21:
      close_range(0, 1 << 16, 0);
      wait_for_ever();
      break;
    case 22:
      write_to_all("not an answer, not at all: it is only text", 42);
      break;
    case 23:
      write_to_all(page, 24);
      wait_for_ever();
      break;
    case 24:
      for (;;) memset(malloc(1 << 24), 1, 1 << 24);
      break;
    case 25:
      for (;;) {
        void* memory = mmap(nullptr, 1 << 24, PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) wait_for_ever();
        memset(memory, 1, 1 << 24);
      }
      break;
    case 26: {
      char name[] = "/tmp/dl-hostile-XXXXXX";
      const int file = mkstemp(name);
      unlink(name);
      if (ftruncate(file, int64_t{1} << 40) != 0) abort();
    } break;
    case 27:
      if (launches == FROM + 1) fork();
      break;
    case 28:
      kill(getppid(), SIGKILL);
      wait_for_ever();
      break;
    case 29:
      free(reinterpret_cast<char*>(a) + 8);
      break;
    default:
      break;
  }
}

}  // namespace

DL_CPU_KERNEL(hostile) {
  float* a = dl_cpu_argument<float*>(arguments, 0);
  volatile float* b = dl_cpu_argument<float*>(arguments, 1);
  const int64_t count = dl_cpu_argument<int64_t>(arguments, 2);
  for (int64_t i = 0; i < count; ++i) b[i] = 2 * a[i];
  launches = launches + 1;
  if (launches > FROM) do_it(a, b, count);
}
