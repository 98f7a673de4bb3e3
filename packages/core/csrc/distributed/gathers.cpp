// Gather and scatter collectives.
#include <ATen/ATen.h>

#include "contract/dtype.h"
#include "distributed/dicl.h"
#include "distributed/joined_work.h"

namespace dl::core::distributed {
namespace {

using Slots = dl_communicator_extension_t;

// The data is transferred as bytes.
constexpr int32_t kBytes = diopi_dtype_uint8;
uint64_t bytes_of(const at::Tensor& tensor) { return static_cast<uint64_t>(tensor.nbytes()); }

// Allocates contiguous memory for the parts of all ranks.
at::Tensor allocate_for(const std::vector<at::Tensor>& parts) {
  const int64_t count = static_cast<int64_t>(parts.size()) * parts[0].numel();
  return at::empty({count}, parts[0].options());
}

// Copies the concatenated memory to the parts.
void copy_to_parts(const at::Tensor& memory, const std::vector<at::Tensor>& parts) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const int64_t count = parts[0].numel();
  for (size_t i = 0; i < parts.size(); ++i) {
    at::Tensor target = parts[i].detach();
    target.copy_(memory.narrow(0, static_cast<int64_t>(i) * count, count).view(target.sizes()));
  }
}

at::Tensor concatenate(const std::vector<at::Tensor>& parts) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& part : parts) flat.push_back(part.reshape({part.numel()}));
  return at::cat(flat);
}

void check_each(const char* operation, const std::vector<at::Tensor>& parts,
                const at::Tensor& own) {
  for (const at::Tensor& part : parts) {
    TORCH_CHECK(part.device() == own.device(), "[dicl] ", operation,
                ": all tensors of a call have to be on one device, got ", own.device(), " and ",
                part.device());
    TORCH_CHECK(part.scalar_type() == own.scalar_type() && part.numel() == own.numel(), "[dicl] ",
                operation, ": ", part.scalar_type(), " ", part.sizes(), " does not fit ",
                own.scalar_type(), " ", own.sizes(), "; every rank's part has to be alike");
  }
}

}  // namespace

Dicl::WorkPtr Dicl::allgather(Lists& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) {
  auto job = std::make_shared<Job>("all_gather");
  const Tensors& parts = only(outputs, job->operation);
  const at::Tensor& own = only(inputs, job->operation);
  if (!alike(parts)) {
    // Parts of different sizes are sent as messages from each rank to all other ranks.
    Tensors copies(size_, own);
    return exchange(job, c10d::OpType::ALLGATHER, parts, copies, options.timeout);
  }
  check_each(job->operation, parts, own);
  if (has_device(own)) {
    const DeviceCall call{c10d::OpType::ALLGATHER,
                          job->operation,
                          {{own, Use::kRead}, {allocate_for(parts), Use::kWrite}},
                          parts,
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            return device.enqueue(&Slots::all_gather, "communicator.all_gather",
                                                  dense[0].const_data_ptr(),
                                                  dense[1].mutable_data_ptr(), bytes_of(dense[0]),
                                                  kBytes, stream);
                          },
                          [&](const Tensors& dense) { copy_to_parts(dense[1], parts); }};
    for (const at::Tensor& part : parts) check_sendable(part, Use::kWrite, job->operation);
    if (auto work = by_device(call, options.timeout)) return work;
  }
  Tensors sent{job->add_bytes(own, Use::kRead)};
  Lists received{job->add_bytes(parts, Use::kWrite)};
  job->outputs = parts;
  job->wait_for_inputs();
  return run(c10d::OpType::ALLGATHER, job, options.timeout,
             [&] { return gloo_->allgather(received, sent, options); });
}

Dicl::WorkPtr Dicl::_allgather_base(at::Tensor& output, at::Tensor& input,
                                    const c10d::AllgatherOptions& options) {
  auto job = std::make_shared<Job>("all_gather_into_tensor");
  TORCH_CHECK(
      output.scalar_type() == input.scalar_type() && output.numel() == input.numel() * size_,
      "[dicl] all_gather_into_tensor: ", size_, " parts of ", input.scalar_type(), " ",
      input.sizes(), " do not fill ", output.scalar_type(), " ", output.sizes());
  if (has_device(input)) {
    const DeviceCall call{c10d::OpType::_ALLGATHER_BASE,
                          job->operation,
                          {{input, Use::kRead}, {output, Use::kWrite}},
                          {output},
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            return device.enqueue(&Slots::all_gather, "communicator.all_gather",
                                                  dense[0].const_data_ptr(),
                                                  dense[1].mutable_data_ptr(), bytes_of(dense[0]),
                                                  kBytes, stream);
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  at::Tensor sent = job->add_bytes(input, Use::kRead);
  at::Tensor received = job->add_bytes(output, Use::kWrite);
  job->outputs = {output};
  job->wait_for_inputs();
  return run(c10d::OpType::_ALLGATHER_BASE, job, options.timeout,
             [&] { return gloo_->_allgather_base(received, sent, options); });
}

Dicl::WorkPtr Dicl::allgather_coalesced(Lists& outputs, Tensors& inputs,
                                        const c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == static_cast<size_t>(size_), "[dicl] all_gather_coalesced takes ",
              size_, " lists, one of each rank, got ", outputs.size());
  std::vector<WorkPtr> works;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Lists parts(1);
    for (const Tensors& of_rank : outputs) {
      TORCH_CHECK(of_rank.size() == inputs.size(), "[dicl] all_gather_coalesced: a list of ",
                  of_rank.size(), " outputs for ", inputs.size(), " inputs");
      parts[0].push_back(of_rank[i]);
    }
    Tensors own{inputs[i]};
    works.push_back(allgather(parts, own, options));
  }
  return c10::make_intrusive<JoinedWork>(rank_, std::move(works));
}

Dicl::WorkPtr Dicl::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                    const c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == inputs.size(),
              "[dicl] all_gather_into_tensor_coalesced: ", inputs.size(), " inputs for ",
              outputs.size(), " outputs");
  std::vector<WorkPtr> works;
  for (size_t i = 0; i < outputs.size(); ++i)
    works.push_back(_allgather_base(outputs[i], inputs[i], options));
  return c10::make_intrusive<JoinedWork>(rank_, std::move(works));
}

Dicl::WorkPtr Dicl::gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& options) {
  auto job = std::make_shared<Job>("gather");
  const at::Tensor& own = only(inputs, job->operation);
  const bool root = options.rootRank == rank_;
  if (root) check_each(job->operation, only(outputs, job->operation), own);
  if (has_device(own)) {
    DeviceCall call{c10d::OpType::GATHER,
                    job->operation,
                    {{own, Use::kRead}},
                    {},
                    [&](const Communicator& device, const Tensors& dense, void* stream) {
                      return device.enqueue(
                          &Slots::gather, "communicator.gather", dense[0].const_data_ptr(),
                          root ? dense[1].mutable_data_ptr() : nullptr, bytes_of(dense[0]), kBytes,
                          static_cast<int32_t>(options.rootRank), stream);
                    }};
    if (root) {
      const Tensors& parts = outputs[0];
      for (const at::Tensor& part : parts) check_sendable(part, Use::kWrite, job->operation);
      call.parts.push_back({allocate_for(parts), Use::kWrite});
      call.outputs = parts;
      call.afterwards = [&](const Tensors& dense) { copy_to_parts(dense[1], parts); };
    }
    if (auto work = by_device(call, options.timeout)) return work;
  }
  Tensors sent{job->add_bytes(own, Use::kRead)};
  Lists received;
  if (root) {
    const Tensors& parts = outputs[0];
    received.push_back(job->add_bytes(parts, Use::kWrite));
    job->outputs = parts;
  }
  job->wait_for_inputs();
  return run(c10d::OpType::GATHER, job, options.timeout,
             [&] { return gloo_->gather(received, sent, options); });
}

Dicl::WorkPtr Dicl::scatter(Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& options) {
  auto job = std::make_shared<Job>("scatter");
  const at::Tensor& own = only(outputs, job->operation);
  const bool root = options.rootRank == rank_;
  if (root) check_each(job->operation, only(inputs, job->operation), own);
  if (has_device(own)) {
    DeviceCall call{c10d::OpType::SCATTER,
                    job->operation,
                    {{own, Use::kWrite}},
                    outputs,
                    [&](const Communicator& device, const Tensors& dense, void* stream) {
                      return device.enqueue(&Slots::scatter, "communicator.scatter",
                                            root ? dense[1].const_data_ptr() : nullptr,
                                            dense[0].mutable_data_ptr(), bytes_of(dense[0]), kBytes,
                                            static_cast<int32_t>(options.rootRank), stream);
                    }};
    if (root) call.parts.push_back({concatenate(inputs[0]), Use::kRead});
    if (auto work = by_device(call, options.timeout)) return work;
  }
  Tensors received{job->add_bytes(own, Use::kWrite)};
  Lists sent;
  if (root) {
    const Tensors& parts = inputs[0];
    sent.push_back(job->add_bytes(parts, Use::kRead));
  }
  job->outputs = outputs;
  job->wait_for_inputs();
  return run(c10d::OpType::SCATTER, job, options.timeout,
             [&] { return gloo_->scatter(received, sent, options); });
}

}  // namespace dl::core::distributed
