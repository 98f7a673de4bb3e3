#include "settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace sim {
namespace {

uint64_t number(const char* name, uint64_t standard) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return standard;
  char* rest = nullptr;
  const uint64_t value = std::strtoull(text, &rest, 0);
  switch (*rest) {
    case 'G':
      return value << 30;
    case 'M':
      return value << 20;
    case 'K':
      return value << 10;
    default:
      return value;
  }
}

std::string text(const char* name) {
  const char* found = std::getenv(name);
  return found == nullptr ? "" : found;
}

// "8.6" in two numbers, which are left alone where the text is none.
void two_numbers(const std::string& text, int& first, int& second) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos) return;
  first = std::atoi(text.c_str());
  second = std::atoi(text.c_str() + dot + 1);
}

Settings read() {
  Settings made;
  made.devices = static_cast<int>(std::min<uint64_t>(number("DL_GPU_SIM_DEVICES", 1), 64));
  made.memory = number("DL_GPU_SIM_MEMORY", made.memory);
  made.seed = number("DL_GPU_SIM_SEED", made.seed);
  made.budget = number("DL_GPU_SIM_STEPS", 0);
  made.strict = number("DL_GPU_SIM_STRICT", 0) != 0;
  two_numbers(text("DL_GPU_SIM_CAPABILITY"), made.major, made.minor);
  int release = made.version / 1000, update = made.version % 1000 / 10;
  two_numbers(text("DL_GPU_SIM_CUDA"), release, update);
  made.version = release * 1000 + update * 10;
  made.report = text("DL_GPU_SIM_REPORT");
  if (const size_t place = made.report.find("%p"); place != std::string::npos)
    made.report.replace(place, 2, std::to_string(getpid()));
  // cuMemAlloc:3,cuLaunchKernel:1
  const std::string failures = text("DL_GPU_SIM_FAIL");
  for (size_t begin = 0; begin < failures.size();) {
    const size_t end = std::min(failures.find(',', begin), failures.size());
    const std::string one = failures.substr(begin, end - begin);
    const size_t colon = one.find(':');
    made.failures[one.substr(0, colon)] =
        colon == std::string::npos ? 1 : std::strtoull(one.c_str() + colon + 1, nullptr, 10);
    begin = end + 1;
  }
  return made;
}

}  // namespace

const Settings& Settings::get() {
  static const Settings* const kSettings = new Settings(read());
  return *kSettings;
}

}  // namespace sim
