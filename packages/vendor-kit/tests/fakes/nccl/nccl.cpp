// A libnccl.so.2, or librccl.so.1, for tests: ranks are threads or processes of one machine, which
// exchange data through files. The driver that DL_CUDA_DRIVER or DL_ROCM_DRIVER names reads and
// writes device memory (device_memory.h). Calls return immediately, as with a non-blocking
// communicator, and a thread executes them.
//
//   FAKE_NCCL_FOLDER=path         folder for the exchange; must exist
//   FAKE_NCCL_FAIL=ncclAllReduce:1,ncclSend:4   functions that fail, with the error
//   FAKE_NCCL_ASYNC=6             asynchronous error that every communicator
//                                 reports after its first job
//
// Calls that NCCL leaves undefined fail here: the communicator's device is not current, ranks
// disagree, sizes do not match, memory is not device memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../common/collective.h"
#include "device_memory.h"
#include "dl/kit/nccl.h"

using namespace dl::kit::nccl;
using device_memory::Stream;
using fake_collectives::Collective;
using fake_collectives::Element;
using fake_collectives::Exchange;
using fake_collectives::Fault;
using fake_collectives::Kind;

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int injected_failure(const char* function) {
  const std::string list = "," + setting("FAKE_NCCL_FAIL");
  const size_t at = list.find("," + std::string(function) + ":");
  return at == std::string::npos ? kSuccess
                                 : std::atoi(list.c_str() + at + std::strlen(function) + 2);
}

constexpr int kCudaError = 1, kSystemError = 2, kRemoteError = 6;

struct Type {
  size_t bytes;
  Element element;
};
constexpr Type kTypes[] = {{1, Element::kInt8},    {1, Element::kUint8},   {4, Element::kInt32},
                           {4, Element::kUint32},  {8, Element::kInt64},   {8, Element::kUint64},
                           {2, Element::kHalf},    {4, Element::kFloat32}, {8, Element::kFloat64},
                           {2, Element::kBfloat16}};

thread_local std::string last_error;  // result of ncclGetLastError

// An error found by a job.
struct Failure {
  int code;
  std::string text;
};

int code_of(Fault fault) {
  switch (fault) {
    case Fault::kLost:
      return kRemoteError;
    case Fault::kMismatch:
      return kInvalidUsage;
    default:
      return kSystemError;
  }
}

}  // namespace

struct dl::kit::nccl::CommunicatorObject {
  CommunicatorObject(const std::string& folder, int rank, int ranks)
      : exchange(folder, rank, ranks) {}

  Exchange exchange;
  device_memory::Device device = device_memory::kNone;
  uint64_t collectives = 0;
  std::map<std::pair<int, int>, uint64_t> messages;
  std::thread job;
  std::mutex mutex;
  int state = kSuccess;
  std::string error;
};

namespace {

struct Op {
  enum Form { kCollective, kSend, kReceive } form;
  Collective call;  // of a message, the peer is its root
  const void* send;
  void* receive;
  Communicator communicator;
  Stream stream;
  std::string name = {};  // of its files
};

thread_local int depth = 0;
thread_local std::vector<Op> pending;

void check_driver(int code, const char* what) {
  if (code != 0)
    throw Failure{kCudaError,
                  std::string(what) + " failed: " + device_memory::driver().describe(code)};
}

std::string read_memory(const void* from, size_t bytes, Stream stream) {
  std::string data(bytes, '\0');
  check_driver(device_memory::read(data.data(), from, bytes, stream), "a read");
  check_driver(device_memory::driver().stream_synchronize(stream), "the stream");
  return data;
}
void write_memory(void* to, const std::string& data, Stream stream) {
  check_driver(device_memory::write(to, data.data(), data.size(), stream), "a write");
  check_driver(device_memory::driver().stream_synchronize(stream), "the stream");
}

void give(const Op& op) {
  Exchange& exchange = op.communicator->exchange;
  if (op.form == Op::kSend) {
    exchange.put(op.name, read_memory(op.send, op.call.bytes(), op.stream));
  } else if (op.form == Op::kCollective) {
    // Ranks without input write no bytes.
    op.call.give(exchange, op.name,
                 op.call.gives(exchange.rank)
                     ? read_memory(op.send, op.call.sent(exchange.ranks), op.stream)
                     : "");
  }
}

void take(const Op& op) {
  Exchange& exchange = op.communicator->exchange;
  if (op.form == Op::kReceive) {
    write_memory(op.receive,
                 fake_collectives::take_message(exchange, op.name, op.call.root, op.call.bytes()),
                 op.stream);
  } else if (op.form == Op::kCollective) {
    const std::string result = op.call.take(exchange, op.name);
    if (op.call.takes(exchange.rank)) write_memory(op.receive, result, op.stream);
  }
}

// Runs `body` on the communicator's thread, after all earlier calls.
template <class Body>
int start(Communicator c, Body body) {
  if (c->job.joinable()) c->job.join();
  {
    const std::lock_guard<std::mutex> lock(c->mutex);
    if (c->state != kSuccess) return c->state;
    c->state = kInProgress;
  }
  c->job = std::thread([c, body] {
    int state = std::atoi(setting("FAKE_NCCL_ASYNC").c_str());
    std::string error = state == kSuccess ? "" : "injected failure";
    try {
      check_driver(device_memory::make_current(c->device), "making the device current");
      body();
    } catch (const Failure& failure) {
      state = failure.code;
      error = failure.text;
    } catch (const fake_collectives::Failure& failure) {
      state = code_of(failure.fault);
      error = failure.text;
    }
    const std::lock_guard<std::mutex> lock(c->mutex);
    c->state = state;
    c->error = error;
  });
  return kInProgress;
}

int launch() {
  std::map<Communicator, std::vector<Op>> jobs;
  for (Op& op : pending) jobs[op.communicator].push_back(op);
  pending.clear();
  int result = kSuccess;
  for (auto& [communicator, ops] : jobs) {
    const int started = start(communicator, [ops] {
      for (const Op& op : ops) give(op);
      for (const Op& op : ops) take(op);
    });
    if (result == kSuccess || result == kInProgress) result = started;
  }
  return result;
}

int refused(int code, const std::string& text) {
  last_error = text;
  return code;
}

int submit(const char* function, Op op, int type) {
  if (const int code = injected_failure(function)) return refused(code, "injected failure");
  Communicator c = op.communicator;
  const int rank = c->exchange.rank;
  device_memory::Device now = device_memory::kNone;
  if (device_memory::current(&now) != 0 || now != c->device)
    return refused(kInvalidUsage, "the communicator's device is not current");
  if (type < 0 || type > kBfloat16 || op.call.operation < 0 || op.call.operation > kAverage)
    return refused(kInvalidArgument, "unknown type or operation");
  op.call.type = type;
  op.call.element = kTypes[type].element;
  op.call.element_bytes = kTypes[type].bytes;
  const int peer = op.call.root;
  if (peer < 0 || peer >= c->exchange.ranks) return refused(kInvalidArgument, "unknown rank");
  const bool gives = op.form == Op::kCollective ? op.call.gives(rank) : op.form == Op::kSend;
  const bool takes = op.form == Op::kCollective ? op.call.takes(rank) : op.form == Op::kReceive;
  if (op.call.count > 0 && ((gives && op.send == nullptr) || (takes && op.receive == nullptr)))
    return refused(kInvalidArgument, "a buffer is NULL");
  if (op.form == Op::kCollective) {
    op.name = "collective-" + std::to_string(c->collectives++);
  } else {
    // The sender is part of the file's name. A message to the own rank has two ends, each of which
    // counts.
    const int to = op.form == Op::kSend ? peer : rank;
    op.name =
        "message-to-" + std::to_string(to) + "-" + std::to_string(c->messages[{op.form, peer}]++);
  }
  pending.push_back(op);
  return depth > 0 ? kSuccess : launch();
}

Op collective(Kind kind, const void* send, void* receive, size_t count, int operation, int root,
              Communicator c, void* stream) {
  const Collective call{kind, count, 0, Element::kOther, 0, operation, root};
  return {Op::kCollective, call, send, receive, c, static_cast<Stream>(stream)};
}
Op message(Op::Form form, const void* send, void* receive, size_t count, int peer, Communicator c,
           void* stream) {
  const Collective call{Kind::kBroadcast, count, 0, Element::kOther, 0, kSum, peer};
  return {form, call, send, receive, c, static_cast<Stream>(stream)};
}

}  // namespace

#define FAKE __attribute__((visibility("default")))

extern "C" {

FAKE int ncclGetUniqueId(UniqueId* id) {
  if (const int code = injected_failure("ncclGetUniqueId")) return code;
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->bytes, sizeof id->bytes, "%08x%08x", std::random_device()(),
                std::random_device()());
  return kSuccess;
}

FAKE int ncclCommInitRankConfig(Communicator* made, int ranks, UniqueId id, int rank,
                                Config* config) {
  *made = nullptr;
  if (const int code = injected_failure("ncclCommInitRankConfig"))
    return refused(code, "injected failure");
  if (config == nullptr || config->magic != Config().magic || config->size < sizeof(Config) ||
      config->version < 21400 || config->blocking != 0)
    return refused(kInvalidArgument, "the configuration is invalid or blocking");
  auto c = std::make_unique<CommunicatorObject>(setting("FAKE_NCCL_FOLDER") + "/" + id.bytes, rank,
                                                ranks);
  if (device_memory::current(&c->device) != 0 || c->device == device_memory::kNone)
    return refused(kInvalidUsage, "no device is current");
  *made = c.release();
  return start(*made, [c = *made] { c->exchange.join(); });
}

FAKE int ncclCommFinalize(Communicator c) {
  return start(c, [] {});
}
FAKE int ncclCommDestroy(Communicator c) {
  if (c->job.joinable()) c->job.join();
  delete c;
  return kSuccess;
}
FAKE int ncclCommAbort(Communicator c) {
  c->exchange.stop();
  return ncclCommDestroy(c);
}
FAKE int ncclCommGetAsyncError(Communicator c, int* state) {
  const std::lock_guard<std::mutex> lock(c->mutex);
  *state = c->state;
  if (c->state != kSuccess && c->state != kInProgress) last_error = c->error;
  return kSuccess;
}
FAKE const char* ncclGetErrorString(int code) {
  static const char* const kNames[] = {"no error",
                                       "unhandled cuda error",
                                       "unhandled system error",
                                       "internal error",
                                       "invalid argument",
                                       "invalid usage",
                                       "remote process exited or there was a network error",
                                       "NCCL operation in progress"};
  return code >= 0 && code <= kInProgress ? kNames[code] : "unknown result code";
}
FAKE const char* ncclGetLastError(Communicator) { return last_error.c_str(); }

FAKE int ncclGroupStart() {
  ++depth;
  return kSuccess;
}
FAKE int ncclGroupEnd() {
  if (depth == 0) return refused(kInvalidUsage, "no group has been started");
  return --depth > 0 ? kSuccess : launch();
}

FAKE int ncclAllReduce(const void* send, void* receive, size_t count, int type, int operation,
                       Communicator c, void* stream) {
  return submit("ncclAllReduce",
                collective(Kind::kAllReduce, send, receive, count, operation, 0, c, stream), type);
}
FAKE int ncclReduce(const void* send, void* receive, size_t count, int type, int operation,
                    int root, Communicator c, void* stream) {
  return submit("ncclReduce",
                collective(Kind::kReduce, send, receive, count, operation, root, c, stream), type);
}
FAKE int ncclBroadcast(const void* send, void* receive, size_t count, int type, int root,
                       Communicator c, void* stream) {
  return submit("ncclBroadcast",
                collective(Kind::kBroadcast, send, receive, count, kSum, root, c, stream), type);
}
FAKE int ncclAllGather(const void* send, void* receive, size_t count, int type, Communicator c,
                       void* stream) {
  return submit("ncclAllGather",
                collective(Kind::kAllGather, send, receive, count, kSum, 0, c, stream), type);
}
FAKE int ncclReduceScatter(const void* send, void* receive, size_t count, int type, int operation,
                           Communicator c, void* stream) {
  return submit("ncclReduceScatter",
                collective(Kind::kReduceScatter, send, receive, count, operation, 0, c, stream),
                type);
}
FAKE int ncclSend(const void* send, size_t count, int type, int peer, Communicator c,
                  void* stream) {
  return submit("ncclSend", message(Op::kSend, send, nullptr, count, peer, c, stream), type);
}
FAKE int ncclRecv(void* receive, size_t count, int type, int peer, Communicator c, void* stream) {
  return submit("ncclRecv", message(Op::kReceive, nullptr, receive, count, peer, c, stream), type);
}

}  // extern "C"
