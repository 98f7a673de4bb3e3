// Executors: what phase 1 recorded for phase 2.
#include "executor.h"

#include <cstring>
#include <unordered_map>

#include "../hooks.h"

struct aclOpExecutor : fake_aclnn::Object {
  aclOpExecutor() : Object(fake_aclnn::Kind::kExecutor) {}
  const fake_aclnn::Function* function = nullptr;
  std::vector<fake_aclnn::Argument> arguments;
  int32_t device = 0;
  uint64_t workspace = 0;
  bool repeatable = false, used = false;
};

namespace fake_aclnn {
namespace {

// Odd, so that a caller that rounds, or passes another tensor's size, is detected.
constexpr uint64_t kWorkspace = 1237;
constexpr int kAsynchronousFailure = 507015;  // ACL_ERROR_RT_AICORE_EXCEPTION

bool is_empty(const Function& function, std::vector<Argument>& arguments) {
  bool empty = true;
  for_each_tensor(function, arguments, [&](const Check&, bool written, Bound& tensor) {
    if (written && elements(tensor) != 0) empty = false;
  });
  return empty;
}

struct Job {
  const Function* function;
  std::vector<Argument> arguments;
  int32_t device;
  void* workspace;
  uint64_t workspace_bytes;
};

int run_job(void* argument) {
  const Job& job = *static_cast<Job*>(argument);
  const std::string name = job.function->name;
  if (job.workspace_bytes != 0) {
    void* memory = fakeAclHostAddress(job.device, job.workspace, job.workspace_bytes);
    if (memory == nullptr) {
      misuse(name + ": the workspace was freed before the work ran");
      return kAsynchronousFailure;
    }
    std::memset(memory, 0xA5, job.workspace_bytes);
  }
  if (const int code = injected(name + "@stream")) return code;
  return perform(*job.function, job.arguments, job.device);
}

int check_workspace(const std::string& name, const Job& job) {
  if (job.workspace_bytes == 0) return kOk;
  if (fakeAclHostAddress(job.device, job.workspace, job.workspace_bytes) == nullptr)
    return misuse(name + ": the workspace of " + std::to_string(job.workspace_bytes) +
                  " bytes is not inside one live allocation of device " +
                  std::to_string(job.device));
  const auto begin = reinterpret_cast<uintptr_t>(job.workspace);
  int code = kOk;
  auto& arguments = const_cast<std::vector<Argument>&>(job.arguments);
  for_each_tensor(*job.function, arguments, [&](const Check& check, bool, Bound& tensor) {
    if (elements(tensor) == 0 || code != kOk) return;
    const auto base = reinterpret_cast<uintptr_t>(tensor.base);
    const auto bytes = element_bytes(tensor.dtype) * static_cast<size_t>(product(tensor.storage));
    if (begin < base + bytes && base < begin + job.workspace_bytes)
      code = misuse(name + ": the workspace overlaps " + check.name);
  });
  return code;
}

// Returns the n-th tensor among the inputs or among the outputs.
Bound* nth_tensor(aclOpExecutor& executor, size_t index, bool output) {
  Bound* found = nullptr;
  size_t place = 0;
  for (size_t i = 0; i < executor.arguments.size(); ++i) {
    auto* tensor = std::get_if<Bound>(&executor.arguments[i]);
    // Absent tensors have no number.
    if (tensor == nullptr || tensor->tensor == nullptr) continue;
    const Check& check = executor.function->arguments[i];
    if (output ? !check.writes : !check.reads) continue;
    if (place++ == index) found = tensor;
  }
  return found;
}

int set_address(aclOpExecutor* executor, size_t index, const aclTensor* tensor, void* address,
                bool output) {
  const char* name = output ? "aclSetOutputTensorAddr" : "aclSetInputTensorAddr";
  if (!is_alive(executor, Kind::kExecutor))
    return misuse(std::string(name) + ": the executor is not alive");
  if (!executor->repeatable) return misuse(std::string(name) + ": the executor is not repeatable");
  Bound* bound = nth_tensor(*executor, index, output);
  if (bound == nullptr || bound->tensor != tensor)
    return misuse(std::string(name) + ": tensor " + std::to_string(index) + " of " +
                  executor->function->name + " is another object than in phase 1");
  // An argument that is read and written, or passed twice, moves as a whole.
  for_each_tensor(*executor->function, executor->arguments, [&](const Check&, bool, Bound& other) {
    if (other.tensor == tensor) other.base = address;
  });
  return kOk;
}

}  // namespace

const Meaning* find_meaning(const char* name) {
  static const auto* const known = [] {
    auto* map = new std::unordered_map<std::string, const Meaning*>;
    for (size_t i = 0; i < kMeaningCount; ++i) (*map)[kMeanings[i].name] = &kMeanings[i];
    return map;
  }();
  const auto found = known->find(name);
  return found == known->end() ? nullptr : found->second;
}

bool is_written(const Function& function, size_t index) {
  const Check& argument = function.arguments[index];
  if (argument.kind != fake_ascend::Kind::k_tensor && argument.kind != fake_ascend::Kind::k_tensors)
    return false;
  return argument.writes;
}

}  // namespace fake_aclnn

using namespace fake_aclnn;
using fake_aclnn::Function;
using fake_aclnn::Kind;

#define DL_FAKE_ACLNN_INTERNAL __attribute__((visibility("default")))

DL_FAKE_ACLNN_INTERNAL int fake_ascend::begin(const Function& function, const Value* values,
                                              uint64_t* bytes, aclOpExecutor** executor) {
  const std::string name = function.name;
  if (bytes == nullptr || executor == nullptr)
    return refuse(kNullArgument, name + ": the size or executor is NULL");
  log_line(name + "GetWorkspaceSize");
  if (const int code = injected(name + "GetWorkspaceSize")) return code;
  const int32_t device = fakeAclCurrentDevice();
  if (device < 0) return misuse(name + ": no device is current");
  if (find_meaning(function.name) == nullptr)
    return refuse(kNoKernel, name + ": the fake has no meaning for it");
  auto made = std::make_unique<aclOpExecutor>();
  made->function = &function;
  made->device = device;
  if (const int code = bind_arguments(function, values, device, &made->arguments)) return code;
  if (const int code = rehearse(function, made->arguments)) return code;
  if (!is_empty(function, made->arguments)) made->workspace = kWorkspace;
  *bytes = made->workspace;
  *executor = made.get();
  add_object(std::move(made));
  return kOk;
}

DL_FAKE_ACLNN_INTERNAL int fake_ascend::execute(const Function& function, void* workspace,
                                                uint64_t bytes, aclOpExecutor* executor,
                                                void* stream) {
  const std::string where = function.name;
  log_line(where);
  if (!is_alive(executor, fake_aclnn::Kind::kExecutor))
    return misuse(where + ": the executor is not alive; it ends with phase 2");
  if (where != executor->function->name)
    return misuse(where + ": the executor belongs to " + executor->function->name);
  auto job = std::make_unique<Job>();
  job->function = executor->function;
  job->arguments = executor->arguments;
  job->device = executor->device;
  job->workspace = workspace;
  job->workspace_bytes = executor->workspace;
  int code = injected(where);
  if (code == kOk && bytes < executor->workspace)
    code = misuse(where + ": the workspace has " + std::to_string(bytes) + " bytes instead of " +
                  std::to_string(executor->workspace));
  if (code == kOk && fakeAclStreamDevice(stream) != executor->device)
    code = misuse(where + ": the stream is not alive, or belongs to another device");
  for_each_tensor(*job->function, job->arguments, [&](const Check& check, bool, Bound& tensor) {
    if (code != kOk) return;
    if (!is_alive(tensor.tensor, fake_aclnn::Kind::kTensor))
      code = misuse(where + ", " + check.name + ": the tensor was destroyed before phase 2");
    else if (executor->used)
      code = check_address(where + ", " + check.name, tensor, job->device);
  });
  if (code == kOk) code = check_workspace(where, *job);
  executor->used = true;
  if (!executor->repeatable) remove_object(executor, fake_aclnn::Kind::kExecutor);
  if (code != kOk) return code;
  return fakeAclEnqueue(stream, run_job, job.release(),
                        [](void* argument) { delete static_cast<Job*>(argument); });
}

DL_FAKE_ACLNN_API int aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  if (!is_alive(executor, Kind::kExecutor))
    return misuse("aclSetAclOpExecutorRepeatable: the executor is not alive");
  if (const int code = injected("aclSetAclOpExecutorRepeatable")) return code;
  executor->repeatable = true;
  return kOk;
}
DL_FAKE_ACLNN_API int aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  if (executor == nullptr) return kOk;
  if (remove_object(executor, Kind::kExecutor)) return kOk;
  return misuse("aclDestroyAclOpExecutor: the executor is not alive");
}
DL_FAKE_ACLNN_API int aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                            aclTensor* tensor, void* addr) {
  return set_address(executor, index, tensor, addr, false);
}
DL_FAKE_ACLNN_API int aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                             aclTensor* tensor, void* addr) {
  return set_address(executor, index, tensor, addr, true);
}
