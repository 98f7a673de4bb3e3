#include "distributed/meeting.h"

#include "runtime/device.h"

namespace dl::core::distributed {
namespace {

// Vendor and version of all visible devices, which all ranks must share; empty if devices differ.
std::string offer_of_devices() {
  std::string offer;
  for (int index = 0; index < device_count(); ++index) {
    if (Communicator::slots_of(index) == nullptr) return "";
    const Vendor& vendor = *device(index).vendor;
    const std::string name = vendor.name() + " " + vendor.version();
    if (index > 0 && name != offer) return "";
    offer = name;
  }
  return offer;
}

constexpr char kMade[] = "made";

}  // namespace

Meeting::Meeting(c10::intrusive_ptr<c10d::Store> store, int rank, int ranks, bool offer)
    : store_(std::move(store)),
      rank_(rank),
      ranks_(ranks),
      offer_(offer ? offer_of_devices() : "") {
  // Other ranks that offer a communicator read this value; setting it does not block.
  say(key("offer", rank_), offer_);
}

std::string Meeting::key(const char* what, int rank) const {
  return std::string("dicl/") + what + "/" + std::to_string(rank);
}

void Meeting::say(const std::string& key, const std::string& value) {
  store_->set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

std::string Meeting::heard(const std::string& key, std::chrono::milliseconds timeout) {
  store_->wait({key}, timeout);
  const auto value = store_->get(key);
  return std::string(value.begin(), value.end());
}

bool Meeting::all_offer_the_same(std::chrono::milliseconds timeout) {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (heard(key("offer", rank), timeout) != offer_) return false;
  }
  return true;
}

void Meeting::make(int index, std::chrono::milliseconds timeout) {
  void* handle = nullptr;
  std::string outcome = kMade;
  try {
    std::string id;
    if (rank_ == 0) {
      id = Communicator::new_id(index);
      say(key("id", 0), id);
    } else {
      id = heard(key("id", 0), timeout);
      TORCH_CHECK(!id.empty(), "[dicl] rank 0 could not create a communicator");
    }
    handle = Communicator::join(index, id, ranks_, rank_, timeout);
  } catch (const c10::Error& error) {
    outcome = error.what_without_backtrace();
    outcome = outcome.substr(0, outcome.find('\n'));
    // Other ranks must not wait for an id that will not come.
    if (rank_ == 0) say(key("id", 0), "");
  }
  if (handle != nullptr) made_ = std::make_shared<Communicator>(index, handle);
  say(key("made", rank_), outcome);
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string other = heard(key("made", rank), timeout);
    if (other == kMade) continue;
    made_.reset();
    TORCH_WARN("[dicl] vendor ", device(index).vendor->name(),
               " could not connect the devices of this group, which uses gloo instead. Rank ", rank,
               ": ", other, ". Set DL_DISTRIBUTED=gloo to choose gloo without a warning");
    return;
  }
}

std::shared_ptr<Communicator> Meeting::communicator(int index, std::chrono::milliseconds timeout) {
  if (!may_agree()) return nullptr;
  if (!met_) {
    if (all_offer_the_same(timeout)) make(index, timeout);
    met_ = true;
  }
  if (made_ == nullptr) return nullptr;
  TORCH_CHECK(made_->device() == index, "[dicl] this group is connected on dl:", made_->device(),
              ", and the tensor is on dl:", index,
              "; call torch.dl.set_device() before the first collective and keep to one device "
              "a rank, or set DL_DISTRIBUTED=gloo on all ranks");
  return made_;
}

}  // namespace dl::core::distributed
