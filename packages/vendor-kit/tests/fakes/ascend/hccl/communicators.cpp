// A libhccl.so for tests: ranks are threads or processes of one machine, which exchange data
// through files. Calls are enqueued on streams of the fake libascendcl and wait there for the other
// ranks.
//
//   FAKE_HCCL_FOLDER=path         folder for the exchange (default: /tmp/fake-hccl-<user id>)
//   FAKE_HCCL_FAIL=HcclAllReduce:4,HcclGetRootInfo:9   functions that fail, with the status
//   FAKE_HCCL_EXIT=HcclAllReduce  the process ends in this function, like a rank that is lost
//   FAKE_HCCL_ASYNC=21            asynchronous error that every communicator reports after its
//                                 first call
//   FAKE_HCCL_CALLS=path          log file with one line per call
//
// Compiled with -DOLD, it lacks HcclBatchSendRecv. Calls that HCCL leaves undefined fail here: the
// communicator was destroyed, or its device is not current; ranks disagree, or one has left; the
// stream or the memory is not of the device; the buffers overlap; an identifier was shortened; two
// messages of a batch have the same ranks.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>

#include "fake_hccl.h"

using namespace fake;

namespace {

// Communicators that were not destroyed.
std::mutex alive_mutex;
std::map<Communicator, std::unique_ptr<CommunicatorObject>>& alive() {
  static auto& all = *new std::map<Communicator, std::unique_ptr<CommunicatorObject>>;
  return all;
}

// Returns the folder of all exchanges; empty if it belongs to another user.
std::string common_folder() {
  const std::string named = setting("FAKE_HCCL_FOLDER", "");
  if (!named.empty()) return named;
  const std::string folder = "/tmp/fake-hccl-" + std::to_string(getuid());
  mkdir(folder.c_str(), 0700);
  struct stat found{};
  const bool is_own =
      lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == getuid();
  return is_own ? folder : "";
}

constexpr size_t kNameLength = 16;

}  // namespace

namespace fake {

int refuse(int status, const std::string& text) {
  fakeAclSetErrorText(("EI" + std::to_string(status) + ": " + text).c_str());
  return status;
}

int enter(const char* function) {
  static fake_driver::Calls calls("FAKE_HCCL_FAIL", "FAKE_HCCL_CALLS", [](int) { return false; });
  const int status = calls.enter(function);
  constexpr int kExitStatus = 9;
  if (setting("FAKE_HCCL_EXIT", "") == function) _exit(kExitStatus);
  return status == kSuccess ? status : refuse(status, "injected failure");
}

int status_of(Fault fault) {
  switch (fault) {
    case Fault::kMismatch:
      return kInvalidParameter;
    case Fault::kLate:
      return kTimeout;
    case Fault::kSystem:
      return kInternal;
    default:
      return kRemote;
  }
}

int check_communicator(Communicator c) {
  const std::lock_guard<std::mutex> lock(alive_mutex);
  if (c == nullptr) return refuse(kNullPointer, "the communicator is NULL");
  return alive().count(c) != 0 ? int(kSuccess)
                               : refuse(kInvalidParameter, "the communicator was destroyed");
}

int check_call(const char* function, Communicator c, Stream stream) {
  if (const int status = enter(function)) return status;
  if (const int status = check_communicator(c)) return status;
  if (fakeAclCurrentDevice() != c->device)
    return refuse(kInvalidParameter, "the communicator's device is not current");
  if (fakeAclStreamDevice(stream) != c->device)
    return refuse(kInvalidParameter, "the stream is not of the communicator's device");
  return c->suspended ? refuse(kRemote, "the communicator is suspended") : int(kSuccess);
}

}  // namespace fake

// The name is at both ends, so that a shortened identifier is noticed.
FAKE int HcclGetRootInfo(RootInfo* root) {
  if (const int status = enter("HcclGetRootInfo")) return status;
  if (fakeAclCurrentDevice() < 0) return refuse(kInvalidParameter, "no device is current");
  std::memset(root, 0, sizeof *root);
  char name[kNameLength + 1];
  std::snprintf(name, sizeof name, "%08x%08x", std::random_device()(), std::random_device()());
  std::memcpy(root->bytes, name, sizeof name);
  std::memcpy(root->bytes + sizeof *root - sizeof name, name, sizeof name);
  return kSuccess;
}

FAKE int HcclCommInitRootInfo(uint32_t ranks, const RootInfo* root, uint32_t rank,
                              Communicator* made) {
  if (const int status = enter("HcclCommInitRootInfo")) return status;
  if (fakeAclCurrentDevice() < 0) return refuse(kInvalidParameter, "no device is current");
  if (rank >= ranks) return refuse(kInvalidParameter, "the rank is not one of the ranks");
  const std::string name(root->bytes, strnlen(root->bytes, sizeof root->bytes));
  if (name.size() != kNameLength ||
      name != std::string(root->bytes + sizeof *root - kNameLength - 1, kNameLength))
    return refuse(kInvalidParameter, "the root information is not complete");
  const std::string folder = common_folder();
  if (folder.empty()) return refuse(kInternal, "the folder belongs to another user");
  auto c = std::make_unique<CommunicatorObject>(folder + "/" + name, static_cast<int>(rank),
                                                static_cast<int>(ranks));
  c->device = fakeAclCurrentDevice();
  try {
    c->exchange.join(std::atof(setting("HCCL_CONNECT_TIMEOUT", "120").c_str()));
  } catch (const fake_collectives::Failure& failure) {
    return refuse(status_of(failure.fault), failure.text);
  }
  *made = c.get();
  const std::lock_guard<std::mutex> lock(alive_mutex);
  alive()[*made] = std::move(c);
  return kSuccess;
}
FAKE int HcclCommDestroy(Communicator c) {
  if (const int status = enter("HcclCommDestroy")) return status;
  if (const int status = check_communicator(c)) return status;
  if (fakeAclCurrentDevice() != c->device)
    return refuse(kInvalidParameter, "the communicator's device is not current");
  if (c->pending > 0) return refuse(kInternal, "the communicator has enqueued work");
  const std::lock_guard<std::mutex> lock(alive_mutex);
  alive().erase(c);
  return kSuccess;
}
FAKE int HcclCommSuspend(Communicator c) {
  if (const int status = enter("HcclCommSuspend")) return status;
  if (const int status = check_communicator(c)) return status;
  c->suspended = true;
  c->exchange.stop();
  return kSuccess;
}
FAKE int HcclGetCommAsyncError(Communicator c, int* state) {
  if (const int status = enter("HcclGetCommAsyncError")) return status;
  if (const int status = check_communicator(c)) return status;
  *state = c->state;
  if (*state != kSuccess) fakeAclSetErrorText(c->failure.c_str());
  return kSuccess;
}
FAKE const char* HcclGetErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "no error";
    case kInvalidParameter:
      return "parameter error";
    case kNullPointer:
      return "empty pointer";
    case kUnsupported:
      return "not support";
    case kTimeout:
      return "timeout";
    case kRemote:
      return "remote error";
    default:
      return "internal error";
  }
}
FAKE int HcclSetConfig(int config, ConfigValue value) {
  if (const int status = enter("HcclSetConfig")) return status;
  return config == kDeterministic && value.value == 1
             ? int(kSuccess)
             : refuse(kInvalidParameter, "unknown configuration");
}
