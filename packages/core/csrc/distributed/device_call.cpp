#include "distributed/device_call.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "distributed/arrival_streams.h"
#include "distributed/job.h"
#include "memory/allocator.h"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core::distributed {
namespace {

class DeviceWork final : public c10d::Work {
 public:
  DeviceWork(c10d::OpType type, std::shared_ptr<Communicator> communicator,
             std::shared_ptr<Watched> watched, std::vector<at::Tensor> outputs, c10::Device device,
             CallFacts call, GroupFacts group)
      : Work(group.rank, type),
        communicator_(std::move(communicator)),
        watched_(std::move(watched)),
        outputs_(std::move(outputs)),
        call_(std::move(call)),
        group_(std::move(group)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()), std::vector<c10::Device>{device})) {}

  // Called while the stream that produces the results is current.
  void hand_over() { future_->markCompleted(at::IValue(outputs_)); }

  bool isCompleted() override { return exception() != nullptr || watched_->end.query(); }
  bool isSuccess() const override { return exception() == nullptr && watched_->end.query(); }
  std::exception_ptr exception() const override { return communicator_->error_of(*watched_); }
  std::vector<at::Tensor> result() override { return outputs_; }
  void synchronize() override { future_->wait(); }
  void abort() override { communicator_->abort(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

  bool wait(std::chrono::milliseconds timeout) override {
    if (timeout != kNoTimeout) {
      const auto until = std::chrono::steady_clock::now() + timeout;
      while (!isCompleted()) {
        if (std::chrono::steady_clock::now() > until) raise_late(call_, group_, timeout);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    if (const auto error = exception()) std::rethrow_exception(error);
    future_->wait();
    return true;
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<Watched> watched_;
  std::vector<at::Tensor> outputs_;
  CallFacts call_;
  GroupFacts group_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

// Contiguous memory for each part; a part's `use` determines whether its values are copied.
std::vector<at::Tensor> dense_of(const std::vector<Part>& parts) {
  std::vector<at::Tensor> dense;
  for (const Part& part : parts) {
    const at::Tensor& given = part.tensor;
    if (plain(given))
      dense.push_back(given.detach());
    else if (part.use == Use::kWrite)
      dense.push_back(at::empty(given.sizes(), given.options()));
    else
      dense.push_back(given.resolve_conj().resolve_neg().contiguous());
  }
  return dense;
}

}  // namespace

c10::intrusive_ptr<c10d::Work> start(const std::shared_ptr<Communicator>& communicator,
                                     const DeviceCall& call, const GroupFacts& group) {
  communicator->check_usable();
  for (const Part& part : call.parts) check_sendable(part.tensor, part.use, call.operation);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::NoGradGuard no_grad;
  const int index = communicator->device();
  const c10::Device device(kDeviceType, static_cast<c10::DeviceIndex>(index));
  const std::vector<at::Tensor> dense = dense_of(call.parts);

  c10::Event ready(kDeviceType);
  ready.record(current_stream(index));
  const ArrivalStreams arrival({device});
  const c10::Stream stream = current_stream(index);
  ready.block(stream);
  // The caller may free this memory; it must not be reused before this stream has completed.
  for (const auto& each : dense)
    device_allocator()->recordStream(each.storage().data_ptr(), stream);
  for (const auto& each : call.outputs)
    device_allocator()->recordStream(each.storage().data_ptr(), stream);
  if (!call.enqueue(*communicator, dense, native_stream(stream))) return nullptr;
  for (size_t i = 0; i < dense.size(); ++i) {
    const Part& part = call.parts[i];
    if (part.use == Use::kRead || plain(part.tensor)) continue;
    at::Tensor target = part.tensor.detach();
    device_allocator()->recordStream(target.storage().data_ptr(), stream);
    target.copy_(dense[i]);
  }
  if (call.afterwards) call.afterwards(dense);

  const CallFacts facts{describe(call.operation, call.parts[0].tensor, call.parts.size() - 1)};
  auto watched = std::make_shared<Watched>(Watched{
      c10::Event(kDeviceType), std::chrono::steady_clock::now() + group.timeout,
      [facts, group, vendor = dl::core::device(index).vendor->name()](const std::string& said) {
        return explain(vendor, said, facts, group);
      }});
  watched->end.record(stream);
  communicator->watch(watched);
  auto work = c10::make_intrusive<DeviceWork>(call.type, communicator, std::move(watched),
                                              call.outputs, device, facts, group);
  work->hand_over();
  return work;
}

}  // namespace dl::core::distributed
