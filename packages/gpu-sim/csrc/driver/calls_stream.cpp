// Driver API: streams, events, host functions.

#include "state.h"

using namespace sim;

namespace {

CUresult make_stream(CUstream* stream, unsigned flags, int priority) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUcontext context = current_context();
  auto* made = new CUstream_st(context, flags, std::max(-5, std::min(priority, 0)));
  const std::lock_guard<std::mutex> lock(context->mutex);
  context->streams.insert(made);
  *stream = made;
  return CUDA_SUCCESS;
}

bool is_event(CUevent event) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  return driver.events.count(event) != 0;
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned int flags) {
  DL_ENTER("cuStreamCreate");
  return make_stream(stream, flags, 0);
}

DL_EXPORT CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags,
                                                      int priority) {
  DL_ENTER("cuStreamCreateWithPriority");
  return make_stream(stream, flags, priority);
}

DL_EXPORT CUresult CUDAAPI cuStreamDestroy_v2(CUstream handle) {
  DL_ENTER_ANY("cuStreamDestroy");
  CUstream stream = stream_of(handle);
  if (stream == nullptr || stream != handle) return CUDA_ERROR_INVALID_HANDLE;
  {
    const std::lock_guard<std::mutex> lock(stream->context->mutex);
    if (stream->context->streams.erase(stream) == 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  // The destructor waits until the stream's thread has completed all enqueued work.
  delete stream;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  DL_ENTER("cuStreamSynchronize");
  CUstream stream = stream_of(handle);
  return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : wait_for(stream);
}

DL_EXPORT CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  DL_ENTER("cuStreamQuery");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->idle()) return stream->context->failed.load();
  Journal::get().poll();
  return CUDA_ERROR_NOT_READY;
}

DL_EXPORT CUresult CUDAAPI cuStreamGetPriority(CUstream handle, int* priority) {
  DL_ENTER("cuStreamGetPriority");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  DL_ENTER("cuStreamGetFlags");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext* context) {
  DL_ENTER("cuStreamGetCtx");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = stream->context;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int) {
  DL_ENTER("cuStreamWaitEvent");
  CUstream stream = stream_of(handle);
  if (stream == nullptr || !is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Mark> mark;
  std::shared_ptr<CUgraph_st> capture;
  {
    const std::lock_guard<std::mutex> lock(event->mutex);
    mark = event->mark;
    capture = event->capture;
  }
  if (capture) {
    // The stream joins the capture. Captured work is ordered by the order of the calls.
    if (stream->capture && stream->capture != capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    stream->capture = capture;
    return CUDA_SUCCESS;
  }
  if (stream->capture || !mark) return CUDA_SUCCESS;
  return enqueue(stream, [mark] { mark->wait(); });
}

DL_EXPORT CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  DL_ENTER("cuLaunchHostFunc");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, [function, data] { function(data); });
}

DL_EXPORT CUresult CUDAAPI cuStreamAddCallback(CUstream handle, CUstreamCallback function,
                                               void* data, unsigned int) {
  DL_ENTER("cuStreamAddCallback");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, [stream, handle, function, data] {
    function(handle, stream->context->failed, data);
  });
}

DL_EXPORT CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned int flags) {
  DL_ENTER("cuEventCreate");
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto* made = new CUevent_st;
  made->flags = flags;
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  driver.events.insert(made);
  *event = made;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuEventDestroy_v2(CUevent event) {
  DL_ENTER_ANY("cuEventDestroy");
  Driver& driver = Driver::get();
  {
    const std::lock_guard<std::mutex> lock(driver.mutex);
    if (driver.events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  delete event;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuEventRecord(CUevent event, CUstream handle) {
  DL_ENTER("cuEventRecord");
  CUstream stream = stream_of(handle);
  if (stream == nullptr || !is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    const std::lock_guard<std::mutex> lock(event->mutex);
    event->capture = stream->capture;
    event->mark = nullptr;
    return CUDA_SUCCESS;
  }
  auto mark = std::make_shared<Mark>();
  {
    const std::lock_guard<std::mutex> lock(event->mutex);
    event->capture = nullptr;
    event->mark = mark;
  }
  record(stream, mark);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int) {
  return cuEventRecord(event, handle);
}

DL_EXPORT CUresult CUDAAPI cuEventQuery(CUevent event) {
  DL_ENTER("cuEventQuery");
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard<std::mutex> lock(event->mutex);
  if (event->capture) return CUDA_ERROR_CAPTURED_EVENT;
  if (!event->mark || event->mark->done()) return CUDA_SUCCESS;
  Journal::get().poll();
  return CUDA_ERROR_NOT_READY;
}

DL_EXPORT CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  DL_ENTER("cuEventSynchronize");
  if (!is_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard<std::mutex> lock(event->mutex);
    if (event->capture) return CUDA_ERROR_CAPTURED_EVENT;
    mark = event->mark;
  }
  note_wait();
  if (mark) mark->wait();
  return current_context()->failed;
}

DL_EXPORT CUresult CUDAAPI cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  DL_ENTER("cuEventElapsedTime");
  if (!is_event(begin) || !is_event(end)) return CUDA_ERROR_INVALID_HANDLE;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0 || !begin->mark || !end->mark)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!begin->mark->done() || !end->mark->done()) return CUDA_ERROR_NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->mark->time() - begin->mark->time()).count();
  return CUDA_SUCCESS;
}
