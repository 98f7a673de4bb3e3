#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "error.h"
#include "extensions/communicator.h"
#include "handle.h"

namespace dl::async_test {
namespace {

constexpr char kWord[] = "dl_vendor_async_test";

/** What the bytes of an id begin with; the rest is zero. */
struct Name {
  char word[32];
  int64_t process;
  uint64_t number;
};
static_assert(sizeof(Name) <= sizeof(dl_communicator_id_t));

std::mutex mutex;
uint64_t last_name = 0;
std::map<uint64_t, std::weak_ptr<World>> worlds;  // an expired one was used up

}  // namespace

dl_communicator_id_t new_communicator_id() {
  const std::lock_guard lock(mutex);
  Name name = {};
  std::memcpy(name.word, kWord, sizeof kWord);
  name.process = getpid();
  name.number = ++last_name;
  dl_communicator_id_t id = {};
  std::memcpy(id.bytes, &name, sizeof name);
  return id;
}

std::shared_ptr<World> world_of(const dl_communicator_id_t& id, int32_t ranks) {
  Name name;
  std::memcpy(&name, id.bytes, sizeof name);
  if (std::memcmp(name.word, kWord, sizeof kWord) != 0)
    throw Error(DL_INVALID_ARGUMENT, "the id is none that unique_id of this vendor returned");
  if (name.process != getpid()) {
    throw Error(DL_NOT_SUPPORTED, "the id is of process " + std::to_string(name.process) +
                                      "; ranks of this vendor are threads of one process");
  }
  const std::lock_guard lock(mutex);
  const auto found = worlds.find(name.number);
  if (found == worlds.end()) {
    auto world = std::make_shared<World>(ranks);
    worlds[name.number] = world;
    return world;
  }
  auto world = found->second.lock();
  if (world == nullptr)
    throw Error(DL_INVALID_ARGUMENT, "the id was used already; ask unique_id for another one");
  if (world->ranks() != ranks) {
    throw Error(DL_INVALID_ARGUMENT, "ranks=" + std::to_string(ranks) + ", but another rank said " +
                                         std::to_string(world->ranks()));
  }
  return world;
}

void Communicator::abort() {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  world->abort(rank);
}

bool Communicator::aborted() const {
  const std::lock_guard lock(mutex_);
  return aborted_;
}

void Communicator::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = why;
}

void Communicator::check() const {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw Error(DL_ERROR, failure_);
}

MeetingKey Communicator::next(int32_t from, int32_t to, int32_t place) {
  const std::lock_guard lock(mutex_);
  return {from, to, calls_[{from, to, place}]++};
}

void* Communicators::add(std::shared_ptr<Communicator> communicator) {
  void* handle = next_handle();
  const std::lock_guard lock(mutex_);
  communicators_[handle] = std::move(communicator);
  return handle;
}

std::shared_ptr<Communicator> Communicators::find(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the handle " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
                    " is no communicator; pass what create returned and was not destroyed");
  }
  return found->second;
}

void Communicators::remove(void* handle) {
  const auto found = find(handle);
  found->world->leave(found->rank);
  const std::lock_guard lock(mutex_);
  communicators_.erase(handle);
}

void Communicators::abort_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : communicators_) entry.second->abort();
}

}  // namespace dl::async_test
