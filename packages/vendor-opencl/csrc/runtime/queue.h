// Streams and events: in-order command queues, and markers in them.
#ifndef DL_OPENCL_RUNTIME_QUEUE_H_
#define DL_OPENCL_RUNTIME_QUEUE_H_

#include <cstdint>
#include <mutex>
#include <utility>

#include "runtime/device.h"

namespace dl::opencl {

// A reference to OpenCL's event object; empty at first.
class EventReference {
 public:
  EventReference() = default;
  // Takes over a reference that the driver has created.
  EventReference(const Driver& driver, cl::EventObject object)
      : driver_(&driver), object_(object) {}
  EventReference(const EventReference& other) : driver_(other.driver_), object_(other.object_) {
    if (object_ != nullptr) (void)driver_->RetainEvent(object_);
  }
  EventReference(EventReference&& other) noexcept
      : driver_(other.driver_), object_(std::exchange(other.object_, nullptr)) {}
  EventReference& operator=(EventReference other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~EventReference() {
    if (object_ != nullptr) (void)driver_->ReleaseEvent(object_);
  }

  explicit operator bool() const { return object_ != nullptr; }
  const cl::EventObject& object() const { return object_; }
  const Driver& driver() const { return *driver_; }
  // Throws kit::Error if the work failed.
  bool finished() const;
  void wait() const;

 private:
  const Driver* driver_ = nullptr;
  cl::EventObject object_ = nullptr;
};

// An in-order queue. Calls are ordered by the caller, except for the default queue, which several
// threads use; hence the mutex.
class Queue {
 public:
  // A higher priority is a lower number; 0 is the default. Throws kit::Error.
  Queue(Device& device, cl::Context context, int priority);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Enqueued work still runs.
  ~Queue();

  // The queue of a stream; NULL is the default queue of the thread's current device.
  static Queue& of(void* stream);

  Device& device() const { return device_; }

  // Runs `body(handle)`, which enqueues work, with the queue locked.
  template <class Body>
  void enqueue(const Body& body) {
    const std::lock_guard<std::mutex> lock(mutex_);
    body(handle_);
    ++submitted_;
  }

  void copy(void* to, const void* from, size_t bytes);
  void fill(void* to, unsigned char value, size_t bytes);
  void synchronize();
  bool finished();
  // Returns a marker after all work so far, which is submitted to the device.
  EventReference mark();
  void wait_for(const EventReference& event, const Device& of);

 private:
  EventReference mark_locked();
  cl::Int flush();

  Device& device_;
  const Driver& driver_;
  cl::CommandQueue handle_ = nullptr;
  std::mutex mutex_;
  // Numbers of commands: enqueued, before the marker, and known to have finished.
  uint64_t submitted_ = 0, marked_ = 0, finished_ = 0;
  EventReference marker_;
};

// A recorded point of a queue.
class Event {
 public:
  void record(Queue& queue);
  bool finished();
  void synchronize();
  void make_wait(Queue& queue);
  // Milliseconds on the device's clock between two finished events.
  static double elapsed(Event& start, Event& end);

 private:
  EventReference recorded(Device** device = nullptr);
  uint64_t timestamp();

  std::mutex mutex_;
  EventReference marker_;
  Device* device_ = nullptr;
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_QUEUE_H_
