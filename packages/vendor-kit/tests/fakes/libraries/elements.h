// Shared code of the fakes of libraries: conversion of elements in host memory, settings, and
// checks of arguments.
#ifndef FAKE_LIBRARIES_ELEMENTS_H_
#define FAKE_LIBRARIES_ELEMENTS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../common/half.h"

namespace fake {

enum class DType { kFloat16, kBfloat16, kFloat32, kFloat64 };

inline size_t bytes_of(DType type) {
  return type == DType::kFloat64 ? 8 : type == DType::kFloat32 ? 4 : 2;
}
inline const char* name_of(DType type) {
  const char* const names[] = {"16f", "16bf", "32f", "64f"};
  return names[static_cast<int>(type)];
}

inline double load(DType type, const char* at) {
  if (type == DType::kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == DType::kFloat16) {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return static_cast<double>(fakes::half_value(bits));
  }
  uint32_t bits = 0;
  std::memcpy(&bits, at, bytes_of(type));
  if (type == DType::kBfloat16) bits <<= 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

inline void store(DType type, char* at, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == DType::kFloat64) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == DType::kFloat32) {
    std::memcpy(at, &narrow, sizeof narrow);
  } else if (type == DType::kFloat16) {
    const uint16_t half = fakes::half_bits(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
}

// Rounds a finite float to TF32, which has 11 significant bits.
inline double rounded_to_tf32(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return static_cast<double>(rounded);
}

inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A fake library. FAKE_<name>_CALLS is a log file with one line per call; FAKE_<name>_FAIL injects
// failures: "function:status,…".
class Fake {
 public:
  Fake(const char* what, const char* name) : what_(what), name_(name) {}

  std::string setting(const char* setting_name) const {
    return ::fake::setting(("FAKE_" + name_ + "_" + setting_name).c_str());
  }
  void log_call(const std::string& line) const {
    const std::string path = setting("CALLS");
    if (path.empty()) return;
    std::FILE* file = std::fopen(path.c_str(), "a");
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
  // The status that is injected into a function; 0 for none.
  int injected_status(const std::string& function) const {
    const std::string list = "," + setting("FAIL"), wanted = "," + function + ":";
    const size_t at = list.find(wanted);
    return at == std::string::npos ? 0 : std::atoi(list.c_str() + at + wanted.size());
  }
  void require(bool holds, const std::string& what) const {
    if (holds) return;
    std::fprintf(stderr, "fake %s: %s\n", what_.c_str(), what.c_str());
    std::abort();
  }

 private:
  const std::string what_, name_;
};

}  // namespace fake

#endif  // FAKE_LIBRARIES_ELEMENTS_H_
