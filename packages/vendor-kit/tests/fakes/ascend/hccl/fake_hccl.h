// Shared declarations of the fake libhccl; communicators.cpp documents its behavior.
#ifndef FAKE_HCCL_FAKE_HCCL_H_
#define FAKE_HCCL_FAKE_HCCL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "../../common/collective.h"
#include "../../common/settings.h"
#include "../hooks.h"
#include "extensions/hccl_api.h"

#pragma GCC visibility push(hidden)

namespace dl::ascend::hccl {

struct CommunicatorObject {
  CommunicatorObject(const std::string& folder, int rank, int ranks)
      : exchange(folder, rank, ranks) {}

  fake_collectives::Exchange exchange;
  int device = -1;
  std::atomic<bool> suspended{false};
  std::atomic<int> state{kSuccess};
  // Text of the failure, written before `state`.
  std::string failure;
  std::atomic<int> pending{0};  // calls that have not run
  uint64_t collectives = 0;
  std::map<std::pair<int, uint32_t>, uint64_t> messages;
};

}  // namespace dl::ascend::hccl

namespace fake {

using namespace dl::ascend::hccl;
using fake_collectives::Collective;
using fake_collectives::Element;
using fake_collectives::Exchange;
using fake_collectives::Fault;
using fake_collectives::Kind;
using fake_driver::setting;

// HcclDataType: bytes of an element, and the element if it is reduced.
struct Type {
  size_t bytes;
  Element element;
};
// Returns null for an unknown number.
const Type* type_of(int number);

// Sets the text of an error for the thread and returns its status.
int refuse(int status, const std::string& text);
// Logs a call and returns the status that is injected into it.
int enter(const char* function);
int status_of(Fault fault);

// These return the status of a call that is refused, otherwise kSuccess.
int check_communicator(Communicator c);
int check_call(const char* function, Communicator c, Stream stream);

// Returns the host address of memory of the communicator's device; null if it is not such memory.
char* host_address(Communicator c, const void* address, size_t bytes);

// Enqueues work, which gets a suffix for the files of its run: a graph runs it more than once.
int enqueue(Communicator c, Stream stream, std::function<void(const std::string& run)> work);

}  // namespace fake

#pragma GCC visibility pop

#define FAKE extern "C" __attribute__((visibility("default")))

#endif  // FAKE_HCCL_FAKE_HCCL_H_
