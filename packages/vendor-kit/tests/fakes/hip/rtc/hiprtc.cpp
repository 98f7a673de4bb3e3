// A libhiprtc.so for tests: g++ compiles the source for the fake driver. Calls that hipRTC refuses,
// or leaves undefined, fail here.
//
//   FAKE_HIPRTC_FAIL=hiprtcGetCode:11   functions that fail, with the error
//
// Compiled with FAKE_HIP_FOLDERS, the -I options with which g++ finds the fake's headers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "../../common/settings.h"
#include "../emulated_image.h"

namespace {

namespace files = std::filesystem;

// Values of hiprtcResult.
enum : int {
  kSuccess = 0,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kInternal = 11,
};

struct Program {
  std::string text, name;
  std::vector<std::pair<std::string, std::string>> headers;
  bool compiled = false;
  std::string log, code;
};

std::mutex mutex;
std::map<Program*, std::unique_ptr<Program>> programs;

Program* find(Program* program) {
  const std::lock_guard<std::mutex> lock(mutex);
  return programs.count(program) != 0 ? program : nullptr;
}

int injected_status(const char* function) {
  static fake_driver::Calls calls("FAKE_HIPRTC_FAIL", "FAKE_HIPRTC_CALLS");
  return calls.enter(function);
}

std::string read(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void write(const files::path& path, const std::string& text) {
  files::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string quoted(const std::string& word) {
  std::string all = "'";
  for (const char letter : word) all += letter == '\'' ? std::string("'\\''") : std::string{letter};
  return all + "'";
}

// Returns the source for g++, with the code by which the driver finds its kernels.
std::string for_gxx(const Program& program) {
  static const std::regex shared(R"(extern\s+__shared__\s+([\w ]+?)\s+(\w+)\s*\[\s*\]\s*;)");
  static const std::regex kernel(
      R"re(extern\s+"C"\s+__global__\s+(?:__launch_bounds__\([^)]*\)\s+)?void\s+(\w+)\s*\()re");
  std::string all = "#include \"rtc/emulated_hip.h\"\n#line 1 \"" + program.name + "\"\n";
  all += std::regex_replace(program.text, shared,
                            "$1* const $2 = reinterpret_cast<$1*>(emulated_hip::shared.data());");
  all += "\n";
  for (std::sregex_iterator at(program.text.begin(), program.text.end(), kernel), end; at != end;
       ++at)
    all += "EMULATED_HIP_KERNEL(" + (*at)[1].str() + ")\n";
  return all;
}

int compile(Program& program, const std::string& processor, const std::string& options) {
  std::string pattern = (files::temp_directory_path() / "fake-hiprtc-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return kInternal;
  const files::path folder = pattern;
  write(folder / "kernel.cpp", for_gxx(program));
  for (const auto& [name, text] : program.headers) write(folder / "headers" / name, text);
  const std::string command =
      "g++ -std=c++17 -O1 -w -shared -fPIC -fvisibility=hidden -fno-gnu-unique -fmax-errors=5 "
      "-fdiagnostics-color=never " FAKE_HIP_FOLDERS " -I" +
      quoted((folder / "headers").string()) + options + " " +
      quoted((folder / "kernel.cpp").string()) + " -o " + quoted((folder / "kernel.so").string()) +
      " >" + quoted((folder / "log").string()) + " 2>&1";
  const bool done = std::system(command.c_str()) == 0;
  program.log = read(folder / "log");
  if (done) {
    const std::string library = read(folder / "kernel.so");
    emulated::CompiledCode header{};
    std::memcpy(header.magic, emulated::CompiledCode::kMagic, sizeof header.magic);
    std::snprintf(header.processor, sizeof header.processor, "%s", processor.c_str());
    header.bytes = library.size();
    program.code.assign(reinterpret_cast<const char*>(&header), sizeof header);
    program.code += library;
    program.compiled = true;
  }
  files::remove_all(folder);
  return done ? kSuccess : kCompilation;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const int failed = injected_status(#function)) return failed

FAKE const char* hiprtcGetErrorString(int code) {
  switch (code) {
    case kInvalidInput:
      return "HIPRTC_ERROR_INVALID_INPUT";
    case kInvalidProgram:
      return "HIPRTC_ERROR_INVALID_PROGRAM";
    case kInvalidOption:
      return "HIPRTC_ERROR_INVALID_OPTION";
    case kCompilation:
      return "HIPRTC_ERROR_COMPILATION";
    default:
      return "HIPRTC_ERROR_INTERNAL_ERROR";
  }
}
FAKE int hiprtcCreateProgram(Program** out, const char* text, const char* name, int count,
                             const char* const* headers, const char* const* names) {
  ENTER(hiprtcCreateProgram);
  if (text == nullptr || count < 0) return kInvalidInput;
  if (count > 0 && (headers == nullptr || names == nullptr)) return kInvalidInput;
  auto made = std::make_unique<Program>();
  made->text = text;
  made->name = name == nullptr ? "program" : name;
  for (int i = 0; i < count; ++i) made->headers.emplace_back(names[i], headers[i]);
  const std::lock_guard<std::mutex> lock(mutex);
  *out = made.get();
  programs[made.get()] = std::move(made);
  return kSuccess;
}
FAKE int hiprtcDestroyProgram(Program** program) {
  ENTER(hiprtcDestroyProgram);
  const std::lock_guard<std::mutex> lock(mutex);
  if (program == nullptr || programs.erase(*program) == 0) return kInvalidProgram;
  *program = nullptr;
  return kSuccess;
}
// The fake ignores options that only affect speed.
FAKE int hiprtcCompileProgram(Program* handle, int count, const char* const* options) {
  ENTER(hiprtcCompileProgram);
  Program* const program = find(handle);
  if (program == nullptr || program->compiled) return kInvalidProgram;
  static const std::string kTarget = "--offload-arch=";
  std::string processor, macros;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (option.rfind(kTarget, 0) == 0 && processor.empty()) {
      processor = option.substr(kTarget.size());
    } else if (option.rfind("-D", 0) == 0 || option.rfind("-U", 0) == 0) {
      macros += " " + quoted(option);
    } else if (option.rfind("-f", 0) != 0 && option.rfind("-O", 0) != 0) {
      program->log = "error: unknown argument: '" + option + "'\n";
      return kInvalidOption;
    }
  }
  if (processor.rfind("gfx", 0) != 0) {
    program->log = "error: no architecture to compile for\n";
    return kInvalidOption;
  }
  return compile(*program, processor, macros);
}
FAKE int hiprtcGetProgramLogSize(Program* handle, size_t* size) {
  ENTER(hiprtcGetProgramLogSize);
  const Program* const program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  *size = program->log.empty() ? 0 : program->log.size() + 1;
  return kSuccess;
}
FAKE int hiprtcGetProgramLog(Program* handle, char* log) {
  ENTER(hiprtcGetProgramLog);
  const Program* const program = find(handle);
  if (program == nullptr) return kInvalidProgram;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return kSuccess;
}
FAKE int hiprtcGetCodeSize(Program* handle, size_t* size) {
  ENTER(hiprtcGetCodeSize);
  const Program* const program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  *size = program->code.size();
  return kSuccess;
}
FAKE int hiprtcGetCode(Program* handle, char* code) {
  ENTER(hiprtcGetCode);
  const Program* const program = find(handle);
  if (program == nullptr || !program->compiled) return kInvalidProgram;
  std::memcpy(code, program->code.data(), program->code.size());
  return kSuccess;
}
