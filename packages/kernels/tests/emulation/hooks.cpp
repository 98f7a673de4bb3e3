// Functions that code compiled with -fsanitize=thread calls, in place of the sanitizer's library.
#include <cstddef>
#include <cstdint>

#include "watch.h"

using emulation::Kind;
using emulation::note;
#define CALLER __builtin_return_address(0)

extern "C" {

void __tsan_init() { emulation::note_unit(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}

#define ACCESSES(SIZE)                                                                     \
  void __tsan_read##SIZE(void* at) { note(at, SIZE, Kind::kRead, false, CALLER); }         \
  void __tsan_write##SIZE(void* at) { note(at, SIZE, Kind::kWrite, false, CALLER); }       \
  void __tsan_volatile_read##SIZE(void* at) { note(at, SIZE, Kind::kRead, true, CALLER); } \
  void __tsan_volatile_write##SIZE(void* at) { note(at, SIZE, Kind::kWrite, true, CALLER); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void* at, size_t size) { note(at, size, Kind::kRead, false, CALLER); }
void __tsan_write_range(void* at, size_t size) { note(at, size, Kind::kWrite, false, CALLER); }

void __tsan_atomic_thread_fence(int) {
  emulation::note_fence();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

#define UPDATE(BITS, NAME)                                                                       \
  uint##BITS##_t __tsan_atomic##BITS##_##NAME(volatile uint##BITS##_t* at, uint##BITS##_t value, \
                                              int) {                                             \
    note(at, BITS / 8, Kind::kUpdate, true, CALLER);                                             \
    return __atomic_##NAME(at, value, __ATOMIC_SEQ_CST);                                         \
  }
#define EXCHANGE(BITS, NAME)                                                              \
  int __tsan_atomic##BITS##_##NAME(volatile uint##BITS##_t* at, uint##BITS##_t* expected, \
                                   uint##BITS##_t wanted, int, int) {                     \
    note(at, BITS / 8, Kind::kUpdate, true, CALLER);                                      \
    return __atomic_compare_exchange_n(at, expected, wanted, false, __ATOMIC_SEQ_CST,     \
                                       __ATOMIC_SEQ_CST);                                 \
  }
#define ATOMICS(BITS)                                                                              \
  uint##BITS##_t __tsan_atomic##BITS##_load(const volatile uint##BITS##_t* at, int) {              \
    note(at, BITS / 8, Kind::kRead, true, CALLER);                                                 \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                \
  void __tsan_atomic##BITS##_store(volatile uint##BITS##_t* at, uint##BITS##_t value, int) {       \
    note(at, BITS / 8, Kind::kWrite, true, CALLER);                                                \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                \
  uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile uint##BITS##_t* at, uint##BITS##_t value, \
                                                int) {                                             \
    note(at, BITS / 8, Kind::kUpdate, true, CALLER);                                               \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                                \
  UPDATE(BITS, fetch_add)                                                                          \
  UPDATE(BITS, fetch_sub)                                                                          \
  UPDATE(BITS, fetch_and)                                                                          \
  UPDATE(BITS, fetch_or)                                                                           \
  UPDATE(BITS, fetch_xor)                                                                          \
  EXCHANGE(BITS, compare_exchange_strong)                                                          \
  EXCHANGE(BITS, compare_exchange_weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

}  // extern "C"
