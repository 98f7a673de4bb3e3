#include "dl/kit/lru.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace kit = dl::kit;

namespace {

struct Counted {
  explicit Counted(int number) : value(number) { ++live; }
  Counted(Counted&& other) noexcept : value(other.value) { ++live; }
  ~Counted() { --live; }
  int value;
  static std::atomic<int> live;
};
std::atomic<int> Counted::live{0};

}  // namespace

MAIN {
  kit::Lru<int, Counted> cache(2);
  int made = 0;
  const auto get = [&](int key) {
    return cache.get(key, [&] {
      ++made;
      return Counted(key);
    });
  };
  CHECK(get(1)->value == 1 && get(2)->value == 2 && get(1)->value == 1 && made == 2);
  // 2 is the least recently used key.
  get(3);
  CHECK(cache.size() == 2 && cache.find(2) == nullptr && cache.find(1) != nullptr);
  CHECK(made == 3 && cache.made() == 3 && Counted::live == 2);

  // A value in use outlives its eviction.
  auto held = cache.find(1);
  get(4), get(5);
  CHECK(cache.find(1) == nullptr && held->value == 1 && Counted::live == 3);
  held.reset();
  CHECK(Counted::live == 2);

  // A failure leaves nothing in the cache.
  const StatusInfo status = thrown(
      [&] { cache.get(9, []() -> Counted { throw kit::Error(DL_ERROR, "no such descriptor"); }); });
  CHECK(status.message == "no such descriptor" && cache.find(9) == nullptr && cache.size() == 2);

  // A value that is inserted does not replace that of its key.
  {
    const auto first = cache.insert(7, std::make_shared<const Counted>(7));
    CHECK(first->value == 7 && cache.insert(7, std::make_shared<const Counted>(8)) == first);
    CHECK(cache.size() == 2 && cache.find(7) == first);
    cache.erase(7);
    cache.erase(7);
    CHECK(cache.find(7) == nullptr && cache.size() == 1 && first->value == 7);
  }
  cache.clear();
  CHECK(cache.size() == 0 && Counted::live == 0);
  CHECK((kit::Lru<int, int>(0).capacity() == 1));

  kit::Lru<int, std::string> shared(8);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int key = (i * (t + 1)) % 16;
        if (*shared.get(key, [&] { return std::to_string(key); }) != std::to_string(key)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0 && shared.size() == 8);
}
