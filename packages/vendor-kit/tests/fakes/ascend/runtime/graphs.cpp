// Captures and graphs: the work of a capturing stream becomes a list of nodes, which runs in the
// same order with each launch.
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "captures.h"

namespace fake {

using Nodes = std::vector<Work>;

struct Capture {
  StreamObject* origin;
  Nodes nodes;
  bool valid = true;
  // Streams whose last work the capture has not yet waited for; at the end, only the origin.
  std::set<StreamObject*> loose;
};

}  // namespace fake

namespace dl::ascend::acl {

// A graph; its address plus 1 is the handle of its only stream, as the runtime reports it.
struct GraphObject {
  int device;
  std::shared_ptr<const fake::Nodes> nodes;
};

}  // namespace dl::ascend::acl

using namespace fake;

namespace {

// Guards the captures of all streams, and graphs. Never destroyed, like streams.
std::mutex& captures() {
  static auto& mutex = *new std::mutex;
  return mutex;
}
std::map<Graph, std::unique_ptr<GraphObject>>& graphs() {
  static auto& all = *new std::map<Graph, std::unique_ptr<GraphObject>>;
  return all;
}

Code refuse(Code code, const char* text) { return note(code, text); }

// Removes all streams from a capture.
void end(const std::shared_ptr<Capture>& capture) {
  for (int i = 0; i < kMaxDevices; ++i) {
    const std::lock_guard<std::mutex> lock(device_of(i).mutex);
    for (const auto& stream : device_of(i).streams) {
      if (stream->capture == capture) stream->capture = nullptr;
    }
  }
}

Code spoil(Capture& capture) {
  capture.valid = false;
  return refuse(kCaptureBlocks, "the host waits for a stream that is capturing");
}

}  // namespace

namespace fake {

bool add_node(StreamObject& stream, Work& work) {
  const std::lock_guard<std::mutex> lock(captures());
  if (stream.capture == nullptr) return false;
  stream.capture->loose.insert(&stream);
  stream.capture->nodes.push_back(std::move(work));
  return true;
}

void leave_capture(StreamObject& stream) {
  const std::lock_guard<std::mutex> lock(captures());
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  if (capture->origin == &stream) return end(capture);
  stream.capture = nullptr;
}

bool wait_in_capture(StreamObject& stream, EventObject& event, Code* result) {
  const std::lock_guard<std::mutex> lock(captures());
  if (stream.capture == nullptr && event.capture == nullptr) return false;
  constexpr Code kDependency = 107024, kConflict = 107032;
  if (event.capture == nullptr) {
    *result = refuse(kDependency, "a capture cannot wait for work outside of it");
  } else if (stream.capture != nullptr && stream.capture != event.capture) {
    *result = refuse(kConflict, "two captures cannot be merged");
  } else {
    stream.capture = event.capture;
    stream.capture->loose.erase(event.captured_on);
    stream.capture->loose.insert(&stream);
  }
  return true;
}

bool record_in_capture(StreamObject& stream, EventObject& event) {
  const std::lock_guard<std::mutex> lock(captures());
  event.capture = stream.capture;
  event.captured_on = stream.capture == nullptr ? nullptr : &stream;
  return event.capture != nullptr;
}

Code needs_running(StreamObject& stream) {
  const std::lock_guard<std::mutex> lock(captures());
  return stream.capture == nullptr ? Code(kSuccess) : spoil(*stream.capture);
}

Code needs_running_device() {
  const std::lock_guard<std::mutex> lock(captures());
  const std::lock_guard<std::mutex> streams(here().mutex);
  Code result = kSuccess;
  for (const auto& stream : here().streams) {
    if (stream->capture != nullptr) result = spoil(*stream->capture);
  }
  return result;
}

}  // namespace fake

FAKE Code aclmdlRICaptureBegin(Stream handle, int mode) {
  ENTER_DEVICE(aclmdlRICaptureBegin);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (handle == nullptr) return refuse(kCaptureUnsupported, "the default stream does not capture");
  if (mode != kCaptureRelaxed) return refuse(kInvalidParameter, "only the relaxed mode");
  const std::lock_guard<std::mutex> lock(captures());
  if (stream->capture != nullptr) return refuse(kStreamCaptured, "the stream is capturing");
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  return kSuccess;
}
FAKE Code aclmdlRICaptureEnd(Stream handle, Graph* out) {
  ENTER_DEVICE(aclmdlRICaptureEnd);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  *out = nullptr;
  const std::lock_guard<std::mutex> lock(captures());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return refuse(kNotCaptured, "the stream is not capturing");
  if (capture->origin != stream)
    return refuse(kCaptureUnmatched, "another stream began the capture");
  end(capture);
  if (!capture->valid) return refuse(kCaptureInvalidated, "the capture is invalid");
  capture->loose.erase(stream);
  if (!capture->loose.empty()) return refuse(kUnjoined, "a stream has not joined the origin again");
  auto made = std::make_unique<GraphObject>();
  made->device = stream->device;
  made->nodes = std::make_shared<const Nodes>(std::move(capture->nodes));
  *out = made.get();
  graphs()[*out] = std::move(made);
  return kSuccess;
}
FAKE Code aclmdlRICaptureGetInfo(Stream handle, int* status, Graph* graph) {
  ENTER_DEVICE(aclmdlRICaptureGetInfo);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  const std::lock_guard<std::mutex> lock(captures());
  *graph = nullptr;
  *status = stream->capture == nullptr ? kCaptureNone
            : stream->capture->valid   ? kCaptureActive
                                       : kCaptureBroken;
  return kSuccess;
}

FAKE Code aclmdlRIExecuteAsync(Graph graph, Stream handle) {
  ENTER_DEVICE(aclmdlRIExecuteAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  std::shared_ptr<const Nodes> nodes;
  {
    const std::lock_guard<std::mutex> lock(captures());
    if (graphs().count(graph) == 0 || graph->device != current)
      return refuse(kInvalidParameter, "not a graph of the current device");
    nodes = graph->nodes;
  }
  push(*stream, [nodes] {
    int first = 0;
    for (const Work& node : *nodes) {
      const int failed = node();
      if (first == 0) first = failed;
    }
    return first;
  });
  return kSuccess;
}
FAKE Code aclmdlRIDestroy(Graph graph) {
  ENTER_DEVICE(aclmdlRIDestroy);
  const std::lock_guard<std::mutex> lock(captures());
  return graphs().erase(graph) != 0 ? Code(kSuccess) : refuse(kInvalidParameter, "not a graph");
}
FAKE Code aclmdlRIGetStreams(Graph graph, Stream* streams, uint32_t* size) {
  ENTER_DEVICE(aclmdlRIGetStreams);
  const std::lock_guard<std::mutex> lock(captures());
  if (graphs().count(graph) == 0) return refuse(kInvalidParameter, "not a graph");
  if (*size < 1) return refuse(kArrayTooShort, "the array is too short");
  streams[0] = reinterpret_cast<Stream>(reinterpret_cast<uintptr_t>(graph) + 1);
  *size = 1;
  return kSuccess;
}
FAKE Code aclmdlRIGetTasksByStream(Stream stream, void** tasks, uint32_t* size) {
  ENTER_DEVICE(aclmdlRIGetTasksByStream);
  const std::lock_guard<std::mutex> lock(captures());
  const auto graph = reinterpret_cast<Graph>(reinterpret_cast<uintptr_t>(stream) - 1);
  if (graphs().count(graph) == 0) return refuse(kInvalidParameter, "not a stream of a graph");
  const size_t count = graph->nodes->size();
  if (*size < count) return refuse(kArrayTooShort, "the array is too short");
  for (size_t i = 0; i < count; ++i) tasks[i] = const_cast<Work*>(&(*graph->nodes)[i]);
  *size = static_cast<uint32_t>(count);
  return kSuccess;
}
