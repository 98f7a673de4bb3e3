// Exchange of data between the ranks of a fake library of collectives: threads or processes of one
// machine, through files in a folder of the communicator.
#ifndef DL_FAKES_EXCHANGE_H_
#define DL_FAKES_EXCHANGE_H_

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#pragma GCC visibility push(hidden)

namespace fake_collectives {

// Why an exchange failed. kLost: a rank has ended, or has left the communicator.
enum class Fault { kSystem, kStopped, kLost, kLate, kMismatch };
struct Failure {
  Fault fault;
  std::string text;
};
[[noreturn]] inline void fail(Fault fault, const std::string& text) { throw Failure{fault, text}; }

class Exchange {
 public:
  Exchange(std::string folder, int rank, int ranks)
      : rank(rank), ranks(ranks), folder_(std::move(folder)) {
    mkdir(folder_.c_str(), 0700);
  }
  ~Exchange() {
    if (presence_ >= 0) close(presence_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const int rank, ranks;

  // Ends all waits, also of this rank's other threads.
  void stop() { stopped_ = true; }

  // Waits until all ranks have joined.
  void join(double seconds = kNever) {
    // A lock on the file, which the system releases with the process, marks the rank as present.
    const std::string path = presence(rank), made = path + ".new";
    struct stat found{};
    if (stat(path.c_str(), &found) == 0) fail(Fault::kMismatch, "the rank has already joined");
    presence_ = open(made.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (presence_ < 0 || flock(presence_, LOCK_EX | LOCK_NB) != 0 ||
        std::rename(made.c_str(), path.c_str()) != 0)
      fail(Fault::kSystem, "no " + path);
    for (int other = 0; other < ranks; ++other) wait_for(presence(other), other, seconds);
  }

  // Publishes this rank's data under a name.
  void put(const std::string& name, const std::string& data) {
    const std::string path = path_of(name, rank);
    std::ofstream(path + ".new", std::ios::binary) << data;
    if (std::rename((path + ".new").c_str(), path.c_str()) != 0) fail(Fault::kSystem, "no " + path);
  }
  // Waits for the data of a rank.
  std::string take(const std::string& name, int from) {
    const std::string path = path_of(name, from);
    wait_for(path, from, kNever);
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kNever = 1e9;

  std::string path_of(const std::string& name, int of) const {
    return folder_ + "/" + name + "." + std::to_string(of);
  }
  std::string presence(int of) const { return path_of("come", of); }

  bool has_left(int other) const {
    const int file = open(presence(other).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;  // it has not come yet
    const bool left = flock(file, LOCK_SH | LOCK_NB) == 0;
    close(file);
    return left;
  }

  void wait_for(const std::string& path, int from, double seconds) const {
    const Clock::time_point begin = Clock::now();
    struct stat found{};
    bool left = false;
    for (int round = 1; stat(path.c_str(), &found) != 0; ++round) {
      if (stopped_) fail(Fault::kStopped, "the communicator was aborted");
      // The rank may have left after the data was published, so that the file is looked for again.
      if (left) fail(Fault::kLost, "rank " + std::to_string(from) + " has ended");
      if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds)
        fail(Fault::kLate, "rank " + std::to_string(from) + " is missing");
      constexpr int kRoundsPerProbe = 50;
      if (round % kRoundsPerProbe == 0) left = has_left(from);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  const std::string folder_;
  int presence_ = -1;
  std::atomic<bool> stopped_{false};
};

}  // namespace fake_collectives

#pragma GCC visibility pop

#endif  // DL_FAKES_EXCHANGE_H_
