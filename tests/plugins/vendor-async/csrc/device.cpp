#include "device.h"

#include <algorithm>
#include <string>
#include <utility>

#include "error.h"
#include "handle.h"

namespace dl::async_test {

Device::Device(int32_t index, uint64_t instance, const Options& options)
    : index_(index),
      memory_(index, options.memory_bytes),
      group_(options.delay_us, index, instance, options.activities),
      default_stream_(std::make_shared<Stream>(group_, nullptr)) {}

Device::~Device() { cancel(); }

void* Device::create_stream() {
  void* handle = next_handle();
  auto stream = std::make_shared<Stream>(group_, handle);
  const std::lock_guard lock(mutex_);
  streams_[handle] = std::move(stream);
  return handle;
}

void Device::destroy_stream(void* handle) {
  std::vector<std::shared_ptr<Stream>>
      finished;  // their threads are joined after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = find(handle);
  found->second->close();
  closed_.push_back(std::move(found->second));
  streams_.erase(found);
  const auto running = [](const std::shared_ptr<Stream>& stream) { return !stream->finished(); };
  const auto middle = std::partition(closed_.begin(), closed_.end(), running);
  std::move(middle, closed_.end(), std::back_inserter(finished));
  closed_.erase(middle, closed_.end());
}

std::shared_ptr<Stream> Device::stream(void* handle) {
  const std::lock_guard lock(mutex_);
  return handle == nullptr ? default_stream_ : find(handle)->second;
}

void Device::synchronize() {
  for (const auto& stream : all_streams()) stream->synchronize();
  group_.report();
}

void Device::drain() {
  for (const auto& stream : all_streams()) stream->drain();
}

void Device::set_peer(int32_t peer, bool enabled) {
  const std::lock_guard lock(mutex_);
  if (enabled) {
    peers_.insert(peer);
  } else {
    peers_.erase(peer);
  }
}

bool Device::reaches(int32_t peer) {
  const std::lock_guard lock(mutex_);
  return peer == index_ || peers_.count(peer) == 1;
}

void Device::cancel() {
  for (const auto& stream : all_streams()) stream->cancel();
}

std::vector<std::shared_ptr<Stream>> Device::all_streams() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> all = closed_;
  all.push_back(default_stream_);
  for (const auto& entry : streams_) all.push_back(entry.second);
  return all;
}

std::map<void*, std::shared_ptr<Stream>>::iterator Device::find(void* handle) {
  const auto found = streams_.find(handle);
  if (found == streams_.end()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the handle " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
                    " is not a stream of device " + std::to_string(index_) +
                    "; pass what stream_create returned for this device and was not destroyed");
  }
  return found;
}

}  // namespace dl::async_test
