#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sim {

/** Settings from the environment. README.md lists the variables. */
struct Settings {
  int devices = 1;
  std::vector<int> visible;  // of them, in the order that CUDA_VISIBLE_DEVICES gives them
  uint64_t memory = uint64_t{1} << 32;
  int major = 8, minor = 0;
  int version = 13050;  // of CUDA, as drivers write it
  uint64_t seed = 1;
  uint64_t budget = 0;
  bool strict = false;  // whatever is found fails the context
  std::string report;
  std::map<std::string, std::set<uint64_t>> failures;  // which calls of a name fail
  std::vector<std::string> problems;                   // values that mean nothing: a line each

  /** The number among all devices of a visible device. */
  int number_of(int device) const { return visible[static_cast<size_t>(device)]; }
  /** Those of this process, read once. */
  static const Settings& get();
  /** Those of an environment: texts NAME=VALUE, and a null pointer after them. */
  static Settings read(const char* const* environment);
  /** All problems in one text, empty where there is none. */
  std::string problem() const;
};

/** The bytes that identify a device. */
std::array<char, 16> uuid_of(int device);

/** Enter a call's name into those that DL_GPU_SIM_FAIL may give. */
#define DL_COUNTED(name) \
  static const char* const counted_name __attribute__((used, section("dl_gpu_sim_calls"))) = name

}  // namespace sim
