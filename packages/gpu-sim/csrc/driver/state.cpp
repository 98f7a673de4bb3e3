#include "state.h"

#include <algorithm>
#include <utility>

namespace sim {

Driver::Driver() {
  const Settings& settings = Settings::get();
  for (int i = 0; i < static_cast<int>(settings.visible.size()); ++i) {
    devices.push_back(std::make_unique<Device>(i, settings.memory));
    CUctx_st& context = devices.back()->primary;
    context.device = i;
    context.primary = true;
    context.standard = std::make_unique<CUstream_st>(&context, 0, 0);
    contexts.insert(&context);
  }
}

// Never destroyed, because stream threads run until the process ends.
Driver& Driver::get() {
  static Driver* const kDriver = new Driver;
  return *kDriver;
}

int Driver::owner_of(uint64_t address) const {
  if (!DeviceMemory::is_device_address(address)) return -1;
  const auto index = static_cast<int>(address >> 48 & 0x3fff);
  return index < static_cast<int>(devices.size()) ? index : -1;
}

bool Driver::is_pinned(const void* pointer, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto place = reinterpret_cast<uintptr_t>(pointer);
  auto next = host.upper_bound(const_cast<void*>(pointer));
  if (next == host.begin()) return false;
  const auto& [begin, size] = *std::prev(next);
  const uintptr_t offset = place - reinterpret_cast<uintptr_t>(begin);
  return offset <= size && bytes <= size - offset;
}

std::vector<CUcontext>& context_stack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

CUcontext current_context() {
  auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}

int current_capability() {
  const CUcontext context = current_context();
  return Settings::get().capability_of(context == nullptr ? 0 : context->device);
}

CUstream stream_of(CUstream handle) {
  CUcontext context = current_context();
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
    return context == nullptr ? nullptr : context->standard.get();
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  for (CUcontext each : driver.contexts) {
    const std::lock_guard<std::mutex> inner(each->mutex);
    if (each->streams.count(handle) != 0 || each->standard.get() == handle) return handle;
  }
  return nullptr;
}

namespace {

/** Order the legacy stream and the blocking streams with respect to each other. */
void order_with_others(CUstream stream) {
  CUcontext context = stream->context;
  std::vector<std::shared_ptr<Mark>> marks;
  {
    const std::lock_guard<std::mutex> lock(context->mutex);
    if (stream == context->standard.get()) {
      for (CUstream each : context->streams)
        if (each->blocking() && !each->capture && !each->idle()) marks.push_back(each->mark());
    } else if (stream->blocking() && !context->standard->idle()) {
      marks.push_back(context->standard->mark());
    }
  }
  for (const auto& mark : marks) stream->add([mark] { mark->wait(); });
}

/** The current driver call of a thread, and whether it has waited. */
struct Call {
  const char* name = "";
  bool waited = false;
};

Call& call_of_thread() {
  thread_local Call call;
  return call;
}

}  // namespace

CUresult enqueue(CUstream stream, Work work) {
  if (stream->capture) {
    if (stream->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->capture->nodes.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  order_with_others(stream);
  stream->add(std::move(work));
  return CUDA_SUCCESS;
}

void record(CUstream stream, std::shared_ptr<Mark> mark) {
  order_with_others(stream);
  stream->add(std::move(mark));
}

void note_wait() {
  Call& call = call_of_thread();
  if (!std::exchange(call.waited, true)) Journal::get().wait(call.name);
}

CUresult wait_for(CUstream stream) {
  if (stream->capture) {
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  note_wait();
  order_with_others(stream);
  stream->mark()->wait();
  return stream->context->failed;
}

CUresult wait_for_all(CUcontext context) {
  note_wait();
  std::vector<std::shared_ptr<Mark>> marks;
  {
    const std::lock_guard<std::mutex> lock(context->mutex);
    for (CUstream each : context->streams)
      if (each->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    for (CUstream each : context->streams) marks.push_back(each->mark());
    marks.push_back(context->standard->mark());
  }
  for (const auto& mark : marks) mark->wait();
  return context->failed;
}

Entry::Entry(const char* name, bool needs_context) : result(Journal::get().call(name)) {
  call_of_thread() = {name, false};
  if (result != CUDA_SUCCESS) return;
  if (!Driver::get().initialised) {
    result = CUDA_ERROR_NOT_INITIALIZED;
  } else if (needs_context) {
    CUcontext context = current_context();
    result = context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : context->failed.load();
  }
}

}  // namespace sim
