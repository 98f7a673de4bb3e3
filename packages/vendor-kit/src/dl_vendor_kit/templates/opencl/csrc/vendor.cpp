#include "vendor.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace __chip__ {

namespace kit = dl::kit;

namespace {

// The source of the kernels; setup.py writes the file.
constexpr const char* kSource =
#include "kernels.inc"
    ;
constexpr uint32_t kAlignment = 64;  // of blocks, as the contract requires

// The process's driver, which is never closed.
Driver& driver() {
  static Driver driver;
  return driver;
}

// Throws if a call of the driver failed. `operation` is a literal.
void check(int32_t code, const char* operation) {
  if (code == kSuccess) return;
  const dl_code_t kind = code == kOutOfHostMemory ? DL_OUT_OF_MEMORY : DL_ERROR;
  throw kit::Error(kind, std::string(operation) + " returned " + std::to_string(code), operation);
}

// Enqueues a command by `body(queue, &event)`, and submits it: other queues may wait for it.
template <class Body>
Marker enqueue(Stream& stream, const char* operation, const Body& body) {
  const std::lock_guard<std::mutex> lock(stream.mutex);
  EventId made = nullptr;
  check(body(stream.queue, &made), operation);
  stream.last = Marker(made, [](EventId event) { (void)driver().ReleaseEvent(event); });
  check(driver().Flush(stream.queue), "clFlush");
  return stream.last;
}

bool is_complete(const Marker& marker) {
  if (marker == nullptr) return true;
  int32_t status = 0;
  check(driver().GetEventInfo(marker.get(), kEventStatus, sizeof status, &status, nullptr),
        "clGetEventInfo");
  if (status < 0) check(status, "a command of the device");
  return status == kComplete;
}

void wait(const Marker& marker) {
  if (marker == nullptr) return;
  const EventId event = marker.get();
  check(driver().WaitForEvents(1, &event), "clWaitForEvents");
}

double milliseconds(const Marker& marker) {
  if (marker == nullptr || !is_complete(marker))
    throw kit::Error(DL_INVALID_ARGUMENT, "an event was not recorded or is not finished");
  uint64_t nanoseconds = 0;
  check(driver().GetEventProfilingInfo(marker.get(), kTimeOfEnd, sizeof nanoseconds, &nanoseconds,
                                       nullptr),
        "clGetEventProfilingInfo");
  return static_cast<double>(nanoseconds) * 1e-6;
}

// Returns the first device with shared virtual memory.
DeviceId find_device() {
  Platform platforms[16] = {};
  uint32_t platform_count = 0;
  const int32_t code = driver().GetPlatformIDs(16, platforms, &platform_count);
  if (code != kNoPlatform) check(code, "clGetPlatformIDs");
  for (uint32_t i = 0; i < platform_count && i < 16; ++i) {
    DeviceId devices[16] = {};
    uint32_t device_count = 0;
    (void)driver().GetDeviceIDs(platforms[i], kAllDevices, 16, devices, &device_count);
    for (uint32_t j = 0; j < device_count && j < 16; ++j) {
      uint64_t kinds = 0;
      (void)driver().GetDeviceInfo(devices[j], kDeviceSvm, sizeof kinds, &kinds, nullptr);
      if (kinds != 0) return devices[j];
    }
  }
  throw kit::Error(DL_UNAVAILABLE, "no OpenCL driver has a device with shared virtual memory");
}

// The marker of an event; null if it was never recorded.
Marker& marker_of(void* event) { return *static_cast<Marker*>(event); }

Marker last_of(Stream& stream) {
  const std::lock_guard<std::mutex> lock(stream.mutex);
  return stream.last;
}

}  // namespace

// Devices. The first call finds the device.

bool Vendor::present() { return driver().present(); }

int32_t Vendor::device_count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (context_ == nullptr) {
    device_ = find_device();
    int32_t code = kSuccess;
    context_ = driver().CreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
  }
  return 1;
}

Vendor::~Vendor() {
  for (const auto& stream : streams_) (void)driver().ReleaseCommandQueue(stream->queue);
  if (program_ != nullptr) (void)driver().ReleaseProgram(program_);
  if (context_ != nullptr) (void)driver().ReleaseContext(context_);
}

dl_device_properties_t Vendor::device_properties(int32_t) {
  dl_device_properties_t properties{};
  char name[sizeof properties.name] = {};
  (void)driver().GetDeviceInfo(device_, kDeviceName, sizeof name - 1, name, nullptr);
  std::snprintf(properties.name, sizeof properties.name, "%s", name);
  check(driver().GetDeviceInfo(device_, kDeviceMemory, sizeof properties.total_memory,
                               &properties.total_memory, nullptr),
        "clGetDeviceInfo");
  properties.dtype_mask = uint64_t{1} << diopi_dtype_float32;
  return properties;
}

void Vendor::device_synchronize(int32_t) {
  std::vector<Marker> markers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    markers = unfinished_;
    for (const auto& stream : streams_) markers.push_back(last_of(*stream));
  }
  for (const Marker& marker : markers) wait(marker);
}

// Memory.

void* Vendor::memory_allocate(int32_t, uint64_t bytes) {
  void* const memory = driver().SVMAlloc(context_, kReadWrite, bytes, kAlignment);
  if (memory == nullptr)
    throw kit::Error(DL_OUT_OF_MEMORY, "the device has not enough free memory", "clSVMAlloc");
  return memory;
}

void Vendor::memory_free(int32_t, void* memory) { driver().SVMFree(context_, memory); }

// The host may reuse or read its side of a copy when this returns.
void Vendor::memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t kind,
                         void* stream) {
  if (bytes == 0) return;
  const Marker copied =
      enqueue(stream_of(stream), "clEnqueueSVMMemcpy", [&](Queue queue, EventId* event) {
        return driver().EnqueueSVMMemcpy(queue, 0, to, from, bytes, 0, nullptr, event);
      });
  if (kind != DL_COPY_DEVICE_TO_DEVICE) wait(copied);
}

void Vendor::memory_set(int32_t, void* memory, int32_t value, uint64_t bytes, void* stream) {
  if (bytes == 0) return;
  const auto byte = static_cast<unsigned char>(value);
  enqueue(stream_of(stream), "clEnqueueSVMMemFill", [&](Queue queue, EventId* event) {
    return driver().EnqueueSVMMemFill(queue, memory, &byte, 1, bytes, 0, nullptr, event);
  });
}

// Streams. This vendor does not use priorities.

Stream& Vendor::create_stream() {
  auto stream = std::make_unique<Stream>();
  int32_t code = kSuccess;
  stream->queue = driver().CreateCommandQueueWithProperties(context_, device_, kTimedQueue, &code);
  check(code, "clCreateCommandQueueWithProperties");
  streams_.push_back(std::move(stream));
  return *streams_.back();
}

Stream& Vendor::stream_of(void* stream) {
  if (stream != nullptr) return *static_cast<Stream*>(stream);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (default_stream_ == nullptr) default_stream_ = &create_stream();
  return *default_stream_;
}

void* Vendor::stream_create(int32_t, int32_t) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return &create_stream();
}

// Enqueued commands still run, and device_synchronize waits for them.
void Vendor::stream_destroy(int32_t, void* stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unfinished_.erase(std::remove_if(unfinished_.begin(), unfinished_.end(), is_complete),
                    unfinished_.end());
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& each) { return each.get() == stream; });
  if (found == streams_.end()) throw kit::Error(DL_INVALID_ARGUMENT, "the stream does not exist");
  unfinished_.push_back(last_of(**found));
  check(driver().ReleaseCommandQueue((*found)->queue), "clReleaseCommandQueue");
  streams_.erase(found);
}

void Vendor::stream_synchronize(int32_t, void* stream) { wait(last_of(stream_of(stream))); }

bool Vendor::stream_query(int32_t, void* stream) { return is_complete(last_of(stream_of(stream))); }

void Vendor::stream_wait_event(int32_t, void* stream, void* event) {
  const Marker marker = marker_of(event);
  if (marker == nullptr) return;
  const EventId recorded = marker.get();
  enqueue(stream_of(stream), "clEnqueueBarrierWithWaitList", [&](Queue queue, EventId* made) {
    return driver().EnqueueBarrierWithWaitList(queue, 1, &recorded, made);
  });
}

// Events. Queues always measure times, so that DL_EVENT_TIMING changes nothing.

void* Vendor::event_create(int32_t, uint64_t) { return new Marker; }

void Vendor::event_destroy(int32_t, void* event) { delete static_cast<Marker*>(event); }

// Waits that were enqueued before still wait for the marker that they got.
void Vendor::event_record(int32_t, void* event, void* stream) {
  marker_of(event) =
      enqueue(stream_of(stream), "clEnqueueMarkerWithWaitList", [](Queue queue, EventId* made) {
        return driver().EnqueueMarkerWithWaitList(queue, 0, nullptr, made);
      });
}

void Vendor::event_synchronize(int32_t, void* event) { wait(marker_of(event)); }

bool Vendor::event_query(int32_t, void* event) { return is_complete(marker_of(event)); }

double Vendor::event_elapsed(int32_t, void* start, void* end) {
  return milliseconds(marker_of(end)) - milliseconds(marker_of(start));
}

// Kernels.

Program Vendor::program() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (program_ != nullptr) return program_;
  int32_t code = kSuccess;
  const char* source = kSource;
  Program made = driver().CreateProgramWithSource(context_, 1, &source, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  code = driver().BuildProgram(made, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
  if (code != kSuccess) {
    std::string log(4096, '\0');
    (void)driver().GetProgramBuildInfo(made, device_, kBuildLog, log.size(), log.data(), nullptr);
    (void)driver().ReleaseProgram(made);
    throw kit::Error(DL_ERROR, std::string("kernels.cl does not compile: ") + log.c_str(),
                     "clBuildProgram");
  }
  return program_ = made;
}

void Vendor::run(Stream& stream, const char* name, const void* arguments, size_t bytes,
                 const void* const (&blocks)[3], size_t items) {
  int32_t code = kSuccess;
  // Arguments are stored in the kernel object: each call has its own, because of other threads.
  const std::unique_ptr<KernelObject, void (*)(Kernel)> kernel(
      driver().CreateKernel(program(), name, &code),
      [](Kernel made) { (void)driver().ReleaseKernel(made); });
  check(code, "clCreateKernel");
  check(driver().SetKernelArg(kernel.get(), 0, bytes, arguments), "clSetKernelArg");
  // The kernel finds these addresses in its argument, which OpenCL does not look into. Empty
  // tensors have none.
  const void* used[3];
  size_t count = 0;
  for (const void* block : blocks) {
    if (block != nullptr) used[count++] = block;
  }
  if (count > 0)
    check(driver().SetKernelExecInfo(kernel.get(), kKernelSvmPointers, count * sizeof *used, used),
          "clSetKernelExecInfo");
  enqueue(stream, "clEnqueueNDRangeKernel", [&](Queue queue, EventId* event) {
    return driver().EnqueueNDRangeKernel(queue, kernel.get(), 1, nullptr, &items, nullptr, 0,
                                         nullptr, event);
  });
}

}  // namespace __chip__

// The library's only exported symbol.
DL_KIT_VENDOR(__chip__::Vendor)
