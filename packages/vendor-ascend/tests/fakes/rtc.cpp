// A libacl_rtc.so for tests: g++ compiles the subset of Ascend C that the header below has, for the
// fake runtime (fakes/ascend/runtime/kernels.cpp).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "ascend/runtime/compiled_kernel.h"
#include "extensions/rtc_api.h"

using namespace dl::ascend::rtc;

namespace dl::ascend::rtc {

struct ProgramObject {
  std::string source, name, log, binary;
  std::map<std::string, std::string> headers;
};

}  // namespace dl::ascend::rtc

namespace {

constexpr int kInvalid = 1, kCompileFailed = 2;

const char* const kHeader = R"(
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#define __global__
#define __aicore__
#define __gm__
#define GM_ADDR uint8_t*
namespace AscendC {
inline thread_local unsigned fake_block, fake_blocks;
inline int64_t GetBlockIdx() { return fake_block; }
inline int64_t GetBlockNum() { return fake_blocks; }
template <class T>
class GlobalTensor {
 public:
  void SetGlobalBuffer(T* begin, uint64_t = 0) { begin_ = begin; }
  T GetValue(uint64_t i) const { return begin_[i]; }
  void SetValue(uint64_t i, T value) { begin_[i] = value; }
 private:
  T* begin_ = nullptr;
};
}
)";

const char* const kTrailer = R"(
namespace fake_kernels {
struct Parameter { size_t size; bool is_address; };
struct Kernel {
  size_t count;
  const Parameter* parameters;
  void (*run)(void* const*, unsigned, unsigned);
};
template <auto kFunction, class Type>
struct Of;
template <auto kFunction, class... P>
struct Of<kFunction, void (*)(P...)> {
  static constexpr Parameter kParameters[] = {{sizeof(P), std::is_pointer_v<P>}..., {0, false}};
  template <size_t... I>
  static void call(void* const* a, std::index_sequence<I...>) {
    kFunction(*static_cast<P*>(a[I])...);
  }
  static void run(void* const* a, unsigned block, unsigned blocks) {
    AscendC::fake_block = block;
    AscendC::fake_blocks = blocks;
    call(a, std::index_sequence_for<P...>());
  }
  static constexpr Kernel kKernel{sizeof...(P), kParameters, run};
};
}
#define FAKE_KERNEL(name) \
  extern "C" const fake_kernels::Kernel fake_kernel_##name = \
      fake_kernels::Of<&name, decltype(&name)>::kKernel;
)";

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

FAKE int aclrtcCreateProg(Program* out, const char* source, const char* name, int count,
                          const char* const* headers, const char* const* names) {
  if (source == nullptr || name == nullptr) return kInvalid;
  auto* made = new ProgramObject;
  made->source = source;
  made->name = name;
  for (int i = 0; i < count; ++i) made->headers[names[i]] = headers[i];
  *out = made;
  return 0;
}
FAKE int aclrtcDestroyProg(Program* program) {
  delete *program;
  *program = nullptr;
  return 0;
}
FAKE int aclrtcCompileProg(Program program, int count, const char* const* options) {
  std::string flags;
  bool has_target = false;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    has_target = has_target || option == "--npu-arch=dav-2201";
    if (option.rfind("--npu-arch", 0) != 0) flags += " '" + option + "'";
  }
  if (!has_target) return kInvalid;
  char pattern[] = "/tmp/fake-rtc-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  for (const auto& [name, text] : program->headers) put(folder + "/" + name, text);
  put(folder + "/kernel_operator.h", kHeader);
  std::string text = "#include \"kernel_operator.h\"\n#line 1 \"" + program->name + "\"\n" +
                     program->source + kTrailer;
  const std::regex kernel(R"(extern\s+"C"\s+__global__\s+__aicore__\s+void\s+(\w+))");
  for (std::sregex_iterator at(program->source.begin(), program->source.end(), kernel), end;
       at != end; ++at)
    text += "FAKE_KERNEL(" + (*at)[1].str() + ")\n";
  put(folder + "/source.cpp", text);
  // Without -fno-gnu-unique, the loader would share kKernel between modules with one function name.
  const std::string command = "/usr/bin/g++ -std=c++17 -O1 -shared -fPIC -fno-gnu-unique -I" +
                              folder + flags + " " + folder + "/source.cpp -o " + folder +
                              "/code.so 2> " + folder + "/log";
  const int status = std::system(command.c_str());
  program->log = read(folder + "/log");
  const std::string code = read(folder + "/code.so");
  std::filesystem::remove_all(folder);
  if (status != 0) return kCompileFailed;
  fake_kernels::Header header{};
  std::memcpy(header.magic, fake_kernels::Header::kMagic, sizeof header.magic);
  header.bytes = code.size();
  program->binary.assign(reinterpret_cast<const char*>(&header), sizeof header);
  program->binary += code;
  return 0;
}
FAKE int aclrtcGetCompileLogSize(Program program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
FAKE int aclrtcGetCompileLog(Program program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
FAKE int aclrtcGetBinDataSize(Program program, size_t* size) {
  *size = program->binary.size();
  return program->binary.empty() ? kInvalid : 0;
}
FAKE int aclrtcGetBinData(Program program, char* data) {
  std::memcpy(data, program->binary.data(), program->binary.size());
  return 0;
}
