// Collectives and messages, which wait on their streams for the other ranks.
#include <cstring>
#include <set>
#include <vector>

#include "fake_hccl.h"

using namespace fake;

namespace {

constexpr int kWorkFailed = 507904;  // the runtime's error of a stream with a failed collective

constexpr Type kTypes[] = {{1, Element::kInt8},  {2, Element::kInt16},   {4, Element::kInt32},
                           {2, Element::kHalf},  {4, Element::kFloat32}, {8, Element::kInt64},
                           {8, Element::kOther}, {1, Element::kOther},   {2, Element::kOther},
                           {4, Element::kOther}, {8, Element::kOther},   {2, Element::kBfloat16}};
constexpr int kTypeCount = sizeof kTypes / sizeof kTypes[0];

bool overlap(const char* a, size_t a_bytes, const char* b, size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

int collective(const char* function, Communicator c, Stream stream, Kind kind, const void* send,
               void* receive, uint64_t count, int type, int operation, uint32_t root) {
  if (const int status = check_call(function, c, stream)) return status;
  const Type* const known = type_of(type);
  if (known == nullptr) return refuse(kInvalidParameter, "unknown data type");
  const int rank = c->exchange.rank, ranks = c->exchange.ranks;
  if (root >= static_cast<uint32_t>(ranks)) return refuse(kInvalidParameter, "unknown root");
  const Collective call{
      kind, count, type, known->element, known->bytes, operation, static_cast<int>(root)};
  if (kind == Kind::kAllReduce || kind == Kind::kReduce || kind == Kind::kReduceScatter) {
    const bool is_product = operation == kProduct && (type == kInt16 || type == kBfloat16);
    if (call.element == Element::kOther || is_product)
      return refuse(kUnsupported, "this type is not reduced by this operation");
    if (operation < kSum || operation > kMinimum)
      return refuse(kInvalidParameter, "unknown operation");
  }
  if (send == nullptr || receive == nullptr) return refuse(kNullPointer, "a buffer is NULL");
  const size_t sent = call.sent(ranks), received = call.received(ranks);
  char* const from = host_address(c, send, sent);
  char* const to = host_address(c, receive, received);
  if (from == nullptr || to == nullptr)
    return refuse(kInvalidParameter, "a buffer is not memory of the communicator's device");
  const size_t own = call.bytes() * static_cast<size_t>(rank);
  const bool in_place = kind == Kind::kAllToAll
                            ? false
                            : from == to || (kind == Kind::kAllGather && from == to + own) ||
                                  (kind == Kind::kReduceScatter && to == from + own);
  if (!in_place && overlap(from, sent, to, received))
    return refuse(kInvalidParameter, "the buffers overlap");
  const std::string name = "collective-" + std::to_string(c->collectives++);
  return enqueue(c, stream, [=](const std::string& run) {
    call.give(c->exchange, name + run, call.gives(rank) ? std::string(from, sent) : "");
    const std::string result = call.take(c->exchange, name + run);
    if (call.takes(rank)) std::memcpy(to, result.data(), result.size());
  });
}

}  // namespace

namespace fake {

const Type* type_of(int number) {
  return number >= 0 && number < kTypeCount ? &kTypes[number] : nullptr;
}

char* host_address(Communicator c, const void* address, size_t bytes) {
  return static_cast<char*>(fakeAclHostAddress(c->device, address, bytes));
}

int enqueue(Communicator c, Stream stream, std::function<void(const std::string& run)> work) {
  struct Job {
    Communicator communicator;
    std::function<void(const std::string&)> work;
    uint64_t runs = 0;
  };
  const auto run = [](void* self) {
    Job& job = *static_cast<Job*>(self);
    const uint64_t number = job.runs++;
    try {
      job.work(number == 0 ? "" : "-run-" + std::to_string(number));
    } catch (const fake_collectives::Failure& failure) {
      // The first failure counts.
      if (job.communicator->state == kSuccess) {
        job.communicator->failure = failure.text;
        job.communicator->state = status_of(failure.fault);
      }
      return kWorkFailed;
    }
    const int async = fake_driver::int_setting("FAKE_HCCL_ASYNC", "0");
    if (async != kSuccess) job.communicator->state = async;
    return 0;
  };
  const auto drop = [](void* self) {
    Job* const job = static_cast<Job*>(self);
    --job->communicator->pending;
    delete job;
  };
  ++c->pending;
  const int code = fakeAclEnqueue(stream, run, new Job{c, std::move(work)}, drop);
  return code == 0 ? int(kSuccess) : refuse(kInternal, "the stream refuses the work");
}

}  // namespace fake

FAKE int HcclAllReduce(void* send, void* receive, uint64_t count, int type, int operation,
                       Communicator c, Stream stream) {
  return collective("HcclAllReduce", c, stream, Kind::kAllReduce, send, receive, count, type,
                    operation, 0);
}
FAKE int HcclReduce(void* send, void* receive, uint64_t count, int type, int operation,
                    uint32_t root, Communicator c, Stream stream) {
  return collective("HcclReduce", c, stream, Kind::kReduce, send, receive, count, type, operation,
                    root);
}
FAKE int HcclBroadcast(void* buffer, uint64_t count, int type, uint32_t root, Communicator c,
                       Stream stream) {
  return collective("HcclBroadcast", c, stream, Kind::kBroadcast, buffer, buffer, count, type, kSum,
                    root);
}
FAKE int HcclAllGather(void* send, void* receive, uint64_t count, int type, Communicator c,
                       Stream stream) {
  return collective("HcclAllGather", c, stream, Kind::kAllGather, send, receive, count, type, kSum,
                    0);
}
FAKE int HcclReduceScatter(void* send, void* receive, uint64_t count, int type, int operation,
                           Communicator c, Stream stream) {
  return collective("HcclReduceScatter", c, stream, Kind::kReduceScatter, send, receive, count,
                    type, operation, 0);
}
FAKE int HcclAlltoAll(const void* send, uint64_t sends, int type, const void* receive,
                      uint64_t receives, int received_type, Communicator c, Stream stream) {
  if (sends != receives || type != received_type)
    return refuse(kInvalidParameter, "the parts have different sizes");
  return collective("HcclAlltoAll", c, stream, Kind::kAllToAll, send, const_cast<void*>(receive),
                    sends, type, kSum, 0);
}

#ifndef OLD
FAKE int HcclBatchSendRecv(Item* items, uint32_t count, Communicator c, Stream stream) {
  if (const int status = check_call("HcclBatchSendRecv", c, stream)) return status;
  if (items == nullptr || count == 0) return refuse(kNullPointer, "the batch is empty");
  struct Message {
    bool sends;
    int peer;
    char* memory;
    size_t bytes;
    std::string name;
  };
  std::vector<Message> all;
  std::set<std::pair<int, uint32_t>> seen;
  const int rank = c->exchange.rank;
  for (uint32_t i = 0; i < count; ++i) {
    const Item& item = items[i];
    const Type* const type = type_of(item.type);
    if (type == nullptr || item.direction < kSend || item.direction > kReceive ||
        item.peer >= static_cast<uint32_t>(c->exchange.ranks))
      return refuse(kInvalidParameter, "an item is invalid");
    const auto peer = static_cast<int>(item.peer);
    if (peer == rank) return refuse(kInvalidParameter, "a rank cannot send to itself");
    if (!seen.insert({item.direction, item.peer}).second)
      return refuse(kInvalidParameter, "two messages of a batch have the same ranks");
    Message message{item.direction == kSend, peer, nullptr, item.count * type->bytes, ""};
    message.memory = host_address(c, item.buffer, message.bytes);
    if (message.memory == nullptr)
      return refuse(kInvalidParameter, "a buffer is not memory of the communicator's device");
    // The sender is part of the file's name.
    message.name = "message-to-" + std::to_string(message.sends ? peer : rank) + "-" +
                   std::to_string(c->messages[{item.direction, item.peer}]++);
    all.push_back(message);
  }
  return enqueue(c, stream, [c, all](const std::string& run) {
    for (const Message& message : all) {
      if (message.sends)
        c->exchange.put(message.name + run, std::string(message.memory, message.bytes));
    }
    for (const Message& message : all) {
      if (message.sends) continue;
      const std::string data = fake_collectives::take_message(c->exchange, message.name + run,
                                                              message.peer, message.bytes);
      std::memcpy(message.memory, data.data(), data.size());
    }
  });
}
#endif
