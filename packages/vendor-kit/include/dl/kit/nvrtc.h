// NVIDIA's runtime compiler, NVRTC, as runtime_compiler.h expects one. Its functions are declared
// with the signatures of nvrtc.h, which tests compare.
#ifndef DL_KIT_NVRTC_H_
#define DL_KIT_NVRTC_H_

#include <algorithm>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/companion.h"
#include "dl/kit/compiler_options.h"
#include "dl/kit/symbols.h"

DL_KIT_BEGIN

namespace cuda {
using RtcProgram = struct RtcProgramObject*;
using RtcCancelled = int (*)(void*, void*);
}  // namespace cuda

// clang-format off
#define DL_KIT_NVRTC_FUNCTIONS(X)                                                                  \
  X(error_string, nvrtcGetErrorString, const char* (*)(int))                                       \
  X(target_count, nvrtcGetNumSupportedArchs, int (*)(int*))                                        \
  X(targets, nvrtcGetSupportedArchs, int (*)(int*))                                                \
  X(create, nvrtcCreateProgram,                                                                    \
    int (*)(cuda::RtcProgram*, const char*, const char*, int, const char* const*,                  \
            const char* const*))                                                                   \
  X(destroy, nvrtcDestroyProgram, int (*)(cuda::RtcProgram*))                                      \
  X(compile, nvrtcCompileProgram, int (*)(cuda::RtcProgram, int, const char* const*))              \
  X(log_size, nvrtcGetProgramLogSize, int (*)(cuda::RtcProgram, size_t*))                          \
  X(log, nvrtcGetProgramLog, int (*)(cuda::RtcProgram, char*))                                     \
  X(binary_size, nvrtcGetCUBINSize, int (*)(cuda::RtcProgram, size_t*))                            \
  X(binary, nvrtcGetCUBIN, int (*)(cuda::RtcProgram, char*))                                       \
  X(ptx_size, nvrtcGetPTXSize, int (*)(cuda::RtcProgram, size_t*))                                 \
  X(ptx, nvrtcGetPTX, int (*)(cuda::RtcProgram, char*))                                            \
  X(flow_callback, nvrtcSetFlowCallback, int (*)(cuda::RtcProgram, cuda::RtcCancelled, void*))
// clang-format on

class Nvrtc : public Library {
 public:
  static constexpr const char* kName = "NVRTC";
  static constexpr const char* kLanguage = "cuda";
  using Program = cuda::RtcProgram;

  // compute capability: 86 means 8.6
  struct Target {
    int capability;
    bool only_ptx;  // for driver simulators, which read only PTX
    std::string key() const { return std::to_string(capability) + (only_ptx ? "p" : "m"); }
  };

  Nvrtc() : Library(companion().names(), kName, companion().remedy()) {}

  static const Companion& companion() {
    static const Companion where{
        "DL_CUDA_NVRTC",
        {"nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"},
        {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13", "libnvrtc.so.12",
         "/usr/local/cuda/lib64/libnvrtc.so.12"},
        "`pip install nvidia-cuda-nvrtc`"};
    return where;
  }

#define DL_KIT_NVRTC_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_NVRTC_FUNCTIONS(DL_KIT_NVRTC_MEMBER)
#undef DL_KIT_NVRTC_MEMBER

  // Releases before 12.9 cannot cancel a compilation, so there is no timeout.
  int limit(Program program, cuda::RtcCancelled cancelled, void* payload) {
    return flow_callback.available() ? flow_callback(program, cancelled, payload) : 0;
  }

  // Machine code if the compiler supports the device, because it runs with any driver of its major
  // version; PTX needs a driver at least as new as the compiler.
  std::vector<std::string> target_options(const Target& target) {
    return {std::string("--gpu-architecture=") + (machine_code(target) ? "sm_" : "compute_") +
            std::to_string(nearest(target))};
  }
  int code(Program program, const Target& target, std::string* code) {
    const bool machine = machine_code(target);
    size_t size = 0;
    if (const int failed = machine ? binary_size(program, &size) : ptx_size(program, &size))
      return failed;
    code->resize(size);
    return machine ? binary(program, code->data()) : ptx(program, code->data());
  }

  static bool allows(const std::string& option) {
    static const std::vector<const char*> kAllowed{"G",
                                                   "Xptxas",
                                                   "brief-diagnostics",
                                                   "builtin-",
                                                   "default-device",
                                                   "define-macro=",
                                                   "device-as-default-execution-space",
                                                   "device-debug",
                                                   "device-int128",
                                                   "diag-",
                                                   "disable-warnings",
                                                   "display-error-number",
                                                   "dlto",
                                                   "dopt",
                                                   "extra-device-vectorization",
                                                   "fmad=",
                                                   "ftz=",
                                                   "generate-line-info",
                                                   "lineinfo",
                                                   "maxrregcount=",
                                                   "minimal",
                                                   "modify-stack-limit=",
                                                   "no-",
                                                   "prec-div=",
                                                   "prec-sqrt=",
                                                   "ptxas-options",
                                                   "restrict",
                                                   "split-compile=",
                                                   "std=",
                                                   "undefine-macro=",
                                                   "use_fast_math",
                                                   "w",
                                                   "="};
    return allows_option(kAllowed, option);
  }

 private:
  bool machine_code(const Target& target) {
    return !target.only_ptx && nearest(target) == target.capability;
  }
  // The latest architecture that the compiler supports and the device can run.
  int nearest(const Target& target) {
    int count = 0, found = 0;
    if (target_count(&count) != 0 || count <= 0) return target.capability;
    std::vector<int> known(static_cast<size_t>(count));
    if (targets(known.data()) != 0) return target.capability;
    for (const int one : known) {
      if (one <= target.capability) found = std::max(found, one);
    }
    if (found == 0)
      throw Error(DL_UNAVAILABLE, opened() + " does not support compute capability " +
                                      std::to_string(target.capability / 10) + "." +
                                      std::to_string(target.capability % 10) +
                                      "; install another release");
    return found;
  }
};

DL_KIT_END

#endif  // DL_KIT_NVRTC_H_
