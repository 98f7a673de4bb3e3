// Captures and graphs: the work of a capturing stream becomes a list of nodes, which runs in the
// same order with each launch.
#include "captures.h"

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace fake {

using Nodes = std::vector<std::function<void()>>;

struct Capture {
  StreamObject* origin;
  Nodes nodes;
  bool valid = true;
  // Streams whose last work the capture has not yet waited for; at the end, only the origin.
  std::set<StreamObject*> loose;
};

}  // namespace fake

namespace dl::kit::hip {

struct GraphObject {
  int device;
  fake::Nodes nodes;
};
struct ExecutableObject {
  int device;
  std::shared_ptr<const fake::Nodes> nodes;
};

}  // namespace dl::kit::hip

using namespace fake;

namespace {

// Guards the captures of all streams. Never destroyed, like streams.
std::mutex& captures() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

// Live handles.
template <class Object>
class Made {
 public:
  Object* add(std::unique_ptr<Object> made) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Object* const handle = made.get();
    all_[handle] = std::move(made);
    return handle;
  }
  bool has(Object* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return all_.count(handle) != 0;
  }
  Code destroy(Object* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return all_.erase(handle) != 0 ? kSuccess : kInvalidValue;
  }

 private:
  std::mutex mutex_;
  std::map<Object*, std::unique_ptr<Object>> all_;
};

Made<GraphObject>& graphs() {
  static auto& all = *new Made<GraphObject>;
  return all;
}
Made<ExecutableObject>& executables() {
  static auto& all = *new Made<ExecutableObject>;
  return all;
}

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
  return kCaptureUnsupported;
}

}  // namespace

namespace fake {

bool add_node(StreamObject& stream, std::function<void()>& work) {
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
  constexpr Code kIsolation = 905, kMerge = 902;
  if (event.capture == nullptr) {
    // Work enqueued outside of the capture is not part of the graph.
    *result = kIsolation;
  } else if (stream.capture != nullptr && stream.capture != event.capture) {
    *result = kMerge;
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
  return stream.capture == nullptr ? int(kSuccess) : spoil(*stream.capture);
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

FAKE Code hipStreamBeginCapture(Stream handle, int mode) {
  ENTER(hipStreamBeginCapture);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (handle == nullptr) return kCaptureUnsupported;
  if (mode != kCaptureRelaxed) return kInvalidValue;
  const std::lock_guard<std::mutex> lock(captures());
  if (stream->capture != nullptr) return kIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  return kSuccess;
}
FAKE Code hipStreamEndCapture(Stream handle, Graph* out) {
  ENTER(hipStreamEndCapture);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  *out = nullptr;
  const std::lock_guard<std::mutex> lock(captures());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return kIllegalState;
  if (capture->origin != stream) return kCaptureUnmatched;
  end(capture);
  if (!capture->valid) return kCaptureInvalidated;
  capture->loose.erase(stream);
  if (!capture->loose.empty()) return kCaptureUnjoined;
  *out = graphs().add(
      std::unique_ptr<GraphObject>(new GraphObject{stream->device, std::move(capture->nodes)}));
  return kSuccess;
}
FAKE Code hipStreamIsCapturing(Stream handle, int* status) {
  ENTER(hipStreamIsCapturing);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const std::lock_guard<std::mutex> lock(captures());
  constexpr int kNone = 0, kActive = 1, kInvalidated = 2;
  *status = stream->capture == nullptr ? kNone : stream->capture->valid ? kActive : kInvalidated;
  return kSuccess;
}

FAKE Code hipGraphGetNodes(Graph graph, GraphNode* nodes, size_t* count) {
  ENTER(hipGraphGetNodes);
  if (!graphs().has(graph) || nodes != nullptr) return kInvalidValue;
  *count = graph->nodes.size();
  return kSuccess;
}
FAKE Code hipGraphInstantiateWithFlags(Executable* out, Graph graph, unsigned long long flags) {
  ENTER(hipGraphInstantiateWithFlags);
  if (!graphs().has(graph) || flags != 0) return kInvalidValue;
  *out = executables().add(std::unique_ptr<ExecutableObject>(
      new ExecutableObject{graph->device, std::make_shared<const Nodes>(graph->nodes)}));
  return kSuccess;
}
FAKE Code hipGraphLaunch(Executable graph, Stream handle) {
  ENTER(hipGraphLaunch);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (!executables().has(graph) || graph->device != current) return kInvalidValue;
  push(*stream, [nodes = graph->nodes] {
    for (const auto& node : *nodes) node();
  });
  return kSuccess;
}
FAKE Code hipGraphDestroy(Graph graph) {
  ENTER(hipGraphDestroy);
  return graphs().destroy(graph);
}
FAKE Code hipGraphExecDestroy(Executable graph) {
  ENTER(hipGraphExecDestroy);
  return executables().destroy(graph);
}
