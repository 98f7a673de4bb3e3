#include "extensions/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "dl/kit/status.h"
#include "extensions/file.h"

namespace dl::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutput = size_t{1} << 20;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Attributes for posix_spawn; the program leads a process group, so that all its children can be
// killed.
class Spawn {
 public:
  explicit Spawn(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  pid_t start(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
    pid_t process = 0;
    const int failure = posix_spawn(&process, words.front().c_str(), &actions_, &attributes_,
                                    pointers(words).data(), pointers(environment).data());
    if (failure != 0)
      throw kit::Error(DL_UNAVAILABLE, words.front() + " cannot be run: " + std::strerror(failure));
    return process;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Read until all writers have closed the pipe; return false on timeout.
bool read_all(int input, Clock::time_point end, std::string& output) {
  char block[1 << 14];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting = {input, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30))) <= 0) continue;
    const ssize_t count = read(input, block, sizeof block);
    if (count == 0) return true;
    if (count < 0 && errno != EINTR) return true;
    if (count > 0)
      output.append(block, std::min(static_cast<size_t>(count), kMaxOutput - output.size()));
  }
}

}  // namespace

Finished run_program(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment, double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw kit::Error(DL_ERROR, std::string("no pipe can be made: ") + std::strerror(errno));
  const Descriptor input(ends[0]);
  Descriptor output(ends[1]);
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3));
  const pid_t process = Spawn(output.get()).start(words, environment);
  output.reset();
  Finished finished{};
  finished.in_time = read_all(input.get(), end, finished.output);
  if (!finished.in_time) kill(-process, SIGKILL);
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(process, &status, 0);
  } while (ended < 0 && errno == EINTR);
  // If this process ignores SIGCHLD, the exit status is unavailable; the caller then checks the
  // created files.
  finished.good = ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return finished;
}

}  // namespace dl::cpu
