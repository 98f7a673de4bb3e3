// Point-to-point messages, all-to-all and barriers.
#include <ATen/ATen.h>

#include <cstddef>
#include <numeric>

#include "distributed/dicl.h"

namespace dl::core::distributed {
namespace {

std::vector<int64_t> byte_counts(const std::vector<at::Tensor>& tensors) {
  std::vector<int64_t> counts;
  for (const at::Tensor& each : tensors) counts.push_back(static_cast<int64_t>(each.nbytes()));
  return counts;
}

// Returns a view as rows of bytes: the number of rows does not change.
at::Tensor byte_rows(const at::Tensor& tensor) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  if (tensor.numel() == 0) return tensor.view({0}).view(at::kByte);
  return tensor.view({rows, tensor.numel() / rows}).view(at::kByte);
}

// The memory of the rows for each rank.
std::vector<Span> spans(const at::Tensor& tensor, const std::vector<int64_t>& counts, int ranks) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  const size_t row_bytes = rows == 0 ? 0 : tensor.nbytes() / rows;
  auto* memory = static_cast<std::byte*>(const_cast<void*>(tensor.const_data_ptr()));
  std::vector<Span> found;
  for (int rank = 0; rank < ranks; ++rank) {
    const size_t bytes = row_bytes * (counts.empty() ? rows / ranks : counts[rank]);
    found.push_back({memory, bytes});
    memory += bytes;
  }
  return found;
}

void check_rows(const char* which, const at::Tensor& tensor, const std::vector<int64_t>& counts,
                int ranks) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  if (counts.empty()) {
    TORCH_CHECK(rows % ranks == 0, "[dicl] all_to_all_single: the ", rows, " rows of the ", which,
                " cannot be shared evenly among ", ranks, " ranks; give ", which, "_split_sizes");
    return;
  }
  TORCH_CHECK(counts.size() == static_cast<size_t>(ranks) &&
                  std::accumulate(counts.begin(), counts.end(), int64_t{0}) == rows,
              "[dicl] all_to_all_single: ", which, "_split_sizes ", counts,
              " are not a number for each of ", ranks, " ranks that add up to ", rows, " rows");
}

}  // namespace

Dicl::WorkPtr Dicl::exchange(std::shared_ptr<Job> job, c10d::OpType type, const Tensors& outputs,
                             const Tensors& inputs, std::chrono::milliseconds timeout) {
  if (has_device(inputs[0])) {
    DeviceCall call{type,
                    job->operation,
                    {},
                    outputs,
                    [&](const Communicator& device, const Tensors& dense, void* stream) {
                      std::vector<Span> memory;
                      for (const at::Tensor& each : dense)
                        memory.push_back({const_cast<void*>(each.const_data_ptr()), each.nbytes()});
                      const auto middle = memory.begin() + size_;
                      return device.exchange({memory.begin(), middle}, {middle, memory.end()},
                                             stream);
                    }};
    for (const at::Tensor& each : inputs) call.parts.push_back({each, Use::kRead});
    for (const at::Tensor& each : outputs) call.parts.push_back({each, Use::kWrite});
    if (auto work = by_device(call, timeout)) return work;
  }
  const Tensors sent = job->add_bytes(inputs, Use::kRead);
  const Tensors received = job->add_bytes(outputs, Use::kWrite);
  job->outputs = outputs;
  job->wait_for_inputs();
  at::Tensor out = at::cat(sent);
  std::vector<int64_t> out_counts = byte_counts(sent), in_counts = byte_counts(received);
  at::Tensor in = at::empty({std::accumulate(in_counts.begin(), in_counts.end(), int64_t{0})},
                            at::TensorOptions(at::kByte));
  job->afterwards.emplace_back([received, in] {
    int64_t begin = 0;
    for (const at::Tensor& each : received) {
      each.copy_(in.narrow(0, begin, each.numel()));
      begin += each.numel();
    }
  });
  c10d::AllToAllOptions options;
  options.timeout = timeout;
  return run(type, job, timeout,
             [&] { return gloo_->alltoall_base(in, out, in_counts, out_counts, options); });
}

Dicl::WorkPtr Dicl::alltoall(Tensors& outputs, Tensors& inputs,
                             const c10d::AllToAllOptions& options) {
  auto job = std::make_shared<Job>("all_to_all");
  for (const auto* list : {&outputs, &inputs}) {
    TORCH_CHECK(list->size() == static_cast<size_t>(size_),
                "[dicl] all_to_all takes a tensor for each of ", size_, " ranks, got ",
                list->size());
  }
  return exchange(job, c10d::OpType::ALLTOALL, outputs, inputs, options.timeout);
}

Dicl::WorkPtr Dicl::alltoall_base(at::Tensor& output, at::Tensor& input,
                                  std::vector<int64_t>& output_counts,
                                  std::vector<int64_t>& input_counts,
                                  const c10d::AllToAllOptions& options) {
  auto job = std::make_shared<Job>("all_to_all_single");
  TORCH_CHECK(output.scalar_type() == input.scalar_type(), "[dicl] all_to_all_single: an input of ",
              input.scalar_type(), " does not fit an output of ", output.scalar_type());
  check_rows("output", output, output_counts, size_);
  check_rows("input", input, input_counts, size_);
  if (has_device(input)) {
    const DeviceCall call{c10d::OpType::ALLTOALL_BASE,
                          job->operation,
                          {{input, Use::kRead}, {output, Use::kWrite}},
                          {output},
                          [&](const Communicator& device, const Tensors& dense, void* stream) {
                            return device.exchange(spans(dense[0], input_counts, size_),
                                                   spans(dense[1], output_counts, size_), stream);
                          }};
    if (auto work = by_device(call, options.timeout)) return work;
  }
  at::Tensor sent = byte_rows(job->add(input, Use::kRead));
  at::Tensor received = byte_rows(job->add(output, Use::kWrite));
  job->outputs = {output};
  job->wait_for_inputs();
  return run(c10d::OpType::ALLTOALL_BASE, job, options.timeout, [&] {
    return gloo_->alltoall_base(received, sent, output_counts, input_counts, options);
  });
}

Dicl::WorkPtr Dicl::send(Tensors& tensors, int to, int tag) {
  auto job = std::make_shared<Job>("send");
  job->peer = to;
  Tensors wires{job->add_bytes(only(tensors, job->operation), Use::kRead)};
  job->outputs = tensors;
  job->wait_for_inputs();
  return run(c10d::OpType::SEND, job, c10d::kUnsetTimeout,
             [&] { return gloo_->send(wires, to, tag); });
}

Dicl::WorkPtr Dicl::recv(Tensors& tensors, int from, int tag) {
  auto job = std::make_shared<Job>("recv");
  job->peer = from;
  Tensors wires{job->add_bytes(only(tensors, job->operation), Use::kWrite)};
  job->outputs = tensors;
  job->wait_for_inputs();
  return run(c10d::OpType::RECV, job, c10d::kUnsetTimeout,
             [&] { return gloo_->recv(wires, from, tag); });
}

Dicl::WorkPtr Dicl::recvAnysource(Tensors& tensors, int tag) {
  auto job = std::make_shared<Job>("recv");
  Tensors wires{job->add_bytes(only(tensors, job->operation), Use::kWrite)};
  job->outputs = tensors;
  job->wait_for_inputs();
  return run(c10d::OpType::RECVANYSOURCE, job, c10d::kUnsetTimeout,
             [&] { return gloo_->recvAnysource(wires, tag); });
}

Dicl::WorkPtr Dicl::barrier(const c10d::BarrierOptions& options) {
  c10d::BarrierOptions given = options;
  given.device_ids.clear();
  given.device.reset();
  return run(c10d::OpType::BARRIER, std::make_shared<Job>("barrier"), options.timeout,
             [&] { return gloo_->barrier(given); });
}

void Dicl::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_for_all) {
  gloo_->monitoredBarrier(options, wait_for_all);
}

}  // namespace dl::core::distributed
