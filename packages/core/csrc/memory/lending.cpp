#include "memory/lending.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/allocator.h"
#include "memory/borrowing.h"
#include "memory/segments.h"
#include "memory/sharing.h"
#include "memory/transfer.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

// Context of the memory of a lent storage.
struct Lent {
  SharedFile file;
  Loan loan;
  at::DataPtr memory;
};

struct Loans {
  std::mutex mutex;
  std::unordered_map<const void*, Lent*> live;  // by address
  std::vector<Lent*> freed;                     // freed here, but in use elsewhere
  std::atomic<size_t> waiting{0};               // size of `freed`
};

Loans& loans() {
  static auto* made = new Loans;
  return *made;
}

const dl_peer_extension_t* exporter(const Device& owner) {
  const auto* peer = owner.vendor->extension<dl_peer_extension_t>(DL_EXT_PEER);
  const bool complete = peer != nullptr && peer->export_memory != nullptr &&
                        peer->open_memory != nullptr && peer->close_memory != nullptr;
  return complete ? peer : nullptr;
}

void end_loan(void* context) {
  if (in_bad_fork()) return;  // a forked child must not free memory of its parent
  std::unique_ptr<Lent> lent(static_cast<Lent*>(context));
  const std::lock_guard<std::mutex> guard(loans().mutex);
  loans().live.erase(lent->memory.get());
  if (!lent->file.is_wanted()) return;
  loans().freed.push_back(lent.release());
  loans().waiting.fetch_add(1, std::memory_order_relaxed);
}

// Inserts `lent` between the storage and its memory.
void install(c10::StorageImpl& storage, std::unique_ptr<Lent> lent, at::DataPtr memory) {
  void* const address = memory.get();
  const c10::Device where = memory.device();
  lent->memory = std::move(memory);
  Lent* const context = lent.release();
  {
    const std::lock_guard<std::mutex> guard(loans().mutex);
    loans().live[address] = context;
  }
  storage._mutable_data_ptr_no_checks() = at::DataPtr(address, context, &end_loan, where);
}

Loan make_loan(const Device& owner, int index, size_t bytes) {
  Loan loan = {};
  loan.device = index;
  loan.bytes = bytes;
  const std::string& name = owner.vendor->name();
  std::memcpy(loan.vendor, name.data(), std::min(name.size(), sizeof loan.vendor - 1));
  return loan;
}

Loan lend_block(c10::StorageImpl& storage, const Device& owner, int index,
                const dl_peer_extension_t& peer) {
  void* const memory = storage._mutable_data_ptr_no_checks().get();
  void* const segment = segment_of_pointer(memory);
  TORCH_CHECK(segment != nullptr, "[dl] a storage of dl:", index, " whose memory dl did not ",
              "allocate cannot be sent to another process; send x.clone()");
  auto lent = std::make_unique<Lent>(
      Lent{SharedFile(0), make_loan(owner, index, storage.nbytes()), at::DataPtr()});
  owner.vendor->call_extension(peer.export_memory, "peer.export_memory", owner.local, segment,
                               &lent->loan.handle);
  lent->loan.is_device_memory = 1;
  lent->loan.offset = static_cast<char*>(memory) - static_cast<char*>(segment);
  lent->loan.name = lent->file.name();
  lent->file.note_sent();
  const Loan loan = lent->loan;
  install(storage, std::move(lent), std::move(storage._mutable_data_ptr_no_checks()));
  return loan;
}

// Moves the bytes to a file. Views of the storage see the move, because they use its pointer.
Loan lend_file(c10::StorageImpl& storage, const Device& owner, int index) {
  const size_t bytes = storage.nbytes();
  auto lent = std::make_unique<Lent>(
      Lent{SharedFile(bytes), make_loan(owner, index, bytes), at::DataPtr()});
  at::DataPtr mapped = map_shared(lent->file, bytes);
  std::memcpy(mapped.get(), storage.data(), bytes);
  lent->loan.name = lent->file.name();
  lent->file.note_sent();
  const Loan loan = lent->loan;
  at::DataPtr before = std::move(storage._mutable_data_ptr_no_checks());
  install(storage, std::move(lent), device_allocator()->adopt(std::move(mapped), bytes, index));
  return loan;
}

}  // namespace

bool can_lend(int index) {
  const Device& owner = device(index);
  return exporter(owner) != nullptr || owner.any_host_pointer;
}

Loan lend(c10::StorageImpl& storage) {
  check_not_forked();
  const int index = storage.device().index();
  const Device& owner = device(index);
  collect_loans();
  // Memory shared by lazy copies is copied first.
  const void* const memory = storage.mutable_data();
  synchronize_device(index);
  {
    const std::lock_guard<std::mutex> guard(loans().mutex);
    const auto known = loans().live.find(memory);
    if (known != loans().live.end()) {
      known->second->file.note_sent();
      return known->second->loan;
    }
  }
  TORCH_CHECK(!is_borrowed(memory), "[dl] a tensor on dl:", index, " that was received from ",
              "another process cannot be sent on, as with CUDA; send x.clone()");
  if (const auto* peer = exporter(owner)) return lend_block(storage, owner, index, *peer);
  TORCH_CHECK(owner.any_host_pointer, "[dl] a tensor on dl:", index, " cannot be sent to another ",
              "process: vendor ", owner.vendor->name(), " shares no memory between processes; ",
              "send a copy on the CPU, x.cpu(), and move it there");
  return lend_file(storage, owner, index);
}

void* context_of_lent(const void* memory, at::DeleterFnPtr deleter) {
  const std::lock_guard<std::mutex> guard(loans().mutex);
  const auto found = loans().live.find(memory);
  if (found == loans().live.end() || found->second->memory.get_deleter() != deleter) return nullptr;
  return found->second->memory.get_context();
}

void collect_loans() {
  if (C10_LIKELY(loans().waiting.load(std::memory_order_relaxed) == 0)) return;
  std::vector<std::unique_ptr<Lent>> ended;  // destroyed after the lock is released
  const std::lock_guard<std::mutex> guard(loans().mutex);
  std::vector<Lent*> still;
  for (Lent* lent : loans().freed) {
    if (lent->file.is_wanted()) {
      still.push_back(lent);
    } else {
      ended.emplace_back(lent);
    }
  }
  loans().freed = std::move(still);
  loans().waiting.store(loans().freed.size(), std::memory_order_relaxed);
}

}  // namespace dl::core
