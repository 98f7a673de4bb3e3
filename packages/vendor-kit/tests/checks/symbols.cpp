#include "dl/kit/symbols.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "check.h"

namespace kit = dl::kit;

extern "C" {
double no_such_function(int);
}

namespace {

struct Math : kit::Library {
  Math() : Library({"libnothing.so.9", "libm.so.6"}) {}
  DL_KIT_SYMBOL_AS(root, sqrt);
  DL_KIT_SYMBOL(no_such_function);
};

struct Nothing : kit::Library {
  Nothing() : Library({"libnothing.so.9", "/nowhere/libnothing.so"}) {}
  DL_KIT_SYMBOL_AS(root, sqrt);
};

void check_symbols() {
  Math math;
  CHECK(math.opened().empty());  // nothing is opened yet
  CHECK(math.present() && math.opened().empty());
  CHECK(math.root(9.0) == 3.0 && math.opened() == "libm.so.6");
  CHECK(math.root.available() && !math.no_such_function.available());
  const StatusInfo status = thrown([&] { math.no_such_function(1); });
  CHECK(status.code == DL_UNAVAILABLE &&
        mentions(status, "libm.so.6 has no function no_such_function"));

  Nothing nothing;
  CHECK(!nothing.present());
  for (int i = 0; i < 2; ++i) {
    const StatusInfo missing = thrown([&] { nothing.root(1.0); });
    CHECK(missing.code == DL_UNAVAILABLE && missing.operation == "dlopen");
    CHECK(mentions(missing, "libnothing.so.9") && mentions(missing, "/nowhere/libnothing.so"));
    CHECK(mentions(missing, "LD_LIBRARY_PATH"));
  }
  CHECK(thrown([] { kit::Library({"build/libm.so.6"}); }).code == DL_INVALID_ARGUMENT);

  // The first call from many threads at once.
  Math raced;
  std::vector<std::thread> threads;
  std::vector<double> roots(8);
  for (size_t i = 0; i < roots.size(); ++i)
    threads.emplace_back([&, i] { roots[i] = raced.root(static_cast<double>(i * i)); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < roots.size(); ++i) CHECK(roots[i] == static_cast<double>(i));
}

void check_presence() {
  const std::string folder = std::getenv("CHECK_FOLDER");
  const std::string library = folder + "/libdriver.so.3", cache = folder + "/ld.so.cache";
  std::ofstream(library) << "it cannot be opened, only found";
  CHECK(kit::any_path({"/nowhere", library}) && !kit::any_path({"/nowhere"}));
  CHECK(kit::find_library({library}) == library);
  CHECK(kit::find_library({"libdriver.so.3"}).empty());
  CHECK(kit::find_library({"libdriver.so.3"}, "/nowhere").empty());

  // A file like the loader's cache: NUL-separated strings, some stale and some that only have the
  // same ending.
  std::ofstream text(cache, std::ios::binary);
  for (const std::string& entry :
       {std::string("libdriver.so.3"), std::string("/gone/libdriver.so.3"),
        folder + "/xlibdriver.so.3", library})
    text.write(entry.c_str(), static_cast<std::streamsize>(entry.size() + 1));
  text.close();
  CHECK(kit::find_library({"libdriver.so.3"}, cache.c_str()) == library);
  CHECK(kit::find_library({"driver.so.3"}, cache.c_str()).empty());

  setenv("LD_LIBRARY_PATH", ("/nowhere::" + folder).c_str(), 1);
  CHECK(kit::find_library({"libother.so", "libdriver.so.3"}) == library);
  CHECK(kit::own_folder().size() > 1 && kit::own_folder()[0] == '/');
}

}  // namespace

MAIN {
  check_symbols();
  check_presence();
}
