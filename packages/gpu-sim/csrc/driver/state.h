#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../code/code.h"
#include "../memory/device_memory.h"
#include "journal.h"
#include "settings.h"
#include "stream.h"

namespace sim {

/** A parsed module whose variables are stored in the memory of a device. */
class LoadedModule : public Symbols {
 public:
  /** Throws PtxError, std::bad_alloc. */
  LoadedModule(std::shared_ptr<Module> module, DeviceMemory& memory);
  ~LoadedModule() override;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  uint64_t address_of(std::string_view name) const override;
  uint64_t bytes_of(std::string_view name) const;
  const Module& module() const { return *module_; }
  /** Return the kernel of that name, decoded on first use. Throws PtxError. */
  std::shared_ptr<Image> image(const std::string& kernel);

 private:
  std::shared_ptr<Module> module_;
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::map<std::string_view, std::pair<uint64_t, uint64_t>> variables_;
  std::map<std::string, std::shared_ptr<Image>> images_;
};

/** Return the PTX of an image of any kind. Throws PtxError. */
std::string ptx_of(const void* image, int capability);

}  // namespace sim

struct CUctx_st {
  int device = 0;
  unsigned flags = 0;
  bool primary = false;
  std::atomic<int> references{0};
  std::mutex mutex;
  std::set<CUstream> streams;
  std::unique_ptr<CUstream_st> standard;
  std::set<CUcontext> peers;
  // Error of a failed kernel, with which every later call fails.
  std::atomic<CUresult> failed{CUDA_SUCCESS};
};

/** A launchable function of a module, or a kernel of a library. */
struct Callable {
  enum class What { kFunction, kKernel } what;
  std::string name;
  sim::LoadedModule* module = nullptr;  // of a function
  CUlibrary library = nullptr;          // of a kernel
  CUmodule owner = nullptr;
  uint32_t most_dynamic = 49152;
};
struct CUfunc_st : Callable {};
struct CUkern_st : Callable {};

struct CUmod_st {
  std::unique_ptr<sim::LoadedModule> loaded;
  CUcontext context = nullptr;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

struct CUlib_st {
  std::shared_ptr<sim::Module> module;
  std::map<int, std::unique_ptr<CUmod_st>> modules;  // by device
  std::map<std::string, std::unique_ptr<CUkern_st>> kernels;
};

namespace sim {

struct Device {
  Device(int index, uint64_t limit) : memory(index, limit) {}
  DeviceMemory memory;
  CUctx_st primary;
  // Serializes all accesses to the device's memory.
  std::mutex running;
};

/** State of the driver. */
struct Driver {
  Driver();
  static Driver& get();

  std::mutex mutex;
  std::atomic<bool> initialised{false};
  std::vector<std::unique_ptr<Device>> devices;
  std::set<CUcontext> contexts;
  std::set<CUmodule> modules;
  std::set<CUlibrary> libraries;
  std::set<CUevent> events;
  std::set<const Callable*> callables;
  std::map<void*, size_t> host;  // pinned
  std::map<void*, std::unique_ptr<Pages>> host_pages;
  std::atomic<uint64_t> launches{0};

  Device& device(int index) { return *devices[static_cast<size_t>(index)]; }
  /** Return the device whose memory contains an address, or -1. */
  int owner_of(uint64_t address) const;
  bool is_pinned(const void* pointer, size_t bytes);
};

/** Stack of the contexts that a thread has made current. */
std::vector<CUcontext>& context_stack();
CUcontext current_context();
/** Return the compute capability of the current device: 80 for 8.0. */
int current_capability();

/** Return a stream by its handle, including special ones; null if it is not a live stream. */
CUstream stream_of(CUstream handle);

/** Add work to a stream, or to the graph that it captures. */
CUresult enqueue(CUstream stream, Work work);

/** Enqueue a mark in a stream that is not capturing. */
void record(CUstream stream, std::shared_ptr<Mark> mark);

/** Record that the host waits in the current call of its thread. */
void note_wait();
/** Wait until all work of a context has completed. */
CUresult wait_for_all(CUcontext context);
/** Wait until all work of a stream has completed. */
CUresult wait_for(CUstream stream);

/** Entry check of every driver call. */
struct Entry {
  explicit Entry(const char* name, bool needs_context = true);
  CUresult result;
};

}  // namespace sim

/** Count the call, and return an error if it cannot proceed. */
#define DL_ENTER(name)          \
  DL_COUNTED(name);             \
  const sim::Entry entry(name); \
  if (entry.result != CUDA_SUCCESS) return entry.result
#define DL_ENTER_ANY(name)             \
  DL_COUNTED(name);                    \
  const sim::Entry entry(name, false); \
  if (entry.result != CUDA_SUCCESS) return entry.result
#define DL_EXPORT extern "C" __attribute__((visibility("default")))
