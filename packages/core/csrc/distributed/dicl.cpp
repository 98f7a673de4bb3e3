#include "distributed/dicl.h"

#include <algorithm>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "distributed/joined_work.h"
#include "memory/silent_writes.h"
#include "runtime/device.h"

namespace dl::core::distributed {

Dicl::Dicl(MakeGloo make_gloo, c10::intrusive_ptr<c10d::Store> store, int rank, int size,
           std::string group, std::chrono::milliseconds timeout, bool offer)
    : Backend(rank, size),
      make_gloo_(std::move(make_gloo)),
      gloo_(make_gloo_(store, rank, size, group, timeout)),
      store_(std::move(store)),
      group_(std::move(group)),
      timeout_(timeout),
      offer_(offer),
      meeting_(store_, rank_, size_, offer) {}

c10::intrusive_ptr<c10d::Backend::Options> Dicl::getBackendOptions() {
  auto options = c10::make_intrusive<DiclOptions>(timeout_);
  options->group_name = group_;
  return options;
}

std::string Dicl::carrier() const {
  const auto& made = meeting_.made();
  return made == nullptr ? "gloo" : device(made->device()).vendor->name();
}

void Dicl::setTimeout(std::chrono::milliseconds timeout) {
  timeout_ = timeout;
  gloo_->setTimeout(timeout);
}

c10::intrusive_ptr<c10d::Backend> Dicl::split(const c10::intrusive_ptr<c10d::Store>& store,
                                              const std::vector<int>& ranks,
                                              const c10::intrusive_ptr<Options>& options) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  if (place == ranks.end()) return nullptr;
  auto own = c10::make_intrusive<c10d::PrefixStore>(options->group_name + "/dicl/", store);
  return c10::make_intrusive<Dicl>(
      make_gloo_, std::move(own), static_cast<int>(place - ranks.begin()),
      static_cast<int>(ranks.size()), options->group_name, options->timeout, offer_);
}

void Dicl::startCoalescing() {
  TORCH_CHECK(!coalescing_, "[dicl] calls are being coalesced already; end that first");
  coalescing_ = true;
}

Dicl::WorkPtr Dicl::endCoalescing() {
  TORCH_CHECK(coalescing_, "[dicl] no calls are being coalesced");
  coalescing_ = false;
  auto joined = c10::make_intrusive<JoinedWork>(rank_, std::move(coalesced_));
  coalesced_.clear();
  return joined;
}

void Dicl::abort() {
  ended_ = true;
  if (meeting_.made() != nullptr) meeting_.made()->abort();
  gloo_->abort();
}

void Dicl::shutdown() {
  ended_ = true;
  gloo_->shutdown();
}

GroupFacts Dicl::facts(std::chrono::milliseconds timeout) {
  return {pg_desc_.empty() ? group_ : group_ + " (" + pg_desc_ + ")", rank_, size_, ++calls_,
          timeout == c10d::kUnsetTimeout ? timeout_ : timeout};
}

void Dicl::check_alive(const char* operation) const {
  TORCH_CHECK(!ended_, "[dicl] ", operation,
              ": the group was destroyed; create another group with init_process_group() or "
              "new_group()");
}

Dicl::WorkPtr Dicl::by_device(const DeviceCall& call, std::chrono::milliseconds timeout) {
  check_alive(call.operation);
  for (const Part& part : call.parts) {
    TORCH_CHECK(part.tensor.device() == call.parts[0].tensor.device(), "[dicl] ", call.operation,
                ": all tensors of a call have to be on one device, got ",
                call.parts[0].tensor.device(), " and ", part.tensor.device());
  }
  const auto limit = timeout == c10d::kUnsetTimeout ? timeout_ : timeout;
  std::shared_ptr<Communicator> communicator;
  try {
    communicator = meeting_.communicator(call.parts[0].tensor.get_device(), limit);
  } catch (...) {
    const CallFacts words{describe(call.operation, call.parts[0].tensor, call.parts.size() - 1)};
    std::rethrow_exception(explain(std::current_exception(), words, facts(timeout)));
  }
  if (communicator == nullptr) return nullptr;
  auto work = start(communicator, call, facts(timeout));
  count_silent_write();
  if (work != nullptr && coalescing_) coalesced_.push_back(work);
  return work;
}

Dicl::WorkPtr Dicl::run(c10d::OpType type, std::shared_ptr<Job> job,
                        std::chrono::milliseconds timeout, const std::function<WorkPtr()>& issue) {
  check_alive(job->operation);
  const GroupFacts group = facts(timeout);
  WorkPtr given;
  try {
    given = issue();
  } catch (...) {
    std::rethrow_exception(explain(std::current_exception(), job->facts(), group));
  }
  auto work = c10::make_intrusive<GlooWork>(type, std::move(job), group, std::move(given));
  work->follow();
  if (coalescing_) coalesced_.push_back(work);
  return work;
}

const at::Tensor& Dicl::only(const Tensors& tensors, const char* operation) const {
  TORCH_CHECK(tensors.size() == 1, "[dicl] ", operation, " takes one tensor of each rank, got ",
              tensors.size());
  return tensors[0];
}

const Dicl::Tensors& Dicl::only(const Lists& lists, const char* operation) const {
  TORCH_CHECK(lists.size() == 1, "[dicl] ", operation, " takes one list of tensors, got ",
              lists.size());
  TORCH_CHECK(lists[0].size() == static_cast<size_t>(size_), "[dicl] ", operation,
              " takes a tensor for each of ", size_, " ranks, got ", lists[0].size());
  return lists[0];
}

}  // namespace dl::core::distributed
