// Several calls that share one Work object.
#pragma once

#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

namespace dl::core::distributed {

class JoinedWork final : public c10d::Work {
 public:
  JoinedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> parts);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  std::vector<at::Tensor> result() override;
  void synchronize() override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void abort() override;
  // The future completes with the last future of the parts, and keeps them alive.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  std::vector<c10::intrusive_ptr<c10d::Work>> parts_;
};

}  // namespace dl::core::distributed
