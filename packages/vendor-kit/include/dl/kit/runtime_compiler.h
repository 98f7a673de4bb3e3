// A compiler library like NVRTC: it compiles source text in memory, writes no files and runs no
// programs. `Rtc` derives from Library and has
//
//   static constexpr const char* kLanguage           "cuda"
//   using Program                                    a pointer
//   const Companion& companion()                     how to find the library
//   create(Program*, text, name, count, headers, header names), destroy(Program*)
//   compile(Program, count, options), log_size(Program, size_t*), log(Program, char*)
//   error_string(int)                                these are functions of the library
//   int limit(Program, int (*cancelled)(void*, void*), void*)  polled; 0 means continue
//   std::vector<std::string> target_options(const Target&)     throws Error for an unsupported one
//   int code(Program, const Target&, std::string*)
//   static bool allows(const std::string& option)    true if it only affects the generated code
//
// Compiled code is cached in the process: the same source is compiled once.
#ifndef DL_KIT_RUNTIME_COMPILER_H_
#define DL_KIT_RUNTIME_COMPILER_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dl/kernel.h"
#include "dl/kit/base.h"
#include "dl/kit/kernel_source.h"
#include "dl/kit/lru.h"
#include "dl/kit/presence.h"

DL_KIT_BEGIN

template <class Rtc>
class RuntimeCompiler {
 public:
  using Target = typename Rtc::Target;

  const char* language() const { return Rtc::kLanguage; }
  // The library's path, found without opening it; empty if missing.
  std::string found() const { return find_library(rtc_.companion().names()); }
  std::string unavailable() const {
    if (!found().empty()) return {};
    return std::string("no ") + Rtc::kName + " is installed; " + rtc_.companion().remedy();
  }

  // Returns code that the caller owns. Throws Error: DL_UNAVAILABLE without a compiler;
  // DL_INVALID_ARGUMENT, with the log as details, for source that does not compile.
  dl_kernel_code_t* compile(const dl_kernel_source_t* given, const Target& target) {
    const KernelSource source(given, Rtc::kLanguage);
    for (const std::string& option : source.options) {
      if (!Rtc::allows(option))
        throw Error(DL_INVALID_ARGUMENT,
                    "option '" + option +
                        "' does more than affect the generated code; remove it (the "
                        "architecture is always the device's)");
    }
    bool cached = true;
    const auto kept = made_.get(target.key() + source.key(), [&] {
      cached = false;
      return make(source, target);
    });
    return owned(*kept, cached);
  }

 private:
  struct Made {
    std::string code, log;
  };
  struct Owned : dl_kernel_code_t {
    Made made;
  };
  static constexpr size_t kMostKept = 256;

  static dl_kernel_code_t* owned(const Made& made, bool cached) {
    auto code = std::make_unique<Owned>();
    code->made = made;
    code->struct_size = sizeof(dl_kernel_code_t);
    code->bytes = code->made.code.data();
    code->size = code->made.code.size();
    code->log = made.log.empty() ? nullptr : code->made.log.c_str();
    code->flags = cached ? DL_KERNEL_CODE_CACHED : 0;
    code->release = [](dl_kernel_code_t* self) { delete static_cast<Owned*>(self); };
    return code.release();
  }

  void check(int result, const char* operation) {
    if (result != 0) throw Error(DL_ERROR, rtc_.error_string(result), operation);
  }

  // Owner of a program of the library.
  struct Program {
    explicit Program(Rtc& owner) : rtc(owner) {}
    ~Program() {
      if (made != nullptr) (void)rtc.destroy(&made);
    }
    Rtc& rtc;
    typename Rtc::Program made{};
  };

  struct Deadline {
    std::chrono::steady_clock::time_point end;
    bool passed = false;
    static int cancelled(void* self, void*) {
      auto& deadline = *static_cast<Deadline*>(self);
      deadline.passed = std::chrono::steady_clock::now() > deadline.end;
      return deadline.passed ? 1 : 0;
    }
  };

  Made make(const KernelSource& source, const Target& target) {
    Program program(rtc_);
    std::vector<const char*> headers, names, options;
    for (const auto& [name, text] : source.headers) {
      names.push_back(name.c_str());
      headers.push_back(text.c_str());
    }
    check(rtc_.create(&program.made, source.text.c_str(), source.name.c_str(),
                      static_cast<int>(headers.size()), headers.data(), names.data()),
          "create");
    Deadline deadline{};
    if (source.seconds > 0) {
      deadline.end = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(source.seconds));
      check(rtc_.limit(program.made, Deadline::cancelled, &deadline), "limit");
    }
    std::vector<std::string> words = rtc_.target_options(target);
    words.insert(words.end(), source.options.begin(), source.options.end());
    for (const std::string& word : words) options.push_back(word.c_str());
    const int result = rtc_.compile(program.made, static_cast<int>(options.size()), options.data());
    Made made;
    made.log = log_of(program.made);
    if (deadline.passed)
      throw Error(DL_ERROR, source.name + " was not compiled within " +
                                std::to_string(source.seconds) + " seconds; increase the timeout");
    if (result != 0) refuse(source.name, rtc_.error_string(result), made.log);
    check(rtc_.code(program.made, target, &made.code), "code");
    return made;
  }

  std::string log_of(typename Rtc::Program program) {
    size_t size = 0;
    if (rtc_.log_size(program, &size) != 0 || size < 2) return {};
    std::string log(size, '\0');
    if (rtc_.log(program, log.data()) != 0) return {};
    log.resize(size - 1);
    return log;
  }

  // The first error line is enough for most readers.
  [[noreturn]] static void refuse(const std::string& name, const char* error,
                                  const std::string& log) {
    const size_t at = log.find("error");
    std::string first;
    if (at != std::string::npos) {
      const size_t before = log.rfind('\n', at);
      const size_t begin = before == std::string::npos ? 0 : before + 1;
      first = ": " + log.substr(begin, std::min(log.find('\n', at), log.size()) - begin);
    }
    throw Error(DL_INVALID_ARGUMENT, name + " does not compile (" + error + ")" + first, "compile",
                log);
  }

  Rtc rtc_;
  Lru<std::string, Made> made_{kMostKept};
};

DL_KIT_END

#endif  // DL_KIT_RUNTIME_COMPILER_H_
