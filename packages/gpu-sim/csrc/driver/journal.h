#pragma once

#include <mutex>
#include <string>

#include "../report/finding.h"
#include "cuda_api.h"

namespace sim {

/** Record of the program's calls and of the findings, for the report. */
class Journal {
 public:
  static Journal& get();

  /** Count a call. Not CUDA_SUCCESS: it shall fail, as the environment asks. */
  CUresult call(const char* name);
  /** The host waits for a device, in this call of the driver. */
  void wait(const char* name);
  /** The host asked whether something has ended, and it has not. */
  void poll();
  /** How often it has waited, as JSON: a number for each call. */
  std::string waits();
  /** Add what a launch found. Texts of new findings go to stderr, unless a report is written. */
  void add(const std::string& kernel, const Findings& findings, uint64_t instructions);
  /** Say why a call failed, for a person. */
  void say(const std::string& message);
  void write();

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> calls_;
  std::map<std::string, uint64_t> waits_;
  std::map<std::string, uint64_t> launches_;
  Findings findings_;
  std::vector<std::string> messages_;
  uint64_t polls_ = 0;
  uint64_t instructions_ = 0;
  bool unwritten_ = false;  // the report, and that was said
};

}  // namespace sim
