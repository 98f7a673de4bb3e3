#ifndef DL_ASYNC_TEST_EXTENSIONS_MEETING_H_
#define DL_ASYNC_TEST_EXTENSIONS_MEETING_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace dl::async_test {

/** What all that take part in a call have to agree on. */
struct Terms {
  enum Kind {
    kAllReduce,
    kReduce,
    kBroadcast,
    kAllGather,
    kReduceScatter,
    kAllToAll,
    kGather,
    kScatter,
    kMessage,
  };

  Kind kind;
  uint64_t count;
  int32_t dtype;
  int32_t reduce;  // dl_reduce_t; -1 where nothing is reduced
  int32_t root;    // -1 where there is none

  bool operator==(const Terms& other) const {
    return std::tie(kind, count, dtype, reduce, root) ==
           std::tie(other.kind, other.count, other.dtype, other.reduce, other.root);
  }
  std::string text() const;
};

/** What one of them brings: bytes of its device, or NULL. */
struct Share {
  const std::byte* send;
  std::byte* receive;
  std::shared_ptr<void> owner;  // of the bytes, where they are not a device's
};

/** The size of a share. Throws Error for terms that make no sense. */
struct ShareBytes {
  uint64_t send;
  uint64_t receive;
};
ShareBytes share_bytes(const Terms& terms, int32_t ranks, int32_t rank, int32_t place);

/** Does what the terms say, once all shares are there; a message has two, sender and receiver. */
void carry_out(const Terms& terms, const std::vector<Share>& shares);

/** Which call of a communicator: a message between two ranks, or a collective (-1, -1), and its
 * number among those. */
using MeetingKey = std::tuple<int32_t, int32_t, uint64_t>;

/** One call, for those who take part in it. */
class Meeting {
 public:
  virtual ~Meeting() = default;
};

/** The ranks of one communicator, which meet for each call. */
class World {
 public:
  virtual ~World() = default;

  virtual int32_t ranks() const = 0;
  /** Returns when all ranks have joined. Throws Error if `seconds` > 0 have passed, and for a rank
   * that is taken; then it has not joined. */
  virtual void join(int32_t rank, double seconds) = 0;
  /** The rank comes to no meeting any more: who waits for it gets an error. */
  virtual void leave(int32_t rank) = 0;
  /** All that meet, now or later, get an error. */
  virtual void abort(int32_t rank) = 0;
  /** Comes to a meeting; waits for no other rank. `place` is the rank, or 0 for the sender and 1
   * for the receiver of a message. */
  virtual std::shared_ptr<Meeting> come(const MeetingKey& key, int32_t place, const Terms& terms,
                                        const Share& share) = 0;
  /** Waits until its work is done; throws Error if that cannot be. */
  virtual void finish(const std::shared_ptr<Meeting>& meeting) = 0;
};

/** In this process. The last rank that comes does the work of all. */
class LocalWorld : public World {
 public:
  explicit LocalWorld(int32_t ranks) : ranks_(ranks), joined_(static_cast<size_t>(ranks)) {}

  int32_t ranks() const override { return ranks_; }
  void join(int32_t rank, double seconds) override;
  void leave(int32_t rank) override;
  void abort(int32_t rank) override;
  std::shared_ptr<Meeting> come(const MeetingKey& key, int32_t place, const Terms& terms,
                                const Share& share) override;
  void finish(const std::shared_ptr<Meeting>& meeting) override;

 private:
  class Here;
  std::string why_hopeless(const Here& meeting) const;

  const int32_t ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> joined_;
  std::vector<int32_t> left_;
  int32_t aborted_by_ = -1;
  std::map<MeetingKey, std::shared_ptr<Here>> meetings_;  // that somebody has not come to
};

}  // namespace dl::async_test

#endif
