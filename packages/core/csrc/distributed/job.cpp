#include "distributed/job.h"

#include <ATen/ATen.h>
#include <c10/core/ScalarType.h>

#include <sstream>

#include "memory/transfer.h"

namespace dl::core::distributed {
bool alike(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& each : tensors) {
    if (each.numel() != tensors[0].numel()) return false;
  }
  return true;
}

at::Tensor as_bytes(const at::Tensor& tensor) {
  return tensor.view({tensor.numel()}).view(at::kByte);
}

at::Tensor Job::add(const at::Tensor& tensor, Use use) {
  lanes_.emplace_back(tensor, use, operation);
  TORCH_CHECK(lanes_.back().device() == lanes_.front().device(), "[dicl] ", operation,
              ": all tensors of a call have to be on one device, got ",
              lanes_.front().tensor().device(), " and ", tensor.device());
  return lanes_.back().host();
}

std::vector<at::Tensor> Job::add(const std::vector<at::Tensor>& tensors, Use use) {
  std::vector<at::Tensor> hosts;
  hosts.reserve(tensors.size());
  for (const auto& tensor : tensors) hosts.push_back(add(tensor, use));
  return hosts;
}

at::Tensor Job::add_bytes(const at::Tensor& tensor, Use use) { return as_bytes(add(tensor, use)); }

std::vector<at::Tensor> Job::add_bytes(const std::vector<at::Tensor>& tensors, Use use) {
  std::vector<at::Tensor> hosts;
  hosts.reserve(tensors.size());
  for (const auto& tensor : tensors) hosts.push_back(add_bytes(tensor, use));
  return hosts;
}

void Job::wait_for_inputs() const {
  for (const c10::Device& each : devices()) wait_for(each.index());
}

Reduction& Job::add_reduction(const at::Tensor& host, const c10d::ReduceOp& op) {
  reductions_.push_back(std::make_shared<Reduction>(host, op, operation));
  return *reductions_.back();
}

void Job::bring_back(int ranks) const {
  for (const auto& reduction : reductions_) reduction->finish(ranks);
  for (const auto& each : afterwards) each();
  for (const Lane& lane : lanes_) lane.bring_back();
}

std::vector<c10::Device> Job::devices() const {
  for (const Lane& lane : lanes_) {
    if (lane.device() >= 0) return {lane.tensor().device()};
  }
  return {};
}

CallFacts Job::facts() const {
  if (lanes_.empty()) return {operation, peer};
  return {describe(operation, lanes_.front().tensor(), lanes_.size() - 1), peer};
}

std::string describe(const char* operation, const at::Tensor& first, size_t more) {
  std::ostringstream text;
  text << operation << " of " << c10::getDtypeNames(first.scalar_type()).first << " "
       << first.sizes();
  if (more > 0) text << " and " << more << " more";
  text << " on " << first.device();
  return text.str();
}

}  // namespace dl::core::distributed
