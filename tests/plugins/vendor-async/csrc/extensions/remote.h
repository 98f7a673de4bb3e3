#ifndef DL_ASYNC_TEST_EXTENSIONS_REMOTE_H_
#define DL_ASYNC_TEST_EXTENSIONS_REMOTE_H_

#include <optional>

#include "extensions/wire.h"

namespace dl::async_test {

/** A world of another process, as seen by one of its ranks. Each call has a connection of its own,
 * so calls of several streams do not wait for each other. */
class RemoteWorld : public World {
 public:
  RemoteWorld(const WorldName& name, int32_t ranks) : name_(name), ranks_(ranks) {}

  int32_t ranks() const override { return ranks_; }
  void join(int32_t rank, double seconds) override;
  void leave(int32_t rank) override;
  void abort(int32_t rank) override;
  std::shared_ptr<Meeting> come(const MeetingKey& key, int32_t place, const Terms& terms,
                                const Share& share) override;
  void finish(const std::shared_ptr<Meeting>& meeting) override;

 private:
  class There;
  Request request(Request::Kind kind, int32_t rank) const;

  const WorldName name_;
  const int32_t ranks_;
  std::optional<Connection> joined_;  // closing it ends this rank
};

}  // namespace dl::async_test

#endif
