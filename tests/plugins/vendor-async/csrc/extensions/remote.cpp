#include "extensions/remote.h"

#include <utility>

#include "error.h"

namespace dl::async_test {

class RemoteWorld::There : public Meeting {
 public:
  There(Connection with, const Share& share, uint64_t bytes)
      : connection(std::move(with)), receive(share.receive), receive_bytes(bytes) {}

  Connection connection;
  std::byte* const receive;
  const uint64_t receive_bytes;
};

Request RemoteWorld::request(Request::Kind kind, int32_t rank) const {
  Request made = {};
  made.nonce = name_.nonce;
  made.kind = kind;
  made.ranks = ranks_;
  made.number = name_.number;
  made.rank = rank;
  return made;
}

void RemoteWorld::join(int32_t rank, double seconds) {
  Connection connection = Connection::to(name_);
  Request made = request(Request::kJoin, rank);
  made.seconds = seconds;
  connection.send(&made, sizeof made);
  connection.receive_reply();
  joined_.emplace(std::move(connection));
}

void RemoteWorld::leave(int32_t) {
  if (joined_) joined_->close();
}

void RemoteWorld::abort(int32_t rank) {
  try {
    Connection connection = Connection::to(name_);
    const Request made = request(Request::kAbort, rank);
    connection.send(&made, sizeof made);
    connection.receive_reply();
  } catch (const Error&) {
    // The process where the ranks meet has ended, which ends all waits.
  }
}

std::shared_ptr<Meeting> RemoteWorld::come(const MeetingKey& key, int32_t place, const Terms& terms,
                                           const Share& share) {
  Request made = request(Request::kCall, place);
  made.place = place;
  std::tie(made.from, made.to, made.index) = key;
  if (terms.kind == Terms::kMessage) made.rank = place == 0 ? made.from : made.to;
  made.terms = terms;
  const ShareBytes sizes = share_bytes(terms, ranks_, made.rank, place);
  Connection connection = Connection::to(name_);
  connection.send(&made, sizeof made);
  connection.send(share.send, sizes.send);
  return std::make_shared<There>(std::move(connection), share, sizes.receive);
}

void RemoteWorld::finish(const std::shared_ptr<Meeting>& given) {
  auto& meeting = static_cast<There&>(*given);
  meeting.connection.receive_reply();
  meeting.connection.receive(meeting.receive, meeting.receive_bytes);
}

}  // namespace dl::async_test
