#include "journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace sim {
namespace {

std::string object_of(const std::map<std::string, uint64_t>& counts) {
  std::string made = "{";
  for (const auto& [name, count] : counts)
    made += (made.size() > 1 ? ", " : "") + quoted(name) + ": " + std::to_string(count);
  return made + "}";
}

}  // namespace

// Never destroyed, because stream threads run until the process ends.
Journal& Journal::get() {
  static Journal* const kJournal = new Journal;
  return *kJournal;
}

CUresult Journal::call(const char* name) {
  bool first = false;
  CUresult failed = CUDA_SUCCESS;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = calls_.empty();
    failed = injected(name, ++calls_[name]);
  }
  // Write immediately: the process may end without running destructors.
  if (first) write();
  return failed;
}

CUresult Journal::injected(const char* name, uint64_t count) {
  // A program may change the variable while it runs.
  const char* const text = std::getenv("DL_GPU_SIM_FAIL");
  if (failures_text_ != (text == nullptr ? "" : text)) {
    failures_text_ = text == nullptr ? "" : text;
    failures_ = Settings::read(environ).failures;
  }
  if (lost_ != CUDA_SUCCESS) return lost_;
  if (const auto found = failures_.errors.find(name); found != failures_.errors.end()) {
    const auto error = static_cast<CUresult>(found->second);
    if (error >= CUDA_ERROR_ILLEGAL_ADDRESS) lost_ = error;
    return error;
  }
  const auto found = failures_.calls.find(name);
  if (found == failures_.calls.end() || found->second.count(count) == 0) return CUDA_SUCCESS;
  return std::string_view(name).find("Alloc") != std::string_view::npos ? CUDA_ERROR_OUT_OF_MEMORY
                                                                        : CUDA_ERROR_UNKNOWN;
}

uint64_t Journal::calls(const char* name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = calls_.find(name);
  return found == calls_.end() ? 0 : found->second;
}

void Journal::wait(const char* name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++waits_[name];
}

void Journal::poll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++polls_;
}

std::string Journal::waits() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return object_of(waits_);
}

void Journal::add(const std::string& kernel, const Findings& findings, uint64_t instructions) {
  bool fresh = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    fresh = launches_.empty();
    ++launches_[kernel];
    instructions_ += instructions;
    findings_.same_value_writes += findings.same_value_writes;
    for (const Finding& each : findings.all()) {
      Finding* made = findings_.add(each.fault, each.kernel, each.line, 0);
      if (made == nullptr) continue;
      *made = each;
      fresh = true;
      if (Settings::get().report.empty())
        std::fprintf(stderr, "dl-gpu-sim: %s\n", each.text().c_str());
    }
  }
  // Write immediately: a faulty program or a forked process may not exit normally.
  if (fresh) write();
}

void Journal::say(const std::string& message) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages_.push_back(message);
    if (Settings::get().report.empty()) std::fprintf(stderr, "dl-gpu-sim: %s\n", message.c_str());
  }
  write();
}

void Journal::write() {
  const std::string& path = Settings::get().report;
  if (path.empty()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t synchronisations = 0;
  for (const auto& [name, count] : waits_) synchronisations += count;
  std::string made =
      "{\"calls\": " + object_of(calls_) + ",\n \"launches\": " + object_of(launches_) +
      ",\n \"synchronisations\": " + std::to_string(synchronisations) +
      ",\n \"waits\": " + object_of(waits_) + ",\n \"polls\": " + std::to_string(polls_) +
      ",\n \"instructions\": " + std::to_string(instructions_) +
      ",\n \"same_value_writes\": " + std::to_string(findings_.same_value_writes) +
      ",\n \"messages\": [";
  for (size_t i = 0; i < messages_.size(); ++i) made += (i != 0 ? ", " : "") + quoted(messages_[i]);
  made += "],\n \"findings\": [";
  for (size_t i = 0; i < findings_.all().size(); ++i)
    made += (i != 0 ? ",\n  " : "\n  ") + json_of(findings_.all()[i]);
  made += "]}\n";
  const std::string fresh = path + ".new";
  // Do not replace a device or a pipe with a regular file.
  struct stat there;
  const bool replaces = stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode);
  if (!replaces) errno = EEXIST;
  std::FILE* file = replaces ? std::fopen(fresh.c_str(), "w") : nullptr;
  const bool whole =
      file != nullptr && std::fwrite(made.data(), 1, made.size(), file) == made.size();
  if (file != nullptr && std::fclose(file) == 0 && whole &&
      std::rename(fresh.c_str(), path.c_str()) == 0)
    return;
  // Report this once, since the path does not change.
  if (!std::exchange(unwritten_, true))
    std::fprintf(stderr, "dl-gpu-sim: DL_GPU_SIM_REPORT=%s: the report cannot be written: %s\n",
                 path.c_str(), std::strerror(errno));
}

__attribute__((destructor)) static void write_at_the_end() { Journal::get().write(); }

}  // namespace sim
