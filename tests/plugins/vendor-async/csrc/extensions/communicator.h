#ifndef DL_ASYNC_TEST_EXTENSIONS_COMMUNICATOR_H_
#define DL_ASYNC_TEST_EXTENSIONS_COMMUNICATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dl/communicator.h"
#include "extensions/meeting.h"
#include "stream.h"

namespace dl::async_test {

/** Return true if elements of the dtype can be reduced. */
bool can_reduce(int32_t dtype);

/** One rank of a world. */
class Communicator {
 public:
  Communicator(std::shared_ptr<World> world, int32_t device, int32_t rank)
      : device(device), rank(rank), world(std::move(world)) {}

  void abort();
  bool aborted() const;
  /** Record the first failure. */
  void fail(const std::string& why);
  /** Throw the recorded failure. */
  void check() const;
  /** Return the key of the next call between these ranks, or of the next collective with -1, -1. */
  MeetingKey next(int32_t from, int32_t to, int32_t place);

  const int32_t device;
  const int32_t rank;
  const std::shared_ptr<World> world;

 private:
  mutable std::mutex mutex_;
  bool aborted_ = false;
  std::string failure_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, uint64_t> calls_;
};

/** A call that is not enqueued yet. */
struct Call {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<Stream> stream;
  const char* name;
  MeetingKey key;
  int32_t place;
  Terms terms;
  Share share;
};

/** The communicators of one instance. */
class Communicators {
 public:
  void* add(std::shared_ptr<Communicator> communicator);
  /** Throws Error unless the handle is a communicator. */
  std::shared_ptr<Communicator> find(void* handle);
  void remove(void* handle);
  void abort_all();

 private:
  std::mutex mutex_;
  std::map<void*, std::shared_ptr<Communicator>> communicators_;
};

/** Create an id, also for ranks in other processes of this user, which meet in this one. */
dl_communicator_id_t new_communicator_id();
/** Return the world of that id, for its first or a later rank. Throws Error for an id of another
 * user, and if the number of ranks differs from that of the first rank. */
std::shared_ptr<World> world_of(const dl_communicator_id_t& id, int32_t ranks);

/** Between the two, calls of this thread for an instance are collected. Throws Error for an end
 * without a begin. */
void group_begin(uint64_t instance);
void group_end(uint64_t instance);
/** Enqueue the call, now or at the end of the group. */
void submit(uint64_t instance, Call call);

}  // namespace dl::async_test

#endif
