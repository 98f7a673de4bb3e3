// Members of a Runtime's Api (runtime.h) and of its extensions (graph.h, kernel.h) that NVIDIA's
// driver and HIP share: the driver's functions take the same arguments as the members.
//
//   CudaDriver& the_driver();
//   class Api : public dl::kit::DriverCalls<CudaDriver, the_driver> { … };
#ifndef DL_KIT_DRIVER_CALLS_H_
#define DL_KIT_DRIVER_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "diopi/types.gen.h"
#include "dl/kernel.h"
#include "dl/kit/base.h"
#include "dl/kit/captures.h"
#include "dl/vendor.h"

DL_KIT_BEGIN

// The driver's attribute numbers for the fields of dl_kernel_properties_t; Y and Z follow X.
struct KernelAttributes {
  int grid_x, block_x, block_threads, warp_size, shared_bytes;
};

// The driver's attribute numbers for the fields of dl_device_properties_t.
struct DeviceAttributes {
  int major, minor, multiprocessor_count, warp_size;
};

template <class Driver, Driver& (*kDriver)()>
class DriverCalls {
 public:
  using Result = typename Driver::Code;
  using Stream = typename Driver::Stream;
  using Event = typename Driver::Event;

  Result memory_info(size_t* free_bytes, size_t* total) {
    return kDriver().memory_info(free_bytes, total);
  }
  Result free_host(void* memory) { return kDriver().host_free(memory); }

  Result stream_create(Stream* stream, int priority) {
    constexpr unsigned kNonBlocking = 1;  // no synchronization with the default stream
    return kDriver().stream_create(stream, kNonBlocking, priority);
  }
  Result stream_destroy(Stream stream) { return kDriver().stream_destroy(stream); }
  Result stream_synchronize(Stream stream) { return kDriver().stream_synchronize(stream); }
  Result stream_query(Stream stream) { return kDriver().stream_query(stream); }
  Result stream_wait_event(Stream stream, Event event) {
    return kDriver().stream_wait_event(stream, event, 0);
  }

  Result event_create(Event* event, bool timing) {
    constexpr unsigned kDisableTiming = 2;
    return kDriver().event_create(event, timing ? 0 : kDisableTiming);
  }
  Result event_destroy(Event event) { return kDriver().event_destroy(event); }
  Result event_record(Event event, Stream stream) { return kDriver().event_record(event, stream); }
  Result event_synchronize(Event event) { return kDriver().event_synchronize(event); }
  Result event_query(Event event) { return kDriver().event_query(event); }
  Result event_elapsed(float* milliseconds, Event start, Event end) {
    return kDriver().event_elapsed(milliseconds, start, end);
  }

  // Members for graph.h.
  using Graph = typename Driver::Graph;
  using Executable = typename Driver::Executable;
  Result capture_begin(Stream stream) { return kDriver().capture_begin(stream, kCaptureRelaxed); }
  Result capture_end(Stream stream, Graph* graph) { return kDriver().capture_end(stream, graph); }
  Result capture_status(Stream stream, bool* capturing) {
    int status = 0;
    const Result result = kDriver().capture_status(stream, &status);
    // An invalidated capture is active until it is ended.
    *capturing = status != 0;
    return result;
  }
  Result graph_nodes(Graph graph, size_t* count) {
    return kDriver().graph_nodes(graph, nullptr, count);
  }
  Result graph_instantiate(Executable* made, Graph graph) {
    return kDriver().graph_instantiate(made, graph, 0);
  }
  Result graph_launch(Executable graph, Stream stream) {
    return kDriver().graph_launch(graph, stream);
  }
  Result graph_destroy(Graph graph) { return kDriver().graph_destroy(graph); }
  Result executable_destroy(Executable graph) { return kDriver().executable_destroy(graph); }

  // Members for peer.h.
  using IpcHandle = typename Driver::IpcHandle;

  // Members for kernel.h.
  using Image = typename Driver::Image;
  using Kernel = typename Driver::Kernel;
  Result image_unload(Image image) { return kDriver().image_unload(image); }
  Result image_function(Kernel* kernel, Image image, const char* name) {
    return kDriver().image_function(kernel, image, name);
  }
  Result function_attribute(int* value, int attribute, Kernel kernel) {
    return kDriver().function_attribute(value, attribute, kernel);
  }
  Result launch(Kernel kernel, const uint32_t (&grid)[3], const uint32_t (&block)[3],
                uint64_t shared, Stream stream, void** arguments) {
    return kDriver().launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                            static_cast<unsigned>(shared), stream, arguments, nullptr);
  }

 protected:
  // Returns the text of an error, valid until the thread's next call.
  static const char* format_message(Result result, const char* remedy, const char* hint) {
    thread_local std::string text;
    text = kDriver().describe(result) + remedy + hint;
    return text.c_str();
  }

  // Reads all properties of a device except its architecture.
  static Result read_properties(int device, const DeviceAttributes& attributes,
                                dl_device_properties_t* all) {
    Driver& from = kDriver();
    size_t total = 0;
    if (const Result failed = from.device_name(all->name, sizeof all->name, device)) return failed;
    if (const Result failed = from.device_total_memory(&total, device)) return failed;
    all->total_memory = total;
    const struct {
      int attribute;
      int32_t* to;
    } kFields[] = {{attributes.major, &all->major},
                   {attributes.minor, &all->minor},
                   {attributes.multiprocessor_count, &all->multiprocessor_count},
                   {attributes.warp_size, &all->warp_size}};
    for (const auto& field : kFields) {
      if (const Result failed = from.device_attribute(field.to, field.attribute, device))
        return failed;
    }
    for (const diopiDtype_t dtype :
         {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
          diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
          diopi_dtype_float32, diopi_dtype_float64}) {
      all->dtype_mask |= uint64_t{1} << static_cast<unsigned>(dtype);
    }
    return 0;
  }

  // Asks the driver whether kernels of a device can access the memory of another device.
  static Result read_access(int device, int peer, bool* can) {
    int answer = 0;
    const Result result = kDriver().can_access(&answer, device, peer);
    *can = answer != 0;
    return result;
  }

  // Reads the fields of dl_kernel_properties_t that are device attributes of the driver.
  static Result read_limits(int device, const KernelAttributes& attributes,
                            dl_kernel_properties_t* all) {
    Result failed = 0;
    const auto read = [&](int attribute) {
      int value = 0;
      const Result result = kDriver().device_attribute(&value, attribute, device);
      if (result != 0) failed = result;
      return static_cast<uint32_t>(value);
    };
    for (int d = 0; d < 3; ++d) {
      all->max_grid[d] = read(attributes.grid_x + d);
      all->max_block[d] = read(attributes.block_x + d);
    }
    all->max_block_threads = read(attributes.block_threads);
    all->warp_size = read(attributes.warp_size);
    all->max_shared_bytes = read(attributes.shared_bytes);
    return failed;
  }
};

DL_KIT_END

#endif  // DL_KIT_DRIVER_CALLS_H_
