// `dicl` backend of torch.distributed: collectives for tensors on dl devices.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "distributed/device_call.h"
#include "distributed/job.h"
#include "distributed/meeting.h"
#include "distributed/work.h"

namespace dl::core::distributed {

// Options that torch copies, and modifies for groups created by a split.
struct DiclOptions final : c10d::Backend::Options {
  explicit DiclOptions(std::chrono::milliseconds timeout) : Options("dicl", timeout) {}
};

// Collectives use the vendor's communicator if all ranks have one and the vendor implements the
// call. All other collectives, and messages, use gloo; this object owns the gloo group. Calls
// return before they have completed and are ordered by the current stream of their device. A stream
// that waits for their Work object waits for the results.
class Dicl final : public c10d::Backend {
  using Tensors = std::vector<at::Tensor>;
  using Lists = std::vector<Tensors>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

 public:
  // Creates the gloo backend of a group; waits for the other ranks.
  using MakeGloo = std::function<c10::intrusive_ptr<c10d::Backend>(
      c10::intrusive_ptr<c10d::Store> store, int rank, int size, std::string group,
      std::chrono::milliseconds timeout)>;

  // `offer`: true if the vendor's communicator may be used; all ranks must pass the same value.
  Dicl(MakeGloo make_gloo, c10::intrusive_ptr<c10d::Store> store, int rank, int size,
       std::string group, std::chrono::milliseconds timeout, bool offer);

  const std::string getBackendName() const override { return "dicl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  // Returns the vendor's name if collectives use its communicator, otherwise "gloo". Known after
  // the first collective on dl tensors.
  std::string carrier() const;
  void setTimeout(std::chrono::milliseconds timeout) override;
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                    const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options) override;
  void startCoalescing() override;
  WorkPtr endCoalescing() override;
  void setSequenceNumberForGroup() override { gloo_->setSequenceNumberForGroup(); }
  uint64_t getSequenceNumberForGroup() override { return gloo_->getSequenceNumberForGroup(); }
  void abort() override;
  void shutdown() override;

  WorkPtr broadcast(Tensors&, const c10d::BroadcastOptions&) override;
  WorkPtr allreduce(Tensors&, const c10d::AllreduceOptions&) override;
  WorkPtr allreduce_coalesced(Tensors&, const c10d::AllreduceCoalescedOptions&) override;
  WorkPtr reduce(Tensors&, const c10d::ReduceOptions&) override;
  WorkPtr reduce_scatter(Tensors&, Lists&, const c10d::ReduceScatterOptions&) override;
  WorkPtr _reduce_scatter_base(at::Tensor&, at::Tensor&,
                               const c10d::ReduceScatterOptions&) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors&, Tensors&,
                                          const c10d::ReduceScatterOptions&) override;

  WorkPtr allgather(Lists&, Tensors&, const c10d::AllgatherOptions&) override;
  WorkPtr _allgather_base(at::Tensor&, at::Tensor&, const c10d::AllgatherOptions&) override;
  WorkPtr allgather_coalesced(Lists&, Tensors&, const c10d::AllgatherOptions&) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors&, Tensors&,
                                          const c10d::AllgatherOptions&) override;
  WorkPtr gather(Lists&, Tensors&, const c10d::GatherOptions&) override;
  WorkPtr scatter(Tensors&, Lists&, const c10d::ScatterOptions&) override;
  WorkPtr alltoall(Tensors&, Tensors&, const c10d::AllToAllOptions&) override;
  WorkPtr alltoall_base(at::Tensor&, at::Tensor&, std::vector<int64_t>&, std::vector<int64_t>&,
                        const c10d::AllToAllOptions&) override;

  WorkPtr send(Tensors&, int, int) override;
  WorkPtr recv(Tensors&, int, int) override;
  WorkPtr recvAnysource(Tensors&, int) override;
  WorkPtr barrier(const c10d::BarrierOptions&) override;
  void monitoredBarrier(const c10d::BarrierOptions&, bool wait_for_all) override;

 private:
  GroupFacts facts(std::chrono::milliseconds timeout);
  // Runs a call on the communicator; returns NULL if it must use gloo.
  WorkPtr by_device(const DeviceCall& call, std::chrono::milliseconds timeout);
  // Returns true if the communicator may be used for `tensor`.
  bool has_device(const at::Tensor& tensor) const {
    return meeting_.may_agree() && !tensor.is_cpu();
  }
  void check_alive(const char* operation) const;
  // Waits for the job's inputs, lets `issue` call gloo, and tracks the Work object that it returns.
  WorkPtr run(c10d::OpType type, std::shared_ptr<Job> job, std::chrono::milliseconds timeout,
              const std::function<WorkPtr()>& issue);
  WorkPtr reduce_and_keep_part(std::shared_ptr<Job> job, c10d::OpType type, const Tensors& inputs,
                               const Tensors& outputs, const c10d::ReduceScatterOptions& options);
  // Sends input r to rank r; the input that rank r sends here becomes output r. Sizes may differ.
  WorkPtr exchange(std::shared_ptr<Job> job, c10d::OpType type, const Tensors& outputs,
                   const Tensors& inputs, std::chrono::milliseconds timeout);
  const at::Tensor& only(const Tensors& tensors, const char* operation) const;
  const Tensors& only(const Lists& lists, const char* operation) const;

  MakeGloo make_gloo_;
  c10::intrusive_ptr<c10d::Backend> gloo_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::string group_;
  std::chrono::milliseconds timeout_;
  std::atomic<uint64_t> calls_{0};
  bool offer_;
  Meeting meeting_;
  bool ended_ = false;
  bool coalescing_ = false;
  std::vector<WorkPtr> coalesced_;
};

}  // namespace dl::core::distributed
