// Operating-system threads update the same few elements concurrently: no update may get lost,
// elements next to short ones must not change, and of the errors that threads raise one is stored
// completely. The exit status is 0 if all of this holds.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "dl_kernels/gpu/atomic.h"
#include "dl_kernels/gpu/check.h"

using namespace dl::kernels;

namespace {

constexpr int kThreads = 4, kRounds = 20000, kElements = 4;

struct Larger {
  template <class C>
  C operator()(C a, C b) const {
    return a > b ? a : b;
  }
};

// Start all threads together: one may otherwise finish before the next one starts.
template <class F>
void in_threads(const F& f) {
  std::vector<std::thread> threads;
  std::atomic<int> missing{kThreads};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&f, &missing, t] {
      --missing;
      while (missing != 0) std::this_thread::yield();
      f(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The numbers are small enough to be exact in every format.
template <class T>
bool agrees(const char* name) {
  using C = compute_t<T>;
  alignas(8) T sums[kElements], tops[kElements];
  // The first and the last element are neighbors that no thread updates.
  const auto edge = [](int i) { return i == 0 || i == kElements - 1; };
  for (int i = 0; i < kElements; ++i) sums[i] = tops[i] = cast<T>(static_cast<C>(edge(i) ? 5 : 0));
  in_threads([&](int t) {
    for (int k = 0; k < kRounds; ++k) {
      const int i = 1 + k % (kElements - 2);
      gpu::atomic_add(&sums[i], cast<T>(static_cast<C>(1)));
      gpu::atomic_add(&sums[i], cast<T>(static_cast<C>(-1)));
      gpu::atomic_update(&tops[i], cast<T>(static_cast<C>(k * kThreads / kRounds * 20 + t)),
                         Larger{});
    }
  });
  bool good = true;
  for (int i = 0; i < kElements; ++i) {
    good &= cast<C>(sums[i]) == C(edge(i) ? 5 : 0);
    good &= cast<C>(tops[i]) == C(edge(i) ? 5 : (kThreads - 1) * 20 + kThreads - 1);
  }
  if (!good) std::printf("%s: a change got lost\n", name);
  return good;
}

bool complex_agrees() {
  Complex<double> sum{0, 0};
  in_threads([&](int) {
    for (int k = 0; k < kRounds; ++k) gpu::atomic_add(&sum, Complex<double>{1, -2});
  });
  return sum.re == kThreads * kRounds && sum.im == -2 * kThreads * kRounds;
}

// Each thread updates an element of its own, within a shared word.
bool bools_agree() {
  alignas(8) bool elements[kThreads];
  bool good = true;
  for (int k = 0; k < 100; ++k) {
    for (bool& element : elements) element = false;
    in_threads([&](int t) { gpu::atomic_add(&elements[t], true); });
    for (const bool element : elements) good &= element;
  }
  return good;
}

// Every field of an error names the thread that raised it.
bool errors_are_whole() {
  std::vector<dl_device_error_t> words(kRounds);
  in_threads([&](int t) {
    dl_device_error_t error{};
    error.value = error.position = error.low = error.high = t;
    std::memset(error.operator_name, 'a' + t, sizeof(error.operator_name));
    std::memset(error.text, 'a' + t, sizeof(error.text));
    for (dl_device_error_t& word : words) gpu::raise(&word, error);
  });
  bool good = true;
  for (const dl_device_error_t& word : words) {
    good &= word.state == DL_DEVICE_ERROR_RAISED && word.value == word.position;
    good &= word.value == word.low && word.value == word.high;
    for (const char c : word.operator_name) good &= c == 'a' + word.value;
    for (const char c : word.text) good &= c == 'a' + word.value;
  }
  return good;
}

}  // namespace

int main() {
  bool good = agrees<int8_t>("int8");
  good &= agrees<uint8_t>("uint8");
  good &= agrees<int16_t>("int16");
  good &= agrees<int32_t>("int32");
  good &= agrees<int64_t>("int64");
  good &= agrees<Half>("float16");
  good &= agrees<BFloat16>("bfloat16");
  good &= agrees<float>("float32");
  good &= agrees<double>("float64");
  good &= complex_agrees();
  good &= bools_agree();
  good &= errors_are_whole();
  return good ? 0 : 1;
}
