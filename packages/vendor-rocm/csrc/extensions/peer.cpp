// Access between cards, and memory of other processes, as dl/kit/peer.h wants them.
#include "runtime/api.h"

namespace dl::rocm {

Api::Result Api::can_access(int card, int peer, bool* can) {
  int answer = 0;
  const Result result =
      the_driver().can_access(&answer, Cards::here().device(card), Cards::here().device(peer));
  *can = answer != 0;
  return result;
}

// What is as it should be leaves an error behind, which nobody else may find.
Api::Result Api::unless(Result as_it_should_be, Result result) {
  if (result != as_it_should_be) return result;
  clear_error();
  return driver::kSuccess;
}

Api::Result Api::enable_access(int peer) {
  return unless(driver::kPeerEnabled, the_driver().enable_access(Cards::here().device(peer), 0));
}

Api::Result Api::disable_access(int peer) {
  return unless(driver::kPeerNotEnabled, the_driver().disable_access(Cards::here().device(peer)));
}

Api::Result Api::copy_to_peer(void* to, int to_card, const void* from, int from_card, size_t bytes,
                              Stream stream) {
  return the_driver().copy_to_peer(to, Cards::here().device(to_card), from,
                                   Cards::here().device(from_card), bytes, stream);
}

Api::Result Api::memory_range(const void* memory, void** base, size_t* bytes) {
  return the_driver().memory_range(base, bytes, const_cast<void*>(memory));
}

// A release takes the flag's number in its own headers, and calls any other one invalid.
Api::Result Api::open_memory(void** memory, const IpcHandle& handle) {
  const Result later = the_driver().ipc_open(memory, handle, driver::kIpcLazyPeerAccess6);
  if (later != driver::kInvalidValue) return later;
  const Result earlier = the_driver().ipc_open(memory, handle, driver::kIpcLazyPeerAccess5);
  if (earlier == driver::kSuccess) clear_error();
  return earlier;
}

}  // namespace dl::rocm
