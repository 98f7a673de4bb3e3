#pragma once

#include <mutex>
#include <string>

#include "../report/finding.h"
#include "cuda_api.h"
#include "settings.h"

namespace sim {

/** Record of the program's driver calls and of the findings, for the report. */
class Journal {
 public:
  static Journal& get();

  /** Count a call. Returns the error with which the call must fail, by DL_GPU_SIM_FAIL. */
  CUresult call(const char* name);
  /** Return the number of calls of a function so far. */
  uint64_t calls(const char* name);
  /** Record that the host waits for a device in this driver call. */
  void wait(const char* name);
  /** Record that the host queried a completion and the answer was "not ready". */
  void poll();
  /** Return the number of waits of each call as JSON. */
  std::string waits();
  /** Add a launch's findings. New findings are printed to stderr unless a report is written. */
  void add(const std::string& kernel, const Findings& findings, uint64_t instructions);
  /** Record a message for the user that explains a failed call. */
  void say(const std::string& message);
  void write();

 private:
  /** Return the error of a call by DL_GPU_SIM_FAIL. From 700 on, the device is lost. */
  CUresult injected(const char* name, uint64_t count);

  std::mutex mutex_;
  std::string failures_text_;
  Failures failures_;
  CUresult lost_ = CUDA_SUCCESS;
  std::map<std::string, uint64_t> calls_;
  std::map<std::string, uint64_t> waits_;
  std::map<std::string, uint64_t> launches_;
  Findings findings_;
  std::vector<std::string> messages_;
  uint64_t polls_ = 0;
  uint64_t instructions_ = 0;
  bool unwritten_ = false;  // the report could not be written, and a message was printed
};

}  // namespace sim
