// A libcudnn.so.9 for tests that calls a real one on a machine without a GPU: graphs are planned
// for an H100 that is described but not present. Nothing runs: every convolution is declined in the
// end, and the kernels of dl-kernels compute it.
//
//   REAL_CUDNN=path           the real library
//   LD_PRELOAD=path           this library: it has two functions that cuDNN links and dl-gpu-sim
//                             lacks
//   FAKE_CUDNN_CALLS=path     log file with one line per plan: "plan" and its workspace size
//
// If a call that must succeed fails, the process aborts with the real library's message.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "library/cudnn_api.h"

using namespace dl::cuda::cudnn;

namespace {

// Values of cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and
// cudnnBackendAttributeType_t.
constexpr int kDevice = 38, kHeuristicDevice = 204, kPlanDevice = 407, kDeviceText = 2702,
              kCharType = 24;

// An H100, by cuDNN's names for its properties.
constexpr char kDescription[] =
    R"({"deviceName":"H100","cudaDeviceId":0,"deviceVer":900,"driverVer":13000,"isTccDriver":0,)"
    R"("maxCtasPerSM":32,)"
    R"("maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,"l2CacheSize":52428800,)"
    R"("maxSharedMemoryPerBlockOptin":232448,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)"
    R"("memClockRateKHz":2619000,"memoryBusWidth":5120,"multiProcessorCount":132,)"
    R"("pciDeviceId":8960,"regsPerBlock":65536,"reservedSharedMemoryPerBlock":1024,)"
    R"("smClockRateKHz":1980000,"smCountOrigin":0,"supportCoopLaunch":1,)"
    R"("oversizedSharedMemoryPerBlock":0,"totalGlobalMem":85000000000,"warpSize":32,)"
    R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64]})";

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <class Function>
Function real(const char* name) {
  static void* const library = dlopen(setting("REAL_CUDNN"), RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "real cuDNN: %s\n", dlerror());
    std::abort();
  }
  return reinterpret_cast<Function>(found);
}

int must(int status, const char* what) {
  if (status == kSuccess) return status;
  char text[1024] = "";
  real<void (*)(char*, size_t)>("cudnnGetLastErrorString")(text, sizeof text);
  std::fprintf(stderr, "real cuDNN: %s: status %d: %s\n", what, status, text);
  std::abort();
}

void log_call(const std::string& line) {
  std::FILE* file = std::fopen(setting("FAKE_CUDNN_CALLS"), "a");
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

int set(Descriptor one, int name, int type, int64_t count, const void* values) {
  return real<int (*)(Descriptor, int, int, int64_t, const void*)>("cudnnBackendSetAttribute")(
      one, name, type, count, values);
}
int make(int kind, Descriptor* made) {
  return real<int (*)(int, Descriptor*)>("cudnnBackendCreateDescriptor")(kind, made);
}
int finish(Descriptor one) { return real<int (*)(Descriptor)>("cudnnBackendFinalize")(one); }

Descriptor device() {
  static const Descriptor described = [] {
    Descriptor made = nullptr;
    must(make(kDevice, &made), "a device");
    must(set(made, kDeviceText, kCharType, sizeof kDescription, kDescription),
         "the device's description");
    must(finish(made), "the described device");
    return made;
  }();
  return described;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE size_t cudnnGetVersion() { return real<size_t (*)()>("cudnnGetVersion")(); }
FAKE size_t cudnnGetCudartVersion() { return real<size_t (*)()>("cudnnGetCudartVersion")(); }
FAKE const char* cudnnGetErrorString(int status) {
  return real<const char* (*)(int)>("cudnnGetErrorString")(status);
}

// Creating a handle needs a GPU, so handles are fake; calls that need one get the described device.
FAKE int cudnnCreate(Handle* made) {
  static int handle;
  *made = reinterpret_cast<Handle>(&handle);
  return kSuccess;
}
FAKE int cudnnSetStream(Handle, void*) { return kSuccess; }

FAKE int cudnnBackendCreateDescriptor(int kind, Descriptor* made) {
  must(make(kind, made), "cudnnBackendCreateDescriptor");
  const Descriptor here = kind == kHeuristics || kind == kPlan ? device() : nullptr;
  if (here == nullptr) return kSuccess;
  return must(set(*made, kind == kPlan ? kPlanDevice : kHeuristicDevice, kDescriptorType, 1, &here),
              "the device of heuristics or a plan");
}
FAKE int cudnnBackendDestroyDescriptor(Descriptor one) {
  return must(real<int (*)(Descriptor)>("cudnnBackendDestroyDescriptor")(one),
              "cudnnBackendDestroyDescriptor");
}

FAKE int cudnnBackendSetAttribute(Descriptor one, int name, int type, int64_t count,
                                  const void* values) {
  if (type == kHandleType) return kSuccess;
  return must(set(one, name, type, count, values), ("attribute " + std::to_string(name)).c_str());
}
// cuDNN may decline a plan.
FAKE int cudnnBackendFinalize(Descriptor one) { return finish(one); }

FAKE int cudnnBackendGetAttribute(Descriptor one, int name, int type, int64_t asked, int64_t* count,
                                  void* to) {
  must(real<int (*)(Descriptor, int, int, int64_t, int64_t*, void*)>("cudnnBackendGetAttribute")(
           one, name, type, asked, count, to),
       ("attribute " + std::to_string(name)).c_str());
  if (name == kPlanWorkspace) log_call("plan " + std::to_string(*static_cast<int64_t*>(to)));
  return kSuccess;
}

FAKE int cudnnBackendExecute(Handle, Descriptor, Descriptor) { return kUnsupported; }

FAKE int cuTensorMapEncodeTiled() { return 801; }  // CUDA_ERROR_NOT_SUPPORTED
FAKE int cuTensorMapEncodeIm2col() { return 801; }
