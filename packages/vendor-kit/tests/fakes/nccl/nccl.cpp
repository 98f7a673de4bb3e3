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
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device_memory.h"
#include "dl/kit/nccl.h"

using namespace dl::kit::nccl;
using device_memory::Stream;

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

constexpr int kCudaError = 1, kSystemError = 2;
constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

thread_local std::string last_error;  // result of ncclGetLastError

// An error found by a job.
struct Failure {
  int code;
  std::string text;
};
[[noreturn]] void fail(int code, const std::string& text) { throw Failure{code, text}; }

}  // namespace

struct dl::kit::nccl::CommunicatorObject {
  std::string folder;
  int rank = 0, ranks = 0;
  device_memory::Device device = device_memory::kNone;
  std::atomic<bool> aborted{false};
  uint64_t collectives = 0;
  std::map<std::pair<int, int>, uint64_t> messages;
  std::thread job;
  std::mutex mutex;
  int state = kSuccess;
  std::string error;
};

namespace {

struct Op {
  enum Kind { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kReceive } kind;
  const void* send;
  void* receive;
  size_t count;
  int type, operation, root;
  Communicator communicator;
  Stream stream;
  std::string name = {};  // prefix of its files

  size_t bytes() const { return count * kBytes[type]; }
  std::string terms() const {
    return std::to_string(kind >= kSend ? kSend : kind) + " " + std::to_string(count) + " " +
           std::to_string(type) + " " + std::to_string(operation) + " " +
           std::to_string(kind >= kSend ? 0 : root) + "\n";
  }
};

thread_local int depth = 0;
thread_local std::vector<Op> pending;

void put_file(const std::string& path, const std::string& text) {
  std::ofstream(path + ".new", std::ios::binary) << text;
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) fail(kSystemError, "no " + path);
}

std::string wait_for_file(Communicator c, const std::string& path) {
  struct stat found{};
  while (stat(path.c_str(), &found) != 0) {
    if (c->aborted) fail(kSystemError, "aborted");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void check_driver(int code, const char* what) {
  if (code != 0)
    fail(kCudaError, std::string(what) + " failed: " + device_memory::driver().describe(code));
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

template <class T, class Wide, class Load, class Store>
std::string combined(const std::vector<std::string>& parts, int operation, Load load, Store store) {
  std::string result(parts[0].size(), '\0');
  for (size_t i = 0; i < result.size() / sizeof(T); ++i) {
    Wide total{};
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      T raw;
      std::memcpy(&raw, parts[rank].data() + i * sizeof(T), sizeof raw);
      const Wide value = load(raw);
      if (rank == 0) {
        total = value;
      } else if (operation == kSum || operation == kAverage) {
        total = static_cast<Wide>(total + value);
      } else if (operation == kProduct) {
        total = static_cast<Wide>(total * value);
      } else {
        total = (operation == kMaximum) == (value > total) ? value : total;
      }
    }
    if (operation == kAverage) total = static_cast<Wide>(total / static_cast<Wide>(parts.size()));
    const T raw = store(total);
    std::memcpy(result.data() + i * sizeof(T), &raw, sizeof raw);
  }
  return result;
}

template <class T>
std::string combined_plain(const std::vector<std::string>& parts, int operation) {
  const auto same = [](T value) { return value; };
  return combined<T, T>(parts, operation, same, same);
}

std::string combine(const std::vector<std::string>& parts, int type, int operation) {
  switch (type) {
    case kInt8:
      return combined_plain<int8_t>(parts, operation);
    case kUint8:
      return combined_plain<uint8_t>(parts, operation);
    case kInt32:
      return combined_plain<int32_t>(parts, operation);
    case kInt64:
      return combined_plain<int64_t>(parts, operation);
    case kFloat32:
      return combined_plain<float>(parts, operation);
    case kFloat64:
      return combined_plain<double>(parts, operation);
    case kBfloat16:
      return combined<uint16_t, float>(
          parts, operation,
          [](uint16_t raw) {
            const uint32_t bits = uint32_t{raw} << 16;
            float value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
          },
          [](float value) {
            uint32_t bits;
            std::memcpy(&bits, &value, sizeof bits);
            return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
          });
    default:
      fail(kInvalidArgument, "the fake does not reduce type " + std::to_string(type));
  }
}

// Writes a rank's input to a collective; ranks without input write no bytes.
void give(const Op& op) {
  Communicator c = op.communicator;
  std::string data;
  if (op.kind == Op::kReceive) return;
  if (op.kind == Op::kReduceScatter) {
    data = read_memory(op.send, op.bytes() * static_cast<size_t>(c->ranks), op.stream);
  } else if (op.kind != Op::kBroadcast || op.root == c->rank) {
    data = read_memory(op.send, op.bytes(), op.stream);
  }
  put_file(op.name + "." + std::to_string(c->rank), op.terms() + data);
}

std::string taken(const Op& op, int from) {
  std::string data = wait_for_file(op.communicator, op.name + "." + std::to_string(from));
  const size_t end = data.find('\n') + 1;
  if (data.substr(0, end) != op.terms())
    fail(kInvalidUsage, "rank " + std::to_string(from) + " calls with different arguments: " +
                            data.substr(0, end - 1) + ", not " + op.terms());
  return data.substr(end);
}

void take(const Op& op) {
  Communicator c = op.communicator;
  if (op.kind == Op::kSend) return;
  if (op.kind == Op::kReceive) return write_memory(op.receive, taken(op, op.root), op.stream);
  if (op.kind == Op::kBroadcast) return write_memory(op.receive, taken(op, op.root), op.stream);
  std::vector<std::string> parts;
  for (int rank = 0; rank < c->ranks; ++rank) parts.push_back(taken(op, rank));
  std::string result;
  if (op.kind == Op::kAllGather) {
    for (const std::string& part : parts) result += part;
  } else {
    result = combine(parts, op.type, op.operation);
    if (op.kind == Op::kReduceScatter)
      result = result.substr(op.bytes() * static_cast<size_t>(c->rank), op.bytes());
  }
  if (op.kind != Op::kReduce || op.root == c->rank) write_memory(op.receive, result, op.stream);
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

int submit(const char* function, Op op) {
  if (const int code = injected_failure(function)) return refused(code, "injected failure");
  Communicator c = op.communicator;
  device_memory::Device now = device_memory::kNone;
  if (device_memory::current(&now) != 0 || now != c->device)
    return refused(kInvalidUsage, "the communicator's device is not current");
  if (op.type < 0 || op.type > kBfloat16 || op.operation < 0 || op.operation > kAverage)
    return refused(kInvalidArgument, "unknown type or operation");
  if (op.root < 0 || op.root >= c->ranks) return refused(kInvalidArgument, "unknown rank");
  const bool gives = op.kind != Op::kReceive && (op.kind != Op::kBroadcast || op.root == c->rank);
  const bool takes = op.kind != Op::kSend && (op.kind != Op::kReduce || op.root == c->rank);
  if (op.count > 0 && ((gives && op.send == nullptr) || (takes && op.receive == nullptr)))
    return refused(kInvalidArgument, "a buffer is NULL");
  if (op.kind >= Op::kSend) {
    const std::pair<int, int> way =
        op.kind == Op::kSend ? std::pair(c->rank, op.root) : std::pair(op.root, c->rank);
    // A message to the own rank has two ends, each of which counts.
    const auto counter = std::pair(way.first * 2 + (op.kind == Op::kSend ? 0 : 1), way.second);
    op.name = c->folder + "/message-" + std::to_string(way.first) + "-" +
              std::to_string(way.second) + "-" + std::to_string(c->messages[counter]++);
  } else {
    op.name = c->folder + "/collective-" + std::to_string(c->collectives++);
  }
  pending.push_back(op);
  return depth > 0 ? kSuccess : launch();
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
  auto* c = new CommunicatorObject;
  c->folder = setting("FAKE_NCCL_FOLDER") + "/" + id.bytes;
  c->rank = rank;
  c->ranks = ranks;
  if (device_memory::current(&c->device) != 0 || c->device == device_memory::kNone) {
    delete c;
    return refused(kInvalidUsage, "no device is current");
  }
  mkdir(c->folder.c_str(), 0700);
  *made = c;
  return start(c, [c] {
    put_file(c->folder + "/come." + std::to_string(c->rank), "");
    for (int other = 0; other < c->ranks; ++other)
      wait_for_file(c, c->folder + "/come." + std::to_string(other));
  });
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
  c->aborted = true;
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
  return submit("ncclAllReduce", {Op::kAllReduce, send, receive, count, type, operation, 0, c,
                                  static_cast<Stream>(stream)});
}
FAKE int ncclReduce(const void* send, void* receive, size_t count, int type, int operation,
                    int root, Communicator c, void* stream) {
  return submit("ncclReduce", {Op::kReduce, send, receive, count, type, operation, root, c,
                               static_cast<Stream>(stream)});
}
FAKE int ncclBroadcast(const void* send, void* receive, size_t count, int type, int root,
                       Communicator c, void* stream) {
  return submit("ncclBroadcast", {Op::kBroadcast, send, receive, count, type, 0, root, c,
                                  static_cast<Stream>(stream)});
}
FAKE int ncclAllGather(const void* send, void* receive, size_t count, int type, Communicator c,
                       void* stream) {
  return submit("ncclAllGather",
                {Op::kAllGather, send, receive, count, type, 0, 0, c, static_cast<Stream>(stream)});
}
FAKE int ncclReduceScatter(const void* send, void* receive, size_t count, int type, int operation,
                           Communicator c, void* stream) {
  return submit("ncclReduceScatter", {Op::kReduceScatter, send, receive, count, type, operation, 0,
                                      c, static_cast<Stream>(stream)});
}
FAKE int ncclSend(const void* send, size_t count, int type, int peer, Communicator c,
                  void* stream) {
  return submit("ncclSend",
                {Op::kSend, send, nullptr, count, type, 0, peer, c, static_cast<Stream>(stream)});
}
FAKE int ncclRecv(void* receive, size_t count, int type, int peer, Communicator c, void* stream) {
  return submit("ncclRecv", {Op::kReceive, nullptr, receive, count, type, 0, peer, c,
                             static_cast<Stream>(stream)});
}

}  // extern "C"
