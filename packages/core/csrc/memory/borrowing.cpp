#include "memory/borrowing.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "memory/allocator.h"
#include "memory/segments.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

std::mutex borrowed_mutex;
std::unordered_set<const void*>& borrowed_addresses() {
  static auto* made = new std::unordered_set<const void*>;
  return *made;
}

void note_borrowed(const void* memory) {
  const std::lock_guard<std::mutex> guard(borrowed_mutex);
  borrowed_addresses().insert(memory);
}

void forget_borrowed(const void* memory) {
  const std::lock_guard<std::mutex> guard(borrowed_mutex);
  borrowed_addresses().erase(memory);
}

// Memory opened by a vendor, shared by all storages inside it.
struct Opened {
  Opened(int index, const dl_peer_handle_t& handle) : index(index) {
    const Device& owner = device(index);
    peer = owner.vendor->extension<dl_peer_extension_t>(DL_EXT_PEER);
    owner.vendor->call_extension(peer->open_memory, "peer.open_memory", owner.local, &handle,
                                 &memory, &bytes);
    note_segment(memory, bytes, index);
  }
  ~Opened() {
    forget_segment(memory);
    const Device& owner = device_unchecked(index);
    try {
      owner.vendor->call_extension(peer->close_memory, "peer.close_memory", owner.local, memory);
    } catch (const std::exception& error) {
      TORCH_WARN("[dl] memory of another process was not closed on dl:", index, ": ", error.what());
    }
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int index;
  const dl_peer_extension_t* peer = nullptr;
  void* memory = nullptr;
  uint64_t bytes = 0;
};

// A vendor opens memory once per process; storages of one segment share it.
std::shared_ptr<Opened> open_shared(int index, const dl_peer_handle_t& handle) {
  static std::mutex mutex;
  static auto* all = new std::unordered_map<std::string, std::weak_ptr<Opened>>;
  const std::string key =
      std::to_string(index) +
      std::string(reinterpret_cast<const char*>(handle.bytes), sizeof handle.bytes);
  const std::lock_guard<std::mutex> guard(mutex);
  std::weak_ptr<Opened>& known = (*all)[key];
  std::shared_ptr<Opened> found = known.lock();
  if (found == nullptr) known = found = std::make_shared<Opened>(index, handle);
  return found;
}

// Context of a borrowed block. The file's lock tells the sender that the block is in use, so the
// file is released last.
struct BorrowedBlock {
  SharedFile file;
  std::shared_ptr<Opened> segment;
  void* memory;
  int index;
};

void end_borrowing(void* context) {
  if (in_bad_fork()) return;
  std::unique_ptr<BorrowedBlock> block(static_cast<BorrowedBlock*>(context));
  forget_borrowed(block->memory);
  try {
    // The sender may reuse the memory as soon as it is released.
    synchronize_device(block->index);
  } catch (const std::exception& error) {
    TORCH_WARN("[dl] dl:", block->index,
               " failed while it used memory of another process: ", error.what());
  }
}

struct MappedBytes {
  void* memory;
  size_t bytes;
};

void end_mapping(void* context) {
  const std::unique_ptr<MappedBytes> mapped(static_cast<MappedBytes*>(context));
  forget_borrowed(mapped->memory);
  SharedFile::unmap(mapped->memory, mapped->bytes);
}

std::string describe_loan(const Loan& loan) {
  return c10::str("a tensor of ", loan.bytes, " bytes");
}

// A process that receives its own storage finds it without a message, while it is alive.
void refuse_own(const Loan& loan, const std::string& what) {
  if (loan.name.process != getpid()) return;
  try {
    SharedFile(loan.name, what).note_received();
  } catch (const c10::Error&) {
    // The message is not pending any more.
  }
  TORCH_CHECK(false, "[dl] ", what, " cannot be received: this process, ", getpid(),
              ", sent it and has freed it since; keep a reference to the tensor");
}

void check_loan(const Loan& loan, const std::string& what) {
  TORCH_CHECK(loan.device < device_count(), "[dl] ", what, " on dl:", loan.device,
              " cannot be received: this process has ", device_count(), " dl devices; start it ",
              "with the sender's DL_VENDORS and DL_VISIBLE_DEVICES");
  const std::string& vendor = device(loan.device).vendor->name();
  TORCH_CHECK(vendor == loan.vendor, "[dl] ", what, " cannot be received: dl:", loan.device,
              " is of vendor ", vendor, " here and of vendor ", loan.vendor, " in process ",
              loan.name.process, ", which sent it; start both with the same DL_VENDORS");
}

at::DataPtr borrow_block(SharedFile file, const Loan& loan, const std::string& what) {
  std::shared_ptr<Opened> segment = open_shared(loan.device, loan.handle);
  TORCH_CHECK(loan.offset <= segment->bytes && loan.bytes <= segment->bytes - loan.offset, "[dl] ",
              what, " cannot be received: it is not in the memory that process ", loan.name.process,
              " has exported");
  void* const memory = static_cast<char*>(segment->memory) + loan.offset;
  auto* block = new BorrowedBlock{std::move(file), std::move(segment), memory, loan.device};
  note_borrowed(memory);
  return {memory, block, &end_borrowing,
          c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(loan.device))};
}

}  // namespace

bool is_borrowed(const void* memory) {
  const std::lock_guard<std::mutex> guard(borrowed_mutex);
  return borrowed_addresses().count(memory) != 0;
}

at::DataPtr map_shared(const SharedFile& file, size_t bytes) {
  void* const memory = file.map(bytes);
  return {memory, new MappedBytes{memory, bytes}, &end_mapping, c10::Device(c10::kCPU)};
}

void note_borrowed_again(const Loan& loan) {
  check_not_forked();
  SharedFile(loan.name, describe_loan(loan)).note_received();
}

c10::Storage borrow(const Loan& loan) {
  const std::string what = describe_loan(loan);
  check_not_forked();
  refuse_own(loan, what);
  SharedFile file(loan.name, what);
  // From here on, the sender may free memory that has no pending message and no user.
  if (loan.is_device_memory != 0) file.hold(what);
  // This message is no longer pending, even if an error follows.
  file.note_received();
  check_loan(loan, what);
  at::DataPtr memory;
  if (loan.is_device_memory != 0) {
    memory = borrow_block(std::move(file), loan, what);
  } else {
    at::DataPtr mapped = map_shared(file, loan.bytes);
    note_borrowed(mapped.get());
    memory = device_allocator()->adopt(std::move(mapped), loan.bytes, loan.device);
  }
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(loan.bytes), std::move(memory),
      device_allocator(), true));
}

}  // namespace dl::core
