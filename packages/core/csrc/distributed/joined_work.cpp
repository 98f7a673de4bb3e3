#include "distributed/joined_work.h"

#include <ATen/core/List_inl.h>

#include <algorithm>

namespace dl::core::distributed {

JoinedWork::JoinedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> parts)
    : Work(rank, c10d::OpType::COALESCED), parts_(std::move(parts)) {}

bool JoinedWork::isCompleted() {
  return std::all_of(parts_.begin(), parts_.end(), [](auto& part) { return part->isCompleted(); });
}

bool JoinedWork::isSuccess() const {
  return std::all_of(parts_.begin(), parts_.end(), [](auto& part) { return part->isSuccess(); });
}

std::exception_ptr JoinedWork::exception() const {
  for (const auto& part : parts_) {
    if (auto error = part->exception()) return error;
  }
  return nullptr;
}

std::vector<at::Tensor> JoinedWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& part : parts_) {
    for (auto& tensor : part->result()) all.push_back(std::move(tensor));
  }
  return all;
}

void JoinedWork::synchronize() {
  for (const auto& part : parts_) part->synchronize();
}

bool JoinedWork::wait(std::chrono::milliseconds timeout) {
  // Waits for all parts before it rethrows an error, because their tensors must not be in use
  // afterwards.
  std::exception_ptr error;
  for (const auto& part : parts_) {
    try {
      part->wait(timeout);
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
  return true;
}

void JoinedWork::abort() {
  for (const auto& part : parts_) part->abort();
}

c10::intrusive_ptr<c10::ivalue::Future> JoinedWork::getFuture() {
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
      c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
  for (const auto& part : parts_) futures.push_back(part->getFuture());
  return c10::collectAll(futures);
}

}  // namespace dl::core::distributed
