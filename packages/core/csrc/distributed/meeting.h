// How the ranks of a group agree on the vendor's communicator, through the group's store.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "distributed/communicator.h"

namespace dl::core::distributed {

// Every rank makes one with its group. They meet when the first call for devices comes, which is
// the same on all ranks: either all get a communicator, or none does and all go over gloo.
class Meeting {
 public:
  // `offer`: whether this rank would take a communicator, if its devices have one.
  Meeting(c10::intrusive_ptr<c10d::Store> store, int rank, int ranks, bool offer);

  // That of this group, for a device; NULL without one. Waits for the other ranks the first time.
  // Throws where the group has one on another device, and where a rank does not come in time.
  std::shared_ptr<Communicator> communicator(int device, std::chrono::milliseconds timeout);
  // False once it is known that there will be none.
  bool may_agree() const { return !offer_.empty() && (!met_ || made_ != nullptr); }
  // If there is one already.
  const std::shared_ptr<Communicator>& made() const { return made_; }

 private:
  bool all_offer_the_same(std::chrono::milliseconds timeout);
  void make(int device, std::chrono::milliseconds timeout);
  std::string key(const char* what, int rank) const;
  std::string heard(const std::string& key, std::chrono::milliseconds timeout);
  void say(const std::string& key, const std::string& value);

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int ranks_;
  std::string offer_;
  bool met_ = false;
  std::shared_ptr<Communicator> made_;
};

}  // namespace dl::core::distributed
