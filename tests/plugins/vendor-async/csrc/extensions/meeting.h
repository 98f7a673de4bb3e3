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

/** Parameters of a call on which all participating ranks have to agree. */
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
  int32_t reduce;  // dl_reduce_t; -1 without a reduction
  int32_t root;    // -1 without a root

  bool operator==(const Terms& other) const {
    return std::tie(kind, count, dtype, reduce, root) ==
           std::tie(other.kind, other.count, other.dtype, other.reduce, other.root);
  }
  std::string text() const;
};

/** Contribution of one rank: bytes of its device, or NULL. */
struct Share {
  const std::byte* send;
  std::byte* receive;
  std::shared_ptr<void> owner;  // owner of the bytes, unless they belong to a device
};

/** Return the size of a contribution. Throws Error for inconsistent terms. */
struct ShareBytes {
  uint64_t send;
  uint64_t receive;
};
ShareBytes share_bytes(const Terms& terms, int32_t ranks, int32_t rank, int32_t place);

/** Execute the call once all contributions have arrived; a message has two, sender and receiver. */
void carry_out(const Terms& terms, const std::vector<Share>& shares);

/** Key of a call of a communicator: a message between two ranks, or a collective (-1, -1), and its
 * number among those. */
using MeetingKey = std::tuple<int32_t, int32_t, uint64_t>;

/** One call, as seen by its participants. */
class Meeting {
 public:
  virtual ~Meeting() = default;
};

/** The ranks of one communicator, which synchronize for each call. */
class World {
 public:
  virtual ~World() = default;

  virtual int32_t ranks() const = 0;
  /** Return when all ranks have joined. Throws Error after a timeout of `seconds` > 0, and for a
   * rank that has joined already. */
  virtual void join(int32_t rank, double seconds) = 0;
  /** Withdraw the rank: calls that wait for it fail. */
  virtual void leave(int32_t rank) = 0;
  /** Fail all current and later calls. */
  virtual void abort(int32_t rank) = 0;
  /** Join a call without waiting for other ranks. `place` is the rank; for a message, 0 for the
   * sender and 1 for the receiver. */
  virtual std::shared_ptr<Meeting> come(const MeetingKey& key, int32_t place, const Terms& terms,
                                        const Share& share) = 0;
  /** Wait until the call is complete; throws Error if it cannot complete. */
  virtual void finish(const std::shared_ptr<Meeting>& meeting) = 0;
};

/** Calls in this process. The last rank to arrive does the work for all. */
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
  std::map<MeetingKey, std::shared_ptr<Here>> meetings_;  // meetings that some rank has not reached
};

}  // namespace dl::async_test

#endif
