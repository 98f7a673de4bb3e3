#include "trial/library.h"

#include <dlfcn.h>

#include <mutex>

#include "added/listing.h"
#include "diopi/diopirt.h"
#include "dl/extension.h"
#include "dl/serial_host.hpp"
#include "trial/crash.h"
#include "trial/flaws.h"

namespace dl::trial {
namespace {

using checked::format;

// Hosts show at most this many devices.
constexpr int32_t kDevicesToAsk = 64;

// The last message that the library logged; shown as the reason if it has no device.
std::mutex said_mutex;
std::string said;

void remember(const dl_host_t*, int32_t, const char* message) {
  const std::lock_guard<std::mutex> lock(said_mutex);
  said = foreign::read_text(message);
}

const dl_host_t kHost = serial_host("trial", remember);

// Formats a status and releases it.
std::string take_message(dl_status_t* status) {
  std::string said = status->message;
  if (status->operation != nullptr) said += " (" + std::string(status->operation) + ")";
  status->release(status);
  return said;
}

class Trial {
 public:
  Trial(const dl_trial_request_t& request, const Report& report)
      : request_(request), report_(report) {}

  [[noreturn]] void run() {
    report_crashes(report_);
    stage("loaded");
    const std::set<std::string> before = foreign::Code().files();
    for (const char* const* path = request_.companions; *path != nullptr; ++path)
      dlopen(*path, RTLD_NOW | RTLD_LOCAL);
    const bool legacy = request_.legacy_runtime != nullptr;
    if (legacy) dlopen(request_.legacy_runtime, RTLD_NOW | RTLD_GLOBAL);
    void* library = dlopen(request_.library, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) end_with("unloadable", foreign::read_text(dlerror()));
    if (request_.added_to != nullptr) {
      ask_added(library);
    } else {
      legacy ? ask_legacy(library) : ask_vendor(library);
    }
    list_files(before);
    end();
  }

 private:
  void stage(const char* what) const { report_.text("stage", what); }

  [[noreturn]] void end() const {
    report_.line("{\"done\": true}");
    // Not `exit`: destructors of the library are not part of the trial.
    _exit(0);
  }
  [[noreturn]] void end_with(const char* key, const std::string& why) const {
    report_.text(key, why);
    end();
  }

  void check(dl_status_t* status, const char* slot) const {
    if (status != nullptr) end_with("defect", std::string(slot) + ": " + take_message(status));
  }

  void ask_legacy(void* library) {
    stage("asked for its name");
    const auto text = [&](const char* name) {
      void* const found = dlsym(library, name);
      if (found != nullptr && !foreign::executable(found))
        end_with("defect", std::string(name) + " is" + checked::not_code(found));
      const auto function = reinterpret_cast<const char* (*)()>(found);
      return quoted_foreign(function != nullptr ? function() : nullptr);
    };
    const std::string name = text("diopiGetVendorName");
    report_vendor(name, text("diopiGetImplVersion"), 1);
  }

  void ask_added(void* library) {
    stage("asked for its operators");
    const auto entry = reinterpret_cast<dl_operators_entry_v1_t>(dlsym(library, "dl_operators_v1"));
    if (entry == nullptr) end_with("unloadable", "it does not export dl_operators_v1");
    const dl_operators_target_t any = {sizeof any, request_.added_to, "", nullptr, -1};
    const added::Listing listing = added::list_operators(entry, any);
    if (!listing.refusal.empty()) end_with("refused", listing.refusal);
    if (!listing.defect.empty()) end_with("defect", "dl_operators_v1 " + listing.defect);
    report_operators(listing.operators.data(), listing.operators.size());
    report_vendor(quoted(""), quoted(listing.version), 0);
  }

  void ask_vendor(void* library) {
    stage("asked for an instance");
    const auto entry = reinterpret_cast<dl_vendor_entry_v1_t>(dlsym(library, "dl_vendor_v1"));
    if (entry == nullptr) end_with("unloadable", "it does not export dl_vendor_v1");
    dl_opened_t opened;
    if (dl_status_t* status = checked::open(entry, &kHost, &opened))
      end_with("refused", take_message(status));
    if (opened.defect[0] != '\0') end_with("defect", std::string("dl_vendor_v1 ") + opened.defect);
    vendor_ = opened.checked;
    find_missing_slots(checked::Vendor::of(vendor_).theirs(), flaws_);
    find_empty_extensions(checked::Vendor::of(vendor_).their_extensions(), flaws_);
    ask_operators();
    ask_devices();
    for (const std::string& flaw : flaws_) report_.text("flaw", flaw);
  }

  void ask_operators() {
    if (vendor_->table->operators == nullptr) return;
    stage("asked for its operators");
    const dl_operator_t* list = nullptr;
    uint64_t count = 0;
    check(vendor_->table->operators(vendor_, &list, &count), "operators");
    find_repeated_operators(list, count, flaws_);
    report_operators(list, count);
  }

  void report_operators(const dl_operator_t* list, uint64_t count) const {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) {
      if (list[i].function == nullptr) continue;
      text += (text.empty() ? "[" : ", [") + quoted_foreign(list[i].name) +
              format(", %" PRIu64 "]", list[i].fingerprint);
    }
    report_.line("{\"operators\": [" + text + "]}");
  }

  void ask_devices() {
    const dl_vendor_table_t& table = *vendor_->table;
    int32_t count = 0;
    if (table.device_count != nullptr && present()) {
      stage("asked how many devices it has");
      check(table.device_count(vendor_, &count), "device_count");
    }
    report_vendor(quoted(table.name), quoted(table.version), count);
    report_log();
    report_extensions();
    ask_kernels(count);
    if (table.device_properties == nullptr) return;
    stage("asked for the properties of its devices");
    for (int32_t device = 0; device < std::min(count, kDevicesToAsk); ++device) ask_device(device);
  }

  // Counting devices may initialize a driver. Hosts call `present` first, to avoid that on machines
  // without a device.
  bool present() {
    if (vendor_->table->present == nullptr) return true;
    stage("asked whether a device is present");
    int32_t found = 1;
    check(vendor_->table->present(vendor_, &found), "present");
    return found != 0;
  }

  void ask_device(int32_t device) {
    dl_device_properties_t found{};
    found.struct_size = sizeof found;
    dl_status_t* status = vendor_->table->device_properties(vendor_, device, &found);
    if (status != nullptr && status->code == DL_NOT_SUPPORTED) return status->release(status);
    check(status, "device_properties");
    report_.line(format("{\"device\": {\"index\": %d, ", device) + "\"name\": " +
                 quoted(found.name) + ", \"architecture\": " + quoted(found.architecture) +
                 format(", \"total_memory\": %" PRIu64 "}}", found.total_memory));
  }

  void ask_kernels(int32_t count) {
    const auto* kernels = reinterpret_cast<const dl_kernel_extension_t*>(
        dl_extension_find(vendor_->table, DL_EXT_KERNEL));
    if (kernels == nullptr || kernels->properties == nullptr || count == 0) return;
    stage("asked what compiles its kernels");
    dl_kernel_properties_t found{};
    found.struct_size = sizeof found;
    dl_status_t* status = kernels->properties(vendor_, 0, &found);
    if (status != nullptr && status->code == DL_NOT_SUPPORTED) return status->release(status);
    check(status, "kernel.properties");
    report_.line("{\"kernels\": {\"languages\": " + quoted(found.languages) + ", \"compiler\": " +
                 quoted(found.compiler) + ", \"unavailable\": " + quoted(found.unavailable) + "}}");
  }

  // Reports the extensions that this release knows.
  void report_extensions() const {
    std::string text;
    checked::each_extension(checked::Vendor::of(vendor_).their_extensions(), [&](const auto& one) {
      using Type = checked::ExtensionType<std::decay_t<decltype(one)>>;
      if (one.type != 0) text += (text.empty() ? "" : ", ") + quoted(Type::kName);
    });
    report_.line("{\"extensions\": [" + text + "]}");
  }

  void report_vendor(const std::string& name, const std::string& version, int32_t count) const {
    report_.line("{\"vendor\": {\"name\": " + name + ", \"version\": " + version +
                 format(", \"count\": %d}}", count));
  }

  void report_log() const {
    const std::lock_guard<std::mutex> lock(said_mutex);
    if (!said.empty()) report_.text("said", said);
  }

  // Reports the files whose code the library has loaded, including itself.
  void list_files(const std::set<std::string>& before) {
    std::string text;
    for (const std::string& path : code_.files()) {
      if (before.count(path) != 0) continue;
      // Paths that are not printable could not be found again by their escaped form.
      if (foreign::printable(path) == path) text += (text.empty() ? "" : ", ") + quoted(path);
    }
    report_.line("{\"files\": [" + text + "]}");
  }

  const dl_trial_request_t& request_;
  const Report& report_;
  foreign::Code code_;
  Flaws flaws_;
  dl_vendor_t* vendor_ = nullptr;
};

}  // namespace

void try_library(const dl_trial_request_t& request, const Report& report) {
  Trial(request, report).run();
}

}  // namespace dl::trial
