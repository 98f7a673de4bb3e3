#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sim {

/** Calls that fail, by name. */
struct Failures {
  std::map<std::string, std::set<uint64_t>> calls;  // these calls, counted from 1
  std::map<std::string, int> errors;                // every call, with this error
};

/** Settings from the environment. README.md lists the variables. */
struct Settings {
  int devices = 1;
  std::vector<int> visible;  // visible devices, in the order of CUDA_VISIBLE_DEVICES
  uint64_t memory = uint64_t{1} << 32;
  std::vector<int> capabilities = {80};  // by device; the last one also applies to later devices
  int version = 13050;                   // CUDA version, as reported by drivers
  uint64_t seed = 1;
  uint64_t budget = 0;
  bool strict = false;  // every finding fails the context
  std::string report;
  Failures failures;
  std::vector<std::string> problems;  // a message for each invalid value

  /** Return the index of a visible device among all devices. */
  int number_of(int device) const { return visible[static_cast<size_t>(device)]; }
  /** Return the compute capability of a visible device: 86 for 8.6. */
  int capability_of(int device) const {
    const auto number = static_cast<size_t>(number_of(device));
    return capabilities[std::min(number, capabilities.size() - 1)];
  }
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
