// CANN's compiler of Ascend C source text, libacl_rtc.so, for dl/kit/runtime_compiler.h.
#ifndef DL_ASCEND_EXTENSIONS_RTC_API_H_
#define DL_ASCEND_EXTENSIONS_RTC_API_H_

#include <cstddef>
#include <string>
#include <vector>

#include "dl/kit/compiler_options.h"
#include "dl/kit/symbols.h"
#include "extensions/companions.h"

namespace dl::ascend::rtc {

using Program = struct ProgramObject*;

// X(member name, symbol, type)
// clang-format off
#define DL_ASCEND_RTC_FUNCTIONS(X)                                                                 \
  X(create, aclrtcCreateProg,                                                                      \
    int (*)(rtc::Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy, aclrtcDestroyProg, int (*)(rtc::Program*))                                            \
  X(compile, aclrtcCompileProg, int (*)(rtc::Program, int, const char* const*))                    \
  X(log_size, aclrtcGetCompileLogSize, int (*)(rtc::Program, size_t*))                             \
  X(log, aclrtcGetCompileLog, int (*)(rtc::Program, char*))                                        \
  X(binary_size, aclrtcGetBinDataSize, int (*)(rtc::Program, size_t*))                             \
  X(binary, aclrtcGetBinData, int (*)(rtc::Program, char*))
// clang-format on

class Compiler : public kit::Library {
 public:
  static constexpr const char* kName = "aclrtc";
  static constexpr const char* kLanguage = "ascendc";
  using Program = rtc::Program;

  // The compiler's name of an architecture, such as "dav-2201".
  struct Target {
    std::string architecture;
    const std::string& key() const { return architecture; }
  };

  Compiler() : kit::Library(companion().names(), kName, companion().remedy()) {}

  static const kit::Companion& companion() { return rtc_companion(); }

#define DL_ASCEND_RTC_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_ASCEND_RTC_FUNCTIONS(DL_ASCEND_RTC_MEMBER)
#undef DL_ASCEND_RTC_MEMBER

  const char* error_string(int code) const {
    thread_local std::string text;
    text = "error " + std::to_string(code);
    return text.c_str();
  }
  // A compilation cannot be canceled.
  int limit(Program, int (*)(void*, void*), void*) const { return 0; }
  std::vector<std::string> target_options(const Target& target) const {
    return {"--npu-arch=" + target.architecture};
  }
  int code(Program program, const Target&, std::string* code) {
    size_t size = 0;
    if (const int failed = binary_size(program, &size)) return failed;
    code->resize(size);
    return binary(program, code->data());
  }
  static bool allows(const std::string& option) {
    static const std::vector<const char*> kAllowed{
        "O0", "O1", "O2", "O3", "g", "ffast-math", "fno-", "std=", "cce-aicore-", "Wno-"};
    return kit::allows_option(kAllowed, option);
  }
};

}  // namespace dl::ascend::rtc

#endif  // DL_ASCEND_EXTENSIONS_RTC_API_H_
