// Results of a call over gloo: torch's Work object and its future.
#pragma once

#include <memory>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "distributed/failure.h"
#include "distributed/job.h"

namespace dl::core::distributed {

// The future holds the caller's tensors, on their devices; a stream that waits for the future waits
// for the copies of the results. For messages gloo has no future: they complete when the caller
// waits for them.
class GlooWork final : public c10d::Work {
 public:
  GlooWork(c10d::OpType type, std::shared_ptr<const Job> job, GroupFacts group,
           c10::intrusive_ptr<c10d::Work> given);
  // Must be called exactly once, right after construction: a constructor cannot hand out references
  // to its object.
  void follow();

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  int sourceRank() const override;
  std::vector<at::Tensor> result() override { return job_->outputs; }
  void synchronize() override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void abort() override { given_->abort(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return group_.sequence; }

 private:
  bool is_message() const { return c10d::isP2POp(opType_); }
  void complete(std::exception_ptr error);
  void await_message(std::chrono::milliseconds timeout);

  std::shared_ptr<const Job> job_;
  GroupFacts group_;
  c10::intrusive_ptr<c10d::Work> given_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace dl::core::distributed
