// torch.profiler sessions for dl: activities of devices, and of vendor code on the host.
#define USE_KINETO 1
// Kineto's headers use fmt, which torch does not export.
#define FMT_HEADER_ONLY 1

#include <c10/util/Exception.h>
#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "calls/call.h"
#include "dl/profiler.h"
#include "profiler/code_names.h"
#include "profiler/memory_events.h"
#include "profiler/recording.h"

namespace dl::core::profiler {
namespace {

using libkineto::ActivityType;

// Offset between the steady clock and the clock of torch's profiler.
int64_t epoch_offset() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() -
         static_cast<int64_t>(now_ns());
}

// The row of a graph spans the rows of its parts, so it is an annotation and not work.
ActivityType type_of(uint32_t kind) {
  switch (kind) {
    case DL_ACTIVITY_COPY:
      return ActivityType::GPU_MEMCPY;
    case DL_ACTIVITY_SET:
      return ActivityType::GPU_MEMSET;
    case DL_ACTIVITY_GRAPH:
      return ActivityType::GPU_USER_ANNOTATION;
    default:
      return ActivityType::CONCURRENT_KERNEL;
  }
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  // Without `devices`, only memory is reported, which involves the host alone.
  explicit Session(bool devices) : devices_(devices) {}
  ~Session() override {
    if (started_) stop_recording();
    report_memory(false);
  }

  void start() override {
    offset_ = epoch_offset();
    begin_ = static_cast<int64_t>(now_ns()) + offset_;
    report_memory(true);
    started_ = devices_ && start_recording();
    if (devices_ && !started_) errors_.push_back("another profiler records the dl devices");
    status_ = libkineto::TraceStatus::RECORDING;
  }

  void stop() override {
    report_memory(false);
    names_.reset();
    if (started_) {
      stop_recording();
      recorded_ = take_recorded();
      started_ = false;
    }
    end_ = static_cast<int64_t>(now_ns()) + offset_;
    for (const std::string& problem : recorded_.problems) {
      TORCH_WARN("[torch.profiler] rows of a dl device are missing: ", problem);
      errors_.push_back(problem);
    }
    status_ = libkineto::TraceStatus::PROCESSING;
  }

  std::vector<std::string> errors() override { return errors_; }

  void processTrace(libkineto::ActivityLogger& logger) override {
    write(logger, [](int32_t) { return nullptr; });
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked,
                    int64_t, int64_t) override {
    write(logger, linked);
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return std::make_unique<libkineto::DeviceInfo>(
        libkineto::DeviceInfo{0, libkineto::kExceedMaxPid, "dl", "dl"});
  }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<libkineto::ResourceInfo> result;
    for (const auto& [key, number] : streams_)
      result.push_back({number, number, key.first, "stream " + std::to_string(number)});
    return result;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::exchange(buffer_, nullptr);
  }

  void pushCorrelationId(uint64_t id) override {
    if (devices_) push_correlation(id);
  }
  void popCorrelationId() override {
    if (devices_) pop_correlation();
  }

 private:
  using Linked = libkineto::getLinkedActivityCallback;

  void write(libkineto::ActivityLogger& logger, const Linked& linked) {
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->gpuOpCount = 0;
    buffer_->span = libkineto::TraceSpan(begin_, end_, "dl");
    std::vector<bool> arrives(recorded_.calls.size());
    for (const DeviceWork& work : recorded_.work) {
      if (work.call >= 0) arrives[static_cast<size_t>(work.call)] = true;
    }
    for (size_t at = 0; at < recorded_.calls.size(); ++at) {
      const HostCall& call = recorded_.calls[at];
      auto& row = made(ActivityType::PRIVATEUSE1_RUNTIME, call.shown(), call.start, call.end,
                       call.correlation, linked);
      row.device = ::getpid();
      row.resource = call.thread;
      row.threadId = call.thread;
      row.addMetadataQuoted("overload", call.overload);
      if (arrives[at]) arrow(row, static_cast<int64_t>(at), true);
      row.log(logger);
    }
    for (const DeviceWork& work : recorded_.work) {
      if (work.kind == DL_ACTIVITY_WAIT) continue;
      auto& row =
          made(type_of(work.kind), work.name, work.start, work.end, work.correlation, linked);
      row.device = work.device;
      row.resource = static_cast<int32_t>(number_of(work.device, work.stream));
      row.addMetadata("device", work.device);
      row.addMetadata("stream", row.resource);
      if (work.bytes > 0) row.addMetadata("bytes", work.bytes);
      if (work.call >= 0) arrow(row, work.call, false);
      ++buffer_->gpuOpCount;
      row.log(logger);
    }
    recorded_ = {};
  }

  libkineto::GenericTraceActivity& made(ActivityType type, const std::string& name, int64_t start,
                                        int64_t end, uint64_t correlation, const Linked& linked) {
    buffer_->emplace_activity(buffer_->span, type, name);
    auto& row = *buffer_->activities.back();
    row.startTime = start + offset_;
    row.endTime = end + offset_;
    row.id = static_cast<int32_t>(correlation);
    if (correlation != 0) row.linked = linked(static_cast<int32_t>(correlation));
    return row;
  }

  static void arrow(libkineto::GenericTraceActivity& row, int64_t call, bool starts) {
    row.flow.id = static_cast<uint32_t>(call + 1);
    row.flow.type = libkineto::kLinkAsyncCpuGpu;
    row.flow.start = starts;
  }

  // Numbers streams in order of appearance; the default stream is 0.
  int64_t number_of(int device, void* stream) {
    const auto [found, is_new] = streams_.try_emplace({device, stream}, 0);
    if (is_new && stream != nullptr) found->second = ++others_;
    return found->second;
  }

  const bool devices_;
  std::optional<CodeNames> names_{std::in_place};
  bool started_ = false;
  int64_t offset_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t others_ = 0;
  Recorded recorded_;
  std::vector<std::string> errors_;
  std::map<std::pair<int, void*>, int64_t> streams_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return types_; }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& wanted, const libkineto::Config&) override {
    return std::make_unique<Session>(wanted.count(ActivityType::CONCURRENT_KERNEL) != 0);
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      int64_t, int64_t, const std::set<ActivityType>& wanted,
      const libkineto::Config& config) override {
    return configure(wanted, config);
  }

 private:
  std::string name_ = "dl";
  std::set<ActivityType> types_ = {
      ActivityType::GPU_MEMCPY,          ActivityType::GPU_MEMSET,
      ActivityType::CONCURRENT_KERNEL,   ActivityType::GPU_USER_ANNOTATION,
      ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER,
  };
};

REGISTER_PRIVATEUSE1_PROFILER(Profiler);

}  // namespace
}  // namespace dl::core::profiler
