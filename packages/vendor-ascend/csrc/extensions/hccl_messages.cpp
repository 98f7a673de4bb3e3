#include "extensions/hccl_messages.h"

#include <map>
#include <tuple>
#include <utility>

#include "runtime/vendor.h"

namespace dl::ascend {
namespace {

using Message = HcclMessages::Message;
using Items = std::vector<hccl::Item>;
using Queue = std::pair<HcclCommunicator*, acl::Stream>;

struct Group {
  int depth = 0;
  std::vector<Message> messages;
};
Group& group() {
  thread_local Group own;
  return own;
}

// Copies the messages of a rank to itself, which HCCL does not allow.
void copy_own(Vendor& vendor, const Queue& queue, const Items& sends, const Items& receives) {
  const auto refuse = [] {
    return kit::Error(DL_INVALID_ARGUMENT,
                      "a message of a rank to itself needs a receive of the same size in the same "
                      "group");
  };
  if (sends.size() != receives.size()) throw refuse();
  for (size_t i = 0; i < sends.size(); ++i) {
    if (receives[i].count != sends[i].count) throw refuse();
    vendor.memory_copy(queue.first->device, receives[i].buffer, sends[i].buffer, sends[i].count,
                       DL_COPY_DEVICE_TO_DEVICE, queue.second);
  }
}

// A batch has at most one message to and one from each rank, so that the n-th message between two
// ranks is in the n-th batch of both.
void enqueue(Vendor& vendor, const std::vector<Message>& messages) {
  std::map<Queue, std::vector<Items>> queues;
  std::map<Queue, Items> own[2];
  std::map<std::tuple<Queue, int, uint32_t>, size_t> counts;
  for (const Message& message : messages) {
    const Queue queue{message.communicator.get(), message.stream};
    const hccl::Item& item = message.item;
    if (item.peer == static_cast<uint32_t>(queue.first->rank)) {
      own[hccl::kSend][queue];
      own[item.direction][queue].push_back(item);
      continue;
    }
    std::vector<Items>& batches = queues[queue];
    const size_t round = counts[{queue, item.direction, item.peer}]++;
    if (batches.size() <= round) batches.resize(round + 1);
    batches[round].push_back(item);
  }
  for (const auto& [queue, sends] : own[hccl::kSend]) {
    vendor.make_current(queue.first->device);
    copy_own(vendor, queue, sends, own[hccl::kReceive][queue]);
  }
  for (auto& [queue, batches] : queues) {
    vendor.make_current(queue.first->device);
    for (Items& batch : batches) {
      queue.first->call("HcclBatchSendRecv", [&, &stream = queue.second](hccl::Communicator one) {
        return vendor.hccl().batch(batch.data(), static_cast<uint32_t>(batch.size()), one, stream);
      });
    }
  }
}

}  // namespace

void HcclMessages::begin() { ++group().depth; }

void HcclMessages::end(Vendor& vendor) {
  Group& own = group();
  if (own.depth == 0)
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "this thread has not begun a group; call group_begin first");
  if (--own.depth > 0) return;
  enqueue(vendor, std::exchange(own.messages, {}));
}

void HcclMessages::add(Vendor& vendor, const std::vector<Message>& messages) {
  Group& own = group();
  if (own.depth == 0) return enqueue(vendor, messages);
  own.messages.insert(own.messages.end(), messages.begin(), messages.end());
}

}  // namespace dl::ascend
