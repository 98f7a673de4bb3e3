// A libcudnn.so.9 for tests: it checks every descriptor against cuDNN's documentation, and
// convolves on the host with memory of the driver in DL_CUDA_DRIVER, in stream order.
//
//   FAKE_CUDNN_FAIL=NAME:3000,…   what fails, with the status: a function, or
//                                 cudnnBackendFinalize(KIND), for a plan with the number of its
//                                 engine: cudnnBackendFinalize(plan 5)
//   FAKE_CUDNN_VERSION=90100      version of cuDNN
//   FAKE_CUDNN_RUNTIME=12090      version of its CUDA runtime
//   FAKE_CUDNN_CALLS=path         log file with one line per call of some functions; a convolution
//                                 is logged as "cudnnBackendExecute forward 32f 2x3x5x5 * 4x3x3x3 =
//                                 2x4x3x3 beta 0 engine 5"
//
// It has six engines and recommends five of them, the least precise first. Invalid calls abort the
// process with a message.
#include <mutex>
#include <set>

#include "cudnn_job.h"

namespace cuda = dl::kit::cuda;

namespace fake {
namespace {

// In the order of recommendation; the last engine is the fallback.
const std::vector<std::vector<int>> kEngineNoteLists = {{kTensorCore, kReducedSums},
                                                        {kNondeterministic},
                                                        {kWinograd, kWinograd4x4},
                                                        {kTensorCore},
                                                        {kTensorCore},
                                                        {},
                                                        {}};
// The first of these rounds partial sums, as its only knob shows.
constexpr int kRoundingEngine = 3, kTensorCoreEngine = 4, kLastEngine = 6;

int64_t workspace_of(int engine) { return engine == kLastEngine ? 0 : 4096; }

dl::kit::CudaDriver& driver() {
  static dl::kit::CudaDriver found({setting("DL_CUDA_DRIVER")});
  return found;
}

void check_driver(int code, const char* what) {
  require(code == 0, std::string(what) + ": " + driver().describe(code));
}

void log_call(const std::string& line) {
  const std::string path = setting("FAKE_CUDNN_CALLS");
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "a");
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

int injected_status(const std::string& what) {
  const std::string list = "," + setting("FAKE_CUDNN_FAIL"), wanted = "," + what + ":";
  const size_t at = list.find(wanted);
  return at == std::string::npos ? kSuccess : std::atoi(list.c_str() + at + wanted.size());
}

size_t dtype_of(const char* name, size_t missing) {
  const std::string value = setting(name);
  return value.empty() ? missing : static_cast<size_t>(std::atoi(value.c_str()));
}

// Live objects.
struct Live {
  std::mutex mutex;
  std::set<const void*> objects;

  void add(const void* one) {
    const std::lock_guard<std::mutex> lock(mutex);
    objects.insert(one);
  }
  void remove(const void* one) {
    const std::lock_guard<std::mutex> lock(mutex);
    require(objects.erase(one) == 1, "an object that does not exist, or was already destroyed");
  }
  bool has(const void* one) {
    const std::lock_guard<std::mutex> lock(mutex);
    return objects.count(one) == 1;
  }
};
Live& live() {
  static auto* const all = new Live;
  return *all;
}

Object& object(Descriptor one) {
  require(live().has(one), "an invalid descriptor");
  return *static_cast<Object*>(one);
}

Handle handle_here(Handle handle) {
  require(live().has(handle), "an invalid handle");
  cuda::Context now = nullptr;
  check_driver(driver().context_current(&now), "cuCtxGetCurrent");
  require(now == handle->context, "the handle belongs to another device");
  return handle;
}

const Operation operation(const Object& graph) {
  return operation_of(graph.part(kGraphOperations));
}

std::string text_of(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// Enqueues a copy to the host, a host function and a copy back; their memory is kept, because
// graphs replay them.
void enqueue(Job* job, cuda::Stream stream) {
  for (const Job::Copy& copy : job->copies) {
    Operand& operand = *copy.operand;
    void* memory = nullptr;
    check_driver(driver().host_allocate(&memory, operand.bytes, 0), "cuMemHostAlloc");
    operand.host = static_cast<char*>(memory);
    check_driver(driver().copy_to_host(memory, copy.device, operand.bytes, stream),
                 "a tensor exceeds its allocation");
  }
  using Function = int (*)(cuda::Stream, void (*)(void*), void*);
  static const auto launch = reinterpret_cast<Function>(driver().find("cuLaunchHostFunc"));
  check_driver(
      launch(stream, [](void* data) { static_cast<Job*>(data)->run(); }, job), "cuLaunchHostFunc");
  for (const Job::Copy& copy : job->copies) {
    if (copy.operand != &job->result()) continue;
    check_driver(
        driver().copy_to_device(copy.device, copy.operand->host, copy.operand->bytes, stream),
        "the result exceeds its allocation");
  }
}

}  // namespace
}  // namespace fake

using namespace fake;

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE size_t cudnnGetVersion() { return dtype_of("FAKE_CUDNN_VERSION", 92800); }
FAKE size_t cudnnGetCudartVersion() { return dtype_of("FAKE_CUDNN_RUNTIME", 13000); }

FAKE const char* cudnnGetErrorString(int status) {
  return status == kSuccess        ? "CUDNN_STATUS_SUCCESS"
         : status < kUnsupported   ? "CUDNN_STATUS_BAD_PARAM"
         : status < kInternalError ? "CUDNN_STATUS_NOT_SUPPORTED"
                                   : "CUDNN_STATUS_EXECUTION_FAILED";
}

FAKE int cudnnCreate(Handle* made) {
  log_call("cudnnCreate");
  if (const int status = injected_status("cudnnCreate")) return status;
  *made = new HandleObject;
  check_driver(driver().context_current(&(*made)->context), "cuCtxGetCurrent");
  require((*made)->context != nullptr, "a handle without a current device");
  live().add(*made);
  return kSuccess;
}

FAKE int cudnnSetStream(Handle handle, void* stream) {
  handle_here(handle)->stream = static_cast<cuda::Stream>(stream);
  handle->has_stream = true;
  return kSuccess;
}

FAKE int cudnnBackendCreateDescriptor(int kind, Descriptor* made) {
  (void)name_of(kind);
  auto* const one = new Object(kind);
  live().add(one);
  *made = one;
  return kSuccess;
}

FAKE int cudnnBackendDestroyDescriptor(Descriptor one) {
  live().remove(one);
  delete static_cast<Object*>(one);
  return kSuccess;
}

FAKE int cudnnBackendSetAttribute(Descriptor descriptor, int name, int type, int64_t count,
                                  const void* values) {
  Object& self = object(descriptor);
  const std::string where = std::string(name_of(self.kind)) + ", attribute " + std::to_string(name);
  require(!self.finished, where + ": already finalized");
  const Rule* const rule = rule_of(self.kind, name, type);
  require(rule != nullptr, where + ": not an attribute of type " + std::to_string(type));
  require(count >= 1 && count <= rule->most && values != nullptr,
          where + ": invalid number of elements");
  const auto* const bytes = static_cast<const char*>(values);
  Object::Value value{type, count, {bytes, bytes + static_cast<size_t>(count) * rule->bytes}};
  if (type == kDescriptorType) {
    Descriptor part;
    std::memcpy(&part, values, sizeof part);
    const int kind = object(part).kind;
    require(kind == rule->part_kind || (rule->part_kind == 0 && kind >= kForward && kind < kGraph),
            where + ": a descriptor of the wrong kind");
    require(object(part).finished, where + ": a descriptor that is not finalized");
  }
  if (type == kHandleType) {
    Handle handle;
    std::memcpy(&handle, values, sizeof handle);
    (void)handle_here(handle);
  }
  self.values[name] = std::move(value);
  return kSuccess;
}

FAKE int cudnnBackendFinalize(Descriptor descriptor) {
  Object& self = object(descriptor);
  require(!self.finished, std::string(name_of(self.kind)) + ": already finalized");
  std::string name = name_of(self.kind);
  switch (self.kind) {
    case kTensor:
      check_tensor(self);
      break;
    case kConvolutionDescriptor:
      check_convolution(self);
      break;
    case kForward:
    case kInputGradient:
    case kWeightGradient:
      check_operation(self);
      break;
    case kGraph: {
      const Operation one = operation(self);
      std::set<int64_t> ids;
      for (const Object* tensor : {&one.input, &one.weight, &one.output})
        ids.insert(tensor->one<int64_t>(kTensorId));
      require(ids.size() == 3, "tensors with the same identifier");
      (void)self.one<Handle>(kGraphHandle);
      break;
    }
    case kHeuristics: {
      const int mode = self.one<int>(kHeuristicMode);
      require(mode == kModeA || mode == kFallbackMode, "an unknown mode");
      const Operation one = operation(self.part(kHeuristicGraph));
      log_call("heuristics");
      for (const Object* tensor : {&one.input, &one.output}) {
        if (tensor->one<int>(kTensorType) != one.weight.one<int>(kTensorType)) return kOtherTypes;
      }
      break;
    }
    case kPlan:
      (void)self.one<Handle>(kPlanHandle);
      name += " " + std::to_string(self.part(kPlanConfig).engine);
      log_call(name);
      break;
    case kVariantPack:
      require(self.all<int64_t>(kPackIds).size() == self.all<void*>(kPackPointers).size(),
              "a missing pointer for an identifier");
      (void)self.one<void*>(kPackWorkspace);
      break;
    default:
      refuse(name + ": cannot be finalized");
  }
  if (const int status = injected_status("cudnnBackendFinalize(" + name + ")")) return status;
  self.finished = true;
  return kSuccess;
}

FAKE int cudnnBackendGetAttribute(Descriptor descriptor, int name, int type, int64_t asked,
                                  int64_t* count, void* to) {
  Object& self = object(descriptor);
  require(self.finished, std::string(name_of(self.kind)) + " is queried before it is finalized");
  if (self.kind == kHeuristics && name == kHeuristicResults && type == kDescriptorType) {
    const bool is_last = self.one<int>(kHeuristicMode) == kFallbackMode;
    const int first = is_last ? kLastEngine : 0;
    // If only the count is requested, it returns an upper bound.
    *count = asked == 0 ? kLastEngine + 3 : is_last ? 1 : kLastEngine;
    for (int64_t i = 0; i < std::min(asked, *count); ++i) {
      Object& config = object(static_cast<Descriptor*>(to)[i]);
      require(config.kind == kEngineConfig && !config.finished,
              "an invalid array for configurations");
      config.engine = first + static_cast<int>(i);
      config.graph = &self.part(kHeuristicGraph);
      config.finished = true;
    }
    return kSuccess;
  }
  require(asked >= 1 && to != nullptr, "an invalid array for an attribute");
  if (self.kind == kEngineConfig && name == kConfigEngine && type == kDescriptorType) {
    Object& engine = object(*static_cast<Descriptor*>(to));
    require(engine.kind == kEngine && !engine.finished, "an invalid array for an engine");
    engine.engine = self.engine;
    engine.finished = true;
    *count = 1;
    return kSuccess;
  }
  if (self.kind == kEngineConfig && name == kConfigKnobs && type == kDescriptorType) {
    *count = self.engine == kRoundingEngine ? 1 : 2;
    require(asked >= *count, "an array too small for the knob choices");
    for (int64_t i = 0; i < *count; ++i) {
      Object& choice = object(static_cast<Descriptor*>(to)[i]);
      require(choice.kind == kKnobChoice && !choice.finished, "an invalid array for a choice");
      choice.engine = static_cast<int>(i);
      choice.finished = true;
    }
    return kSuccess;
  }
  if (self.kind == kKnobChoice && name == kChoiceOfKnob && type == kKnobType) {
    const int knob = self.engine == 0 ? kWorkspaceKnob : 2;
    std::memcpy(to, &knob, sizeof knob);
    *count = 1;
    return kSuccess;
  }
  if (self.kind == kKnobChoice && name == kChoiceValue && type == kInt64Type) {
    const int64_t value = 1;
    std::memcpy(to, &value, sizeof value);
    *count = 1;
    return kSuccess;
  }
  if (self.kind == kEngine && name == kEngineNotes && type == kNoteType) {
    if (const int status = injected_status("notes")) return status;
    const auto& notes = kEngineNoteLists[static_cast<size_t>(self.engine)];
    *count = static_cast<int64_t>(notes.size());
    require(asked >= *count, "an array too small for the notes");
    if (!notes.empty()) std::memcpy(to, notes.data(), notes.size() * sizeof notes[0]);
    return kSuccess;
  }
  if (self.kind == kPlan && name == kPlanWorkspace && type == kInt64Type) {
    const int64_t bytes = workspace_of(self.part(kPlanConfig).engine);
    std::memcpy(to, &bytes, sizeof bytes);
    *count = 1;
    return kSuccess;
  }
  refuse(std::string(name_of(self.kind)) + " has no attribute " + std::to_string(name));
}

FAKE int cudnnBackendExecute(Handle given, Descriptor plan_descriptor, Descriptor pack_descriptor) {
  const Handle handle = handle_here(given);
  const Object &plan = object(plan_descriptor), &pack = object(pack_descriptor);
  require(plan.kind == kPlan && plan.finished && pack.kind == kVariantPack && pack.finished,
          "the plan is not finalized");
  require(plan.one<Handle>(kPlanHandle) == handle, "the plan belongs to another handle");
  require(handle->has_stream, "a handle without a stream");
  if (const int status = injected_status("cudnnBackendExecute")) {
    log_call("failed");
    return status;
  }
  const Object& config = plan.part(kPlanConfig);
  require(live().has(config.graph), "the plan's graph was destroyed");
  const Operation one = operation(*config.graph);
  std::map<int64_t, const void*> data;
  const auto ids = pack.all<int64_t>(kPackIds);
  for (size_t i = 0; i < ids.size(); ++i) data[ids[i]] = pack.all<const void*>(kPackPointers)[i];
  require(data.size() == 3, "a missing pointer for a tensor");
  const auto pointer = [&](const Object& tensor) {
    const void* const found = data.at(tensor.one<int64_t>(kTensorId));
    require(found != nullptr, "a tensor that is NULL");
    require(
        cuda::address_of(found) % static_cast<uint64_t>(tensor.one<int64_t>(kTensorAlignment)) == 0,
        "a tensor does not have its stated alignment");
    return found;
  };
  if (const int64_t bytes = workspace_of(config.engine)) {
    void* const workspace = pack.one<void*>(kPackWorkspace);
    require(workspace != nullptr && cuda::address_of(workspace) % 16 == 0, "no workspace");
    check_driver(driver().set_bytes(cuda::address_of(workspace), 0x5a, static_cast<size_t>(bytes),
                                    handle->stream),
                 "the workspace is smaller than its stated size");
  }
  const int type = one.weight.one<int>(kTensorType);
  const bool rounds = type == kFloat32 && config.engine <= kTensorCoreEngine;
  enqueue(new Job(one, rounds, pointer(one.input), pointer(one.weight), pointer(one.output)),
          handle->stream);
  const char* const types[] = {"32f", "64f", "16f"};
  log_call(std::string("cudnnBackendExecute ") + name_of(one.self.kind) + " " +
           (type == kBfloat16 ? "16bf" : types[type]) + " " +
           text_of(one.input.all<int64_t>(kTensorSizes)) + " * " +
           text_of(one.weight.all<int64_t>(kTensorSizes)) + " = " +
           text_of(one.output.all<int64_t>(kTensorSizes)) + " strides " +
           text_of(one.result().all<int64_t>(kTensorStrides)) + " beta " +
           (one.beta == 0 ? "0" : "1") + " engine " + std::to_string(config.engine));
  return kSuccess;
}
