// HIP's runtime compiler, hipRTC, as runtime_compiler.h expects one. Its functions are declared
// with the signatures of hiprtc.h, which tests compare.
#ifndef DL_KIT_HIPRTC_H_
#define DL_KIT_HIPRTC_H_

#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/companion.h"
#include "dl/kit/compiler_options.h"
#include "dl/kit/symbols.h"

DL_KIT_BEGIN

namespace hip {
using RtcProgram = struct RtcProgramObject*;
}  // namespace hip

// clang-format off
#define DL_KIT_HIPRTC_FUNCTIONS(X)                                                                 \
  X(error_string, hiprtcGetErrorString, const char* (*)(int))                                      \
  X(create, hiprtcCreateProgram,                                                                   \
    int (*)(hip::RtcProgram*, const char*, const char*, int, const char* const*,                   \
            const char* const*))                                                                   \
  X(destroy, hiprtcDestroyProgram, int (*)(hip::RtcProgram*))                                      \
  X(compile, hiprtcCompileProgram, int (*)(hip::RtcProgram, int, const char* const*))              \
  X(log_size, hiprtcGetProgramLogSize, int (*)(hip::RtcProgram, size_t*))                          \
  X(log, hiprtcGetProgramLog, int (*)(hip::RtcProgram, char*))                                     \
  X(code_size, hiprtcGetCodeSize, int (*)(hip::RtcProgram, size_t*))                               \
  X(code_bytes, hiprtcGetCode, int (*)(hip::RtcProgram, char*))
// clang-format on

class Hiprtc : public Library {
 public:
  static constexpr const char* kName = "hipRTC";
  static constexpr const char* kLanguage = "hip";
  using Program = hip::RtcProgram;

  struct Target {
    std::string processor;  // "gfx90a"; its code runs with any features of the GPU enabled
    std::string key() const { return processor; }
  };

  Hiprtc() : Library(companion().names(), kName, companion().remedy()) {}

  static const Companion& companion() {
    static const Companion where{
        "DL_ROCM_HIPRTC",
        {},
        {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "/opt/rocm/lib/libhiprtc.so.7",
         "/opt/rocm/lib/libhiprtc.so.6", "/opt/rocm/lib/libhiprtc.so.5"},
        "ROCm's package hip-runtime-amd"};
    return where;
  }

#define DL_KIT_HIPRTC_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_HIPRTC_FUNCTIONS(DL_KIT_HIPRTC_MEMBER)
#undef DL_KIT_HIPRTC_MEMBER

  // No hipRTC release can cancel a compilation, so there is no timeout.
  int limit(Program, int (*)(void*, void*), void*) { return 0; }

  std::vector<std::string> target_options(const Target& target) {
    return {"--offload-arch=" + target.processor};
  }
  int code(Program program, const Target&, std::string* code) {
    size_t size = 0;
    if (const int failed = code_size(program, &size)) return failed;
    code->resize(size);
    return code_bytes(program, code->data());
  }

  static bool allows(const std::string& option) {
    static const std::vector<const char*> kAllowed{"O0",
                                                   "O1",
                                                   "O2",
                                                   "O3",
                                                   "Wall",
                                                   "Werror",
                                                   "Wextra",
                                                   "Wno-",
                                                   "fassociative-math",
                                                   "fdenormal-fp-math=",
                                                   "ffast-math",
                                                   "ffinite-math-only",
                                                   "ffp-contract=",
                                                   "fgpu-flush-denormals-to-zero",
                                                   "fno-fast-math",
                                                   "fno-finite-math-only",
                                                   "fno-gpu-flush-denormals-to-zero",
                                                   "fno-signed-zeros",
                                                   "fno-unroll-loops",
                                                   "freciprocal-math",
                                                   "funroll-loops",
                                                   "g",
                                                   "gline-tables-only",
                                                   "gpu-max-threads-per-block=",
                                                   "mcumode",
                                                   "mno-cumode",
                                                   "mno-unsafe-fp-atomics",
                                                   "mno-wavefrontsize64",
                                                   "munsafe-fp-atomics",
                                                   "mwavefrontsize64",
                                                   "std=",
                                                   "w"};
    return allows_option(kAllowed, option);
  }
};

DL_KIT_END

#endif  // DL_KIT_HIPRTC_H_
