// Broadcast and reduction collectives.
#include <ATen/ATen.h>

#include "contract/dtype.h"
#include "distributed/dicl.h"
#include "distributed/joined_work.h"

namespace dl::core::distributed {
namespace {

using Slots = dl_communicator_extension_t;

int32_t number_of(c10::ScalarType type) { return static_cast<int32_t>(to_diopi(type)); }
uint64_t count_of(const at::Tensor& tensor, const DeviceReduction& as) {
  return static_cast<uint64_t>(tensor.numel() * as.multiple);
}

// Enqueues a reduction with `enqueue(operation)`. Returns false if the vendor does not implement
// it. For vendors without averages, the sum is divided here; `result` is undefined on ranks without
// a result.
template <class Enqueue>
bool enqueue_reduction(const DeviceReduction& as, int ranks, at::Tensor result,
                       const Enqueue& enqueue) {
  if (enqueue(as.operation)) return true;
  if (as.operation != DL_REDUCE_AVERAGE || !enqueue(int32_t{DL_REDUCE_SUM})) return false;
  if (result.defined()) result.div_(ranks);
  return true;
}

void check_parts(const char* operation, const at::Tensor& whole, const at::Tensor& part,
                 int ranks) {
  TORCH_CHECK(whole.scalar_type() == part.scalar_type() && whole.numel() == part.numel() * ranks,
              "[dicl] ", operation, ": ", ranks, " parts of ", part.scalar_type(), " ",
              part.sizes(), " are not ", whole.scalar_type(), " ", whole.sizes(),
              "; the one has to have ", ranks, " times the elements of the other");
}

}  // namespace

Dicl::WorkPtr Dicl::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const at::Tensor& tensor = only(tensors, "broadcast");
  if (has_device(tensor)) {
    const DeviceCall call{c10d::OpType::BROADCAST,
                          "broadcast",
                          {{tensor, options.rootRank == rank_ ? Use::kRead : Use::kWrite}},
                          tensors,
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            void* const memory = const_cast<void*>(dense[0].const_data_ptr());
                            return device.enqueue(
                                &Slots::broadcast, "communicator.broadcast", memory, memory,
                                static_cast<uint64_t>(dense[0].nbytes()), number_of(at::kByte),
                                static_cast<int32_t>(options.rootRank), stream);
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  auto job = std::make_shared<Job>("broadcast");
  Tensors wires{job->add_bytes(tensor, options.rootRank == rank_ ? Use::kRead : Use::kWrite)};
  job->outputs = tensors;
  job->wait_for_inputs();
  return run(c10d::OpType::BROADCAST, job, options.timeout,
             [&] { return gloo_->broadcast(wires, options); });
}

Dicl::WorkPtr Dicl::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const at::Tensor& tensor = only(tensors, "all_reduce");
  const auto as = device_reduction(tensor.scalar_type(), options.reduceOp);
  if (has_device(tensor) && as) {
    const DeviceCall call{c10d::OpType::ALLREDUCE,
                          "all_reduce",
                          {{tensor, Use::kUpdate}},
                          tensors,
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            void* const memory = dense[0].mutable_data_ptr();
                            return enqueue_reduction(*as, size_, dense[0], [&](int32_t operation) {
                              return device.enqueue(&Slots::all_reduce, "communicator.all_reduce",
                                                    memory, memory, count_of(dense[0], *as),
                                                    number_of(as->type), operation, stream);
                            });
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  auto job = std::make_shared<Job>("all_reduce");
  const at::Tensor host = job->add(tensor, Use::kUpdate);
  job->outputs = tensors;
  job->wait_for_inputs();
  Reduction& reduction = job->add_reduction(host, options.reduceOp);
  Tensors wires{reduction.wire()};
  c10d::AllreduceOptions given = options;
  given.reduceOp = reduction.operation();
  return run(c10d::OpType::ALLREDUCE, job, options.timeout,
             [&] { return gloo_->allreduce(wires, given); });
}

Dicl::WorkPtr Dicl::allreduce_coalesced(Tensors& tensors,
                                        const c10d::AllreduceCoalescedOptions& options) {
  std::vector<WorkPtr> parts;
  for (const at::Tensor& each : tensors) {
    Tensors one{each};
    parts.push_back(allreduce(one, options));
  }
  return c10::make_intrusive<JoinedWork>(rank_, std::move(parts));
}

Dicl::WorkPtr Dicl::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  const at::Tensor& tensor = only(tensors, "reduce");
  const bool root = options.rootRank == rank_;
  const auto as = device_reduction(tensor.scalar_type(), options.reduceOp);
  if (has_device(tensor) && as) {
    const DeviceCall call{c10d::OpType::REDUCE,
                          "reduce",
                          {{tensor, root ? Use::kUpdate : Use::kRead}},
                          tensors,
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            const void* const sent = dense[0].const_data_ptr();
                            const at::Tensor result = root ? dense[0] : at::Tensor();
                            return enqueue_reduction(*as, size_, result, [&](int32_t operation) {
                              return device.enqueue(&Slots::reduce, "communicator.reduce", sent,
                                                    root ? const_cast<void*>(sent) : nullptr,
                                                    count_of(dense[0], *as), number_of(as->type),
                                                    operation,
                                                    static_cast<int32_t>(options.rootRank), stream);
                            });
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  auto job = std::make_shared<Job>("reduce");
  at::Tensor host = job->add(tensor, root ? Use::kUpdate : Use::kRead);
  job->outputs = tensors;
  job->wait_for_inputs();
  // On every rank, gloo accumulates in the memory that it is given.
  Reduction& reduction = job->add_reduction(root ? host : host.clone(), options.reduceOp);
  Tensors wires{reduction.wire()};
  c10d::ReduceOptions given = options;
  given.reduceOp = reduction.operation();
  return run(c10d::OpType::REDUCE, job, options.timeout,
             [&] { return gloo_->reduce(wires, given); });
}

// gloo has no reduce-scatter: the whole tensor is reduced, and each rank keeps its part.
Dicl::WorkPtr Dicl::reduce_and_keep_part(std::shared_ptr<Job> job, c10d::OpType type,
                                         const Tensors& inputs, const Tensors& outputs,
                                         const c10d::ReduceScatterOptions& options) {
  const Tensors sent = job->add(inputs, Use::kRead);
  const at::Tensor kept = job->add(only(outputs, job->operation), Use::kWrite);
  job->outputs = outputs;
  job->wait_for_inputs();
  Tensors flat;
  for (const at::Tensor& each : sent) flat.push_back(each.view({each.numel()}));
  const at::Tensor whole = flat.size() == 1 ? flat[0].clone() : at::cat(flat);
  Reduction& reduction = job->add_reduction(whole, options.reduceOp);
  int64_t begin = 0;
  if (flat.size() == 1)
    begin = rank_ * kept.numel();
  else
    for (int i = 0; i < rank_; ++i) begin += flat[i].numel();
  job->afterwards.emplace_back([whole, kept, begin] {
    kept.view({kept.numel()}).copy_(whole.narrow(0, begin, kept.numel()));
  });
  Tensors wires{reduction.wire()};
  c10d::AllreduceOptions given;
  given.reduceOp = reduction.operation();
  given.timeout = options.timeout;
  return run(type, job, options.timeout, [&] { return gloo_->allreduce(wires, given); });
}

Dicl::WorkPtr Dicl::reduce_scatter(Tensors& outputs, Lists& inputs,
                                   const c10d::ReduceScatterOptions& options) {
  auto job = std::make_shared<Job>("reduce_scatter");
  const Tensors& parts = only(inputs, job->operation);
  const at::Tensor& output = only(outputs, job->operation);
  for (const at::Tensor& part : parts) {
    TORCH_CHECK(part.scalar_type() == output.scalar_type(), "[dicl] reduce_scatter: an input of ",
                part.scalar_type(), " does not fit an output of ", output.scalar_type());
  }
  TORCH_CHECK(parts[rank_].numel() == output.numel(), "[dicl] reduce_scatter: the part of rank ",
              rank_, " has sizes ", parts[rank_].sizes(), ", its output ", output.sizes());
  if (has_device(output) && alike(parts)) {
    // Concatenated, because communicators require it.
    at::Tensor whole;
    {
      const at::AutoDispatchBelowADInplaceOrView below_autograd;
      Tensors flat;
      for (const at::Tensor& part : parts) flat.push_back(part.reshape({part.numel()}));
      whole = at::cat(flat);
    }
    at::Tensor out = output;
    return _reduce_scatter_base(out, whole, options);
  }
  return reduce_and_keep_part(job, c10d::OpType::REDUCE_SCATTER, parts, outputs, options);
}

Dicl::WorkPtr Dicl::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                         const c10d::ReduceScatterOptions& options) {
  auto job = std::make_shared<Job>("reduce_scatter_tensor");
  check_parts(job->operation, input, output, size_);
  const auto as = device_reduction(input.scalar_type(), options.reduceOp);
  if (has_device(input) && as) {
    const DeviceCall call{c10d::OpType::_REDUCE_SCATTER_BASE,
                          job->operation,
                          {{input, Use::kRead}, {output, Use::kWrite}},
                          {output},
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            return enqueue_reduction(*as, size_, dense[1], [&](int32_t operation) {
                              return device.enqueue(
                                  &Slots::reduce_scatter, "communicator.reduce_scatter",
                                  dense[0].const_data_ptr(), dense[1].mutable_data_ptr(),
                                  count_of(dense[1], *as), number_of(as->type), operation, stream);
                            });
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  return reduce_and_keep_part(job, c10d::OpType::_REDUCE_SCATTER_BASE, {input}, {output}, options);
}

Dicl::WorkPtr Dicl::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                    const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK(outputs.size() == inputs.size(),
              "[dicl] reduce_scatter_tensor_coalesced: ", inputs.size(), " inputs for ",
              outputs.size(), " outputs");
  std::vector<WorkPtr> parts;
  for (size_t i = 0; i < outputs.size(); ++i)
    parts.push_back(_reduce_scatter_base(outputs[i], inputs[i], options));
  return c10::make_intrusive<JoinedWork>(rank_, std::move(parts));
}

}  // namespace dl::core::distributed
