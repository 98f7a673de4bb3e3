#include "program/build.h"

#include "runtime/errors.h"

namespace dl::opencl {
namespace {

// Returns the first line of a log with an error, for messages. PoCL lists errors of its linker
// below a line "Error(s) while linking:", whose first one is returned.
std::string first_error(const std::string& log) {
  const size_t at = std::min(log.find("error"), log.find("Error(s) while"));
  if (at == std::string::npos) return {};
  const size_t line_end = std::min(log.find('\n', at), log.size());
  const bool is_title = log.compare(at, 5, "Error") == 0 && line_end < log.size();
  const size_t before = is_title ? line_end : log.rfind('\n', at);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return ": " + log.substr(begin, std::min(log.find('\n', begin), log.size()) - begin);
}

[[noreturn]] void refuse(dl_code_t code, const std::string& what, cl::Int result,
                         const char* function, const std::string& log) {
  throw kit::Error(code, what + " (" + text_of(result) + ")" + first_error(log), function, log);
}

void build(Device& device, const ProgramReference& program, const std::string& options,
           dl_code_t code, const std::string& what) {
  const cl::DeviceId id = device.id();
  const cl::Int result =
      device.driver().BuildProgram(program.object(), 1, &id, options.c_str(), nullptr, nullptr);
  if (result != cl::kSuccess) refuse(code, what, result, "clBuildProgram", log_of(device, program));
}

ProgramReference create_from_source(Device& device, const std::string& text) {
  const char* const start = text.c_str();
  const char* starts[] = {start};
  const size_t bytes = text.size();
  cl::Int code = cl::kSuccess;
  const cl::Program made =
      device.driver().CreateProgramWithSource(device.context(), 1, starts, &bytes, &code);
  check(code, "clCreateProgramWithSource", "a program was not created");
  return {device.driver(), made};
}

}  // namespace

ProgramReference build_spirv(Device& device, const std::vector<uint32_t>& words) {
  cl::Int code = cl::kSuccess;
  const cl::Program made = device.driver().CreateProgramWithIL(
      device.context(), words.data(), words.size() * sizeof(uint32_t), &code);
  check(code, "clCreateProgramWithIL", "the driver does not accept the SPIR-V of this library");
  ProgramReference program(device.driver(), made);
  build(device, program, "", DL_ERROR, "the driver does not compile the SPIR-V of this library");
  return program;
}

ProgramReference build_source(Device& device, const std::string& name, const std::string& text,
                              const std::string& options, const Headers& headers) {
  ProgramReference program = create_from_source(device, text);
  const std::string what = name + " does not compile";
  if (headers.empty()) {
    build(device, program, options, DL_INVALID_ARGUMENT, what);
    return program;
  }
  // Only separate compilation takes headers from memory.
  const Driver& driver = device.driver();
  std::vector<ProgramReference> included;
  std::vector<cl::Program> objects;
  std::vector<const char*> names;
  for (const auto& [header, content] : headers) {
    included.push_back(create_from_source(device, content));
    objects.push_back(included.back().object());
    names.push_back(header.c_str());
  }
  const cl::DeviceId id = device.id();
  cl::Int code = driver.CompileProgram(program.object(), 1, &id, options.c_str(),
                                       static_cast<cl::UInt>(objects.size()), objects.data(),
                                       names.data(), nullptr, nullptr);
  if (code != cl::kSuccess)
    refuse(DL_INVALID_ARGUMENT, what, code, "clCompileProgram", log_of(device, program));
  const cl::Program compiled = program.object();
  const cl::Program made =
      driver.LinkProgram(device.context(), 1, &id, "", 1, &compiled, nullptr, nullptr, &code);
  ProgramReference linked(driver, made);
  if (code != cl::kSuccess)
    refuse(DL_INVALID_ARGUMENT, name + " cannot be linked", code, "clLinkProgram",
           made == nullptr ? "" : log_of(device, linked));
  return linked;
}

ProgramReference build_binary(Device& device, const std::string& binary) {
  const cl::DeviceId id = device.id();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  cl::Int status = cl::kSuccess, code = cl::kSuccess;
  const cl::Program made = device.driver().CreateProgramWithBinary(device.context(), 1, &id, &size,
                                                                   &bytes, &status, &code);
  ProgramReference program(device.driver(), made);
  const char* const what = "the code is not a program for this device and driver";
  if (code != cl::kSuccess || status != cl::kSuccess)
    refuse(DL_INVALID_ARGUMENT, what, code != cl::kSuccess ? code : status,
           "clCreateProgramWithBinary", "");
  build(device, program, "", DL_INVALID_ARGUMENT, what);
  return program;
}

std::string binary_of(Device& device, const ProgramReference& program) {
  size_t bytes = 0;
  check(device.driver().GetProgramInfo(program.object(), cl::kProgramBinarySizes, sizeof bytes,
                                       &bytes, nullptr),
        "clGetProgramInfo", "the size of a program was not read");
  std::string binary(bytes, '\0');
  char* start = binary.data();
  check(device.driver().GetProgramInfo(program.object(), cl::kProgramBinaries, sizeof start, &start,
                                       nullptr),
        "clGetProgramInfo", "a program was not read");
  return binary;
}

std::string log_of(Device& device, const ProgramReference& program) {
  size_t bytes = 0;
  const Driver& driver = device.driver();
  if (driver.GetProgramBuildInfo(program.object(), device.id(), cl::kProgramBuildLog, 0, nullptr,
                                 &bytes) != cl::kSuccess ||
      bytes < 2)
    return {};
  std::string log(bytes, '\0');
  if (driver.GetProgramBuildInfo(program.object(), device.id(), cl::kProgramBuildLog, bytes,
                                 log.data(), nullptr) != cl::kSuccess)
    return {};
  log.resize(log.find_last_not_of(std::string("\0\n ", 3)) + 1);
  return log;
}

}  // namespace dl::opencl
