#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "error.h"
#include "extensions/communicator.h"

namespace dl::async_test {
namespace {

struct Group {
  uint64_t depth = 0;
  std::vector<Call> calls;
};

thread_local std::map<uint64_t, Group>
    groups;  // by instance; an instance without an entry has no open group

/** All calls join before any of them waits. */
void run_together(const std::vector<Call>& calls) {
  std::string failure;
  const auto attempt = [&](const Call& call, const auto& step) {
    try {
      step(*call.communicator->world);
    } catch (const std::exception& error) {
      call.communicator->fail(error.what());
      if (failure.empty()) failure = error.what();
    }
  };
  std::vector<std::shared_ptr<Meeting>> meetings(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    attempt(call, [&](World& world) {
      meetings[i] = world.come(call.key, call.place, call.terms, call.share);
    });
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    if (meetings[i] != nullptr) attempt(calls[i], [&](World& world) { world.finish(meetings[i]); });
  }
  if (!failure.empty()) throw Error(DL_ERROR, failure);
}

void enqueue(std::vector<Call> calls) {
  const auto stream = calls.front().stream;
  const char* name = calls.size() == 1 ? calls.front().name : "collective_group";
  stream->enqueue(
      name, [calls = std::move(calls)] { run_together(calls); }, Work{DL_ACTIVITY_COLLECTIVE, 0});
}

}  // namespace

void group_begin(uint64_t instance) { ++groups[instance].depth; }

void group_end(uint64_t instance) {
  const auto found = groups.find(instance);
  if (found == groups.end())
    throw Error(DL_INVALID_ARGUMENT, "this thread has begun no group; call group_begin first");
  if (--found->second.depth > 0) return;
  std::vector<Call> calls = std::move(found->second.calls);
  groups.erase(found);
  while (!calls.empty()) {
    std::vector<Call> same, others;
    const auto stream = calls.front().stream;
    for (Call& call : calls) (call.stream == stream ? same : others).push_back(std::move(call));
    enqueue(std::move(same));
    calls = std::move(others);
  }
}

void submit(uint64_t instance, Call call) {
  const auto found = groups.find(instance);
  if (found == groups.end()) {
    enqueue({std::move(call)});
  } else {
    found->second.calls.push_back(std::move(call));
  }
}

}  // namespace dl::async_test
