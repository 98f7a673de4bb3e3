#include "extensions/meeting.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "dl/dtype.h"
#include "error.h"
#include "extensions/communicator.h"

namespace dl::async_test {
namespace {

constexpr const char* kNames[] = {"all_reduce", "reduce",         "broadcast",
                                  "all_gather", "reduce_scatter", "all_to_all",
                                  "gather",     "scatter",        "message"};

}  // namespace

std::string Terms::text() const {
  std::string text = kNames[kind];
  text += " of " + std::to_string(count) + " elements of dtype " + std::to_string(dtype);
  if (reduce >= 0) text += ", operation " + std::to_string(reduce);
  if (root >= 0) text += ", root " + std::to_string(root);
  return text;
}

ShareBytes share_bytes(const Terms& terms, int32_t ranks, int32_t rank, int32_t place) {
  if (terms.kind < Terms::kAllReduce || terms.kind > Terms::kMessage)
    throw Error(DL_INVALID_ARGUMENT, "kind " + std::to_string(terms.kind) + " is not a call");
  const auto element = static_cast<uint64_t>(dl_dtype_bytes(terms.dtype));
  uint64_t part = 0, whole = 0;
  if (element == 0 || __builtin_mul_overflow(terms.count, element, &part) ||
      __builtin_mul_overflow(part, static_cast<uint64_t>(ranks), &whole))
    throw Error(DL_INVALID_ARGUMENT, terms.text() + " cannot be");
  const bool root = rank == terms.root;
  switch (terms.kind) {
    case Terms::kAllReduce:
      return {part, part};
    case Terms::kReduce:
      return {part, root ? part : 0};
    case Terms::kBroadcast:
      return {root ? part : 0, part};
    case Terms::kAllGather:
      return {part, whole};
    case Terms::kReduceScatter:
      return {whole, part};
    case Terms::kAllToAll:
      return {whole, whole};
    case Terms::kGather:
      return {part, root ? whole : 0};
    case Terms::kScatter:
      return {root ? whole : 0, part};
    case Terms::kMessage:
      break;
  }
  return place == 0 ? ShareBytes{part, 0} : ShareBytes{0, part};
}

class LocalWorld::Here : public Meeting {
 public:
  explicit Here(std::vector<int32_t> members) : ranks(std::move(members)), shares(ranks.size()) {}

  const std::vector<int32_t> ranks;  // by index
  std::vector<std::optional<Share>> shares;
  std::optional<Terms> terms;
  size_t came = 0;
  bool done = false;
  std::string failure;
};

void LocalWorld::join(int32_t rank, double seconds) {
  std::unique_lock lock(mutex_);
  const auto place = static_cast<size_t>(rank);
  if (joined_[place])
    throw Error(DL_INVALID_ARGUMENT, "rank " + std::to_string(rank) + " is taken");
  joined_[place] = true;
  changed_.notify_all();
  const auto complete = [this] {
    return std::all_of(joined_.begin(), joined_.end(), [](bool here) { return here; });
  };
  if (seconds <= 0) {
    changed_.wait(lock, complete);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 1e6)),
                                complete)) {
    joined_[place] = false;
    const auto missing = std::count(joined_.begin(), joined_.end(), false) - 1;
    throw Error(DL_UNAVAILABLE, std::to_string(missing) + " of " + std::to_string(ranks_) +
                                    " ranks did not join within " + std::to_string(seconds) +
                                    " seconds; all ranks must call create with the same id");
  }
}

void LocalWorld::leave(int32_t rank) {
  const std::lock_guard lock(mutex_);
  left_.push_back(rank);
  changed_.notify_all();
}

void LocalWorld::abort(int32_t rank) {
  const std::lock_guard lock(mutex_);
  if (aborted_by_ < 0) aborted_by_ = rank;
  changed_.notify_all();
}

std::shared_ptr<Meeting> LocalWorld::come(const MeetingKey& key, int32_t place, const Terms& terms,
                                          const Share& share) {
  const std::lock_guard lock(mutex_);
  auto& entry = meetings_[key];
  if (entry == nullptr) {
    std::vector<int32_t> members;
    if (terms.kind == Terms::kMessage) {
      members = {std::get<0>(key), std::get<1>(key)};
    } else {
      for (int32_t rank = 0; rank < ranks_; ++rank) members.push_back(rank);
    }
    entry = std::make_shared<Here>(std::move(members));
  }
  const auto meeting = entry;
  meeting->shares[static_cast<size_t>(place)] = share;
  if (!meeting->terms) meeting->terms = terms;
  if (!(*meeting->terms == terms) && meeting->failure.empty()) {
    meeting->failure = "ranks disagree: one enqueued " + meeting->terms->text() + ", rank " +
                       std::to_string(meeting->ranks[static_cast<size_t>(place)]) + " " +
                       terms.text() + "; all enqueue the same calls in the same order";
  }
  if (++meeting->came < meeting->shares.size()) return meeting;
  if (meeting->failure.empty() && aborted_by_ < 0) {
    std::vector<Share> shares;
    for (const auto& one : meeting->shares) shares.push_back(*one);
    try {
      carry_out(terms, shares);
      meeting->done = true;
    } catch (const std::exception& error) {
      // Out of host memory: the waiting ranks must be notified too.
      meeting->failure = error.what();
    }
  }
  meetings_.erase(key);
  changed_.notify_all();
  return meeting;
}

std::string LocalWorld::why_hopeless(const Here& meeting) const {
  if (!meeting.failure.empty()) return meeting.failure;
  if (aborted_by_ >= 0)
    return "the communicator was aborted by rank " + std::to_string(aborted_by_);
  for (size_t place = 0; place < meeting.ranks.size(); ++place) {
    const int32_t rank = meeting.ranks[place];
    if (!meeting.shares[place] && std::find(left_.begin(), left_.end(), rank) != left_.end())
      return "rank " + std::to_string(rank) +
             " has destroyed its part of the communicator, or has ended";
  }
  return {};
}

void LocalWorld::finish(const std::shared_ptr<Meeting>& given) {
  const auto& meeting = static_cast<const Here&>(*given);
  std::unique_lock lock(mutex_);
  std::string why;
  changed_.wait(lock, [&] {
    why = why_hopeless(meeting);
    return meeting.done || !why.empty();
  });
  if (!meeting.done) throw Error(DL_ERROR, why);
}

}  // namespace dl::async_test
