// Driver API: stream capture, and graphs, which are lists of work in the order of the calls.

#include "state.h"

using namespace sim;

namespace {

// All graphs by handle; streams share the graphs that they capture.
std::map<CUgraph, std::shared_ptr<CUgraph_st>>& graphs() {
  static auto* const kGraphs = new std::map<CUgraph, std::shared_ptr<CUgraph_st>>;
  return *kGraphs;
}
std::set<CUgraphExec>& executables() {
  static auto* const kExecutables = new std::set<CUgraphExec>;
  return *kExecutables;
}

std::shared_ptr<CUgraph_st> graph_of(CUgraph graph) {
  const std::lock_guard<std::mutex> lock(Driver::get().mutex);
  const auto found = graphs().find(graph);
  return found == graphs().end() ? nullptr : found->second;
}

CUresult instantiate(CUgraphExec* made, CUgraph graph) {
  if (made == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = graph_of(graph);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  *made = new CUgraphExec_st{found->nodes};
  const std::lock_guard<std::mutex> lock(Driver::get().mutex);
  executables().insert(*made);
  return CUDA_SUCCESS;
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode) {
  DL_ENTER("cuStreamBeginCapture");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  // The legacy stream cannot be captured.
  if (stream == stream->context->standard.get()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_shared<CUgraph_st>();
  stream->capture->origin = stream;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  DL_ENTER("cuStreamEndCapture");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  const std::shared_ptr<CUgraph_st> made = stream->capture;
  if (!made) return CUDA_ERROR_ILLEGAL_STATE;
  if (made->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  {
    const std::lock_guard<std::mutex> lock(stream->context->mutex);
    for (CUstream each : stream->context->streams)
      if (each->capture == made) each->capture = nullptr;
  }
  if (made->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const std::lock_guard<std::mutex> lock(Driver::get().mutex);
  graphs()[made.get()] = made;
  *graph = made.get();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  DL_ENTER("cuStreamIsCapturing");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  DL_ENTER_ANY("cuThreadExchangeStreamCaptureMode");
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuGraphCreate(CUgraph* graph, unsigned int) {
  DL_ENTER_ANY("cuGraphCreate");
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<CUgraph_st>();
  *graph = made.get();
  const std::lock_guard<std::mutex> lock(Driver::get().mutex);
  graphs()[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  DL_ENTER_ANY("cuGraphGetNodes");
  const auto found = graph_of(graph);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  // Nodes do not have handles, so only their number is available.
  if (count == nullptr || nodes != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  *count = found->nodes.size();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph,
                                                       unsigned long long) {
  DL_ENTER("cuGraphInstantiate");
  return instantiate(made, graph);
}

DL_EXPORT CUresult CUDAAPI cuGraphUpload(CUgraphExec, CUstream) {
  DL_ENTER("cuGraphUpload");
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuGraphLaunch(CUgraphExec graph, CUstream handle) {
  DL_ENTER("cuGraphLaunch");
  CUstream stream = stream_of(handle);
  {
    const std::lock_guard<std::mutex> lock(Driver::get().mutex);
    if (stream == nullptr || executables().count(graph) == 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  return enqueue(stream, [nodes = graph->nodes] {
    for (const Work& each : nodes) each();
  });
}

DL_EXPORT CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec graph) {
  DL_ENTER_ANY("cuGraphExecDestroy");
  {
    const std::lock_guard<std::mutex> lock(Driver::get().mutex);
    if (executables().erase(graph) == 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  delete graph;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  DL_ENTER_ANY("cuGraphDestroy");
  const std::lock_guard<std::mutex> lock(Driver::get().mutex);
  return graphs().erase(graph) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
