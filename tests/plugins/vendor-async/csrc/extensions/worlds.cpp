#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "error.h"
#include "extensions/communicator.h"
#include "extensions/hub.h"
#include "extensions/remote.h"
#include "handle.h"

namespace dl::async_test {
namespace {

constexpr char kWord[] = "dl_vendor_async_test";

static_assert(sizeof(WorldName) <= sizeof(dl_communicator_id_t));

// Never destroyed: threads of other processes' ranks use them until the process has ended.
std::mutex& mutex = *new std::mutex;
uint64_t last_number = 0;
auto& worlds = *new std::map<uint64_t, std::weak_ptr<World>>;  // an expired entry has been used up

}  // namespace

dl_communicator_id_t new_communicator_id() {
  WorldName name = {};
  std::memcpy(name.word, kWord, sizeof kWord);
  name.user = geteuid();
  name.process = getpid();
  name.nonce = open_hub();
  {
    const std::lock_guard lock(mutex);
    name.number = ++last_number;
  }
  dl_communicator_id_t id = {};
  std::memcpy(id.bytes, &name, sizeof name);
  return id;
}

std::shared_ptr<World> world_of(const dl_communicator_id_t& id, int32_t ranks) {
  WorldName name;
  std::memcpy(static_cast<void*>(&name), id.bytes, sizeof name);
  if (std::memcmp(name.word, kWord, sizeof kWord) != 0)
    throw Error(DL_INVALID_ARGUMENT, "the id was not returned by unique_id of this vendor");
  if (name.user != geteuid()) {
    throw Error(DL_INVALID_ARGUMENT, "the id is of user " + std::to_string(name.user) +
                                         ", and this is " + std::to_string(geteuid()) +
                                         "; only processes of one user make a communicator");
  }
  if (is_hub(name.nonce)) return local_world(name.number, ranks);
  return std::make_shared<RemoteWorld>(name, ranks);
}

std::shared_ptr<World> local_world(uint64_t number, int32_t ranks) {
  const std::lock_guard lock(mutex);
  if (number == 0 || number > last_number)
    throw Error(DL_INVALID_ARGUMENT, "the id was not returned by unique_id of this vendor");
  const auto found = worlds.find(number);
  if (found == worlds.end()) {
    auto world = std::make_shared<LocalWorld>(ranks);
    worlds[number] = world;
    return world;
  }
  auto world = found->second.lock();
  if (world == nullptr)
    throw Error(DL_INVALID_ARGUMENT, "the id is already used; get another id from unique_id");
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
                    " is not a communicator; pass what create returned and was not destroyed");
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
