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
  std::vector<int> visible;  // visible devices, in the order of CUDA_VISIBLE_DEVICES
  uint64_t memory = uint64_t{1} << 32;
  int major = 8, minor = 0;
  int version = 13050;  // CUDA version, as reported by drivers
  uint64_t seed = 1;
  uint64_t budget = 0;
  bool strict = false;  // every finding fails the context
  std::string report;
  std::map<std::string, std::set<uint64_t>> failures;  // indices of the failing calls, by function
  std::vector<std::string> problems;                   // a message for each invalid value

  /** Return the index of a visible device among all devices. */
  int number_of(int device) const { return visible[static_cast<size_t>(device)]; }
  /** Return the settings of this process, which are read once. */
  static const Settings& get();
  /** Read the settings from an environment: strings NAME=VALUE, terminated by a null pointer. */
  static Settings read(const char* const* environment);
  /** Return all problems in one text; empty if there are none. */
  std::string problem() const;
};

/** Return the UUID of a device. */
std::array<char, 16> uuid_of(int device);

/** Add a function to those that DL_GPU_SIM_FAIL may name. */
#define DL_COUNTED(name) \
  static const char* const counted_name __attribute__((used, section("dl_gpu_sim_calls"))) = name

}  // namespace sim
