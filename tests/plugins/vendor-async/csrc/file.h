#ifndef DL_ASYNC_TEST_FILE_H_
#define DL_ASYNC_TEST_FILE_H_

#include <unistd.h>

#include <utility>

namespace dl::async_test {

/** An owned file descriptor; negative if there is none. */
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

}  // namespace dl::async_test

#endif
