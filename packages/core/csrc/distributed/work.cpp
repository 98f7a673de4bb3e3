#include "distributed/work.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <optional>

#include "distributed/arrival_streams.h"
#include "memory/silent_writes.h"

namespace dl::core::distributed {

GlooWork::GlooWork(c10d::OpType type, std::shared_ptr<const Job> job, GroupFacts group,
                   c10::intrusive_ptr<c10d::Work> given)
    : Work(group.rank, type),
      job_(std::move(job)),
      group_(std::move(group)),
      given_(std::move(given)),
      future_(c10::make_intrusive<c10::ivalue::Future>(
          c10::ListType::create(c10::TensorType::get()), job_->devices())) {}

void GlooWork::follow() {
  if (is_message()) return;
  auto self = c10::intrusive_ptr<GlooWork>::reclaim_copy(this);
  given_->getFuture()->addCallback([self](c10::ivalue::Future& done) {
    self->complete(done.hasError() ? done.exception_ptr() : nullptr);
  });
}

void GlooWork::complete(std::exception_ptr error) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (completed_) return;
  }
  // Runs on a thread of gloo, where an exception would terminate the process.
  std::optional<ArrivalStreams> streams;
  if (error == nullptr) {
    try {
      streams.emplace(job_->devices());
      const at::NoGradGuard no_grad;
      job_->bring_back(group_.size);
      count_silent_write();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error != nullptr) error = explain(error, job_->facts(), group_);
  if (error == nullptr) {
    try {
      future_->markCompleted(at::IValue(job_->outputs));
    } catch (...) {
      // The events that mark the arrival of the results could not be recorded.
      error = explain(std::current_exception(), job_->facts(), group_);
    }
  }
  if (error != nullptr && !future_->completed()) future_->setError(error);
  finish(error);
}

void GlooWork::await_message(std::chrono::milliseconds timeout) {
  if (isCompleted()) return;
  std::exception_ptr error;
  try {
    given_->wait(timeout == kNoTimeout ? group_.timeout : timeout);
  } catch (...) {
    error = std::current_exception();
  }
  complete(error);
}

bool GlooWork::isCompleted() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return completed_;
}

bool GlooWork::isSuccess() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return completed_ && exception_ == nullptr;
}

std::exception_ptr GlooWork::exception() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return exception_;
}

int GlooWork::sourceRank() const { return given_->sourceRank(); }

void GlooWork::synchronize() {
  if (isSuccess()) future_->wait();
}

bool GlooWork::wait(std::chrono::milliseconds timeout) {
  if (is_message()) await_message(timeout);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto ended = [this] { return completed_; };
    if (timeout == kNoTimeout)
      cv_.wait(lock, ended);
    else if (!cv_.wait_for(lock, timeout, ended))
      raise_late(job_->facts(), group_, timeout);
    if (exception_ != nullptr) std::rethrow_exception(exception_);
  }
  future_->wait();
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> GlooWork::getFuture() {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_message(), "[dicl] ", job_->operation,
                              " has no future: gloo completes messages in wait(). Call wait() on "
                              "the results of isend and irecv");
  return future_;
}

}  // namespace dl::core::distributed
