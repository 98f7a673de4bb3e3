#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sim {

/** What the environment asks for: read once. README.md lists the variables. */
struct Settings {
  int devices = 1;
  uint64_t memory = uint64_t{1} << 32;
  int major = 8, minor = 0;
  int version = 13050;  // of CUDA, as drivers write it
  uint64_t seed = 1;
  uint64_t budget = 0;
  bool strict = false;  // whatever is found fails the context
  std::string report;
  std::map<std::string, uint64_t> failures;  // which call of a name fails

  static const Settings& get();
};

}  // namespace sim
