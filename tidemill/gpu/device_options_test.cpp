#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
using Json = nlohmann::json;

/// A variable of the environment that programs started meanwhile see.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_{};
};

/// PoCL's device, whose kernel cache lies where a variable says; null where there is none.
const DeviceInfo* pocl_in(const FoundDevices& found) {
    for (const FoundDevice& each : found.devices)
        if (says(each.info.driver, "PoCL")) return &each.info;
    return nullptr;
}

void check_refused(const std::vector<std::string>& arguments, const std::string& why) {
    const Ended ended = run_program(arguments);
    CAPTURE(arguments.front());
    CHECK(ended.status == kWrongUsage);
    CHECK_MESSAGE(says(ended.err, why), ended.err);
    CHECK(ended.out.empty());
}

}  // namespace

TEST_CASE("a device that is not there is refused with what there is, before any output or search") {
    const ScratchFolder folder;
    const std::string recording = small_recording().meta, out = folder.put("out.ts", "precious");
    const std::string why = "device 'opencl:99': there is no";
    check_refused({"dvbs2", "rx", recording, "--device", "opencl:99", "-o", out}, why);
    check_refused({"dvbs2", "rx", recording, "--device", "opencl:99", "--device-fallback"}, why);
    check_refused({"dvbs2", "profile", recording, "--device", "opencl:99"}, why);
    check_refused({"bench", "device", "--device", "opencl:99"}, why);
    check_refused({"dvbs2", "rx", folder / "no such recording", "--device", "opencl:99"}, why);
    CHECK(ScratchFolder::content_of(out) == "precious");
}

TEST_CASE("where no driver has a device, each says why there is none") {
    const Variable no_platforms("OCL_ICD_VENDORS", "/nowhere");
    const Ended topo = run_program({"topo", "--json"});
    REQUIRE_MESSAGE(topo.status == 0, topo.err);
    const Json told = Json::parse(topo.out);
    if (!told["devices"].empty()) return;  // one of the CUDA driver
    CHECK(told["no_devices"].size() >= 2);
    check_refused({"dvbs2", "rx", small_recording().meta, "--device", "opencl:0"},
                  "device 'opencl:0': there is none here. cuda: no driver");
}

TEST_CASE("rx: --memory is refused with what the device has, and needs one") {
    const std::string recording = small_recording().meta;
    check_refused({"dvbs2", "rx", recording, "--memory", "copy"}, "--memory needs --device");
    check_refused({"dvbs2", "rx", recording, "--device-fallback"}, "--device-fallback needs --device");
    device::on_all_devices([&](const std::shared_ptr<Device>& device) {
        const auto refused = [&](const char* memory, const std::string& why) {
            check_refused({"dvbs2", "rx", recording, "--device", device->info().id, "--memory", memory}, why);
        };
        refused("fast", "--memory: memory policy 'fast': choose one of copy, ");
        refused("resident", "--memory: resident is what one task leaves on a device for the next one there");
        if (!device->info().has(MemoryPolicy::prefetched))
            refused("prefetched", "--memory: memory policy 'prefetched': choose one of copy, ");
    });
}

TEST_CASE("topo: a GPU that two platforms list is told once, with both names, and a broken platform too") {
    const ScratchFolder folder;
    std::filesystem::create_symlink(TIDEMILL_TWO_PLATFORMS, folder / "libOpenCL.so.1");
    const Variable loader("LD_LIBRARY_PATH", folder / "");
    const Ended text = run_program({"topo"});
    REQUIRE_MESSAGE(text.status == 0, text.err);
    CHECK(says(text.out, "\nopencl:0  Card (gpu)"));
    CHECK(says(text.out, "\n          also opencl:4: "));
    CHECK_FALSE(says(text.out, "\nopencl:4"));
    CHECK(says(text.out, "none      opencl platform 0: clGetDeviceIDs failed with OpenCL error -6"));
    const Json json = Json::parse(run_program({"topo", "--json"}).out);
    CHECK(json["devices"][4]["same_as"] == "opencl:0");
}

TEST_CASE("a kernel cache that cannot be written is told of, and with --device-fallback the host goes on") {
    const FoundDevices found = device::devices_for_tests();
    const DeviceInfo* const pocl = pocl_in(found);
    if (pocl == nullptr) return;
    const ScratchFolder folder;
    {
        const Variable nowhere("POCL_CACHE_DIR", "/dev/null/cache");
        CHECK(says(run_program({"topo"}).out, "it cannot write its kernel cache: POCL_CACHE_DIR"));
    }
    for (char first = 'A'; first <= 'P'; ++first)
        for (char second = 'A'; second <= 'P'; ++second)
            folder.put(std::string{first, second}, "a file where PoCL wants a folder for what begins so");
    const Variable spoilt("POCL_CACHE_DIR", folder / "");
    for (const std::string memory : {"", "pinned"}) {
        CAPTURE(memory);
        std::vector<std::string> how{"--device", pocl->id, "--profile-seconds", "0.01"};
        if (!memory.empty()) how.insert(how.end(), {"--memory", memory});
        how.insert(how.end(), {"-o", folder / "device.ts"});
        const Ended refused = receive_json(small_recording().meta, how);
        CHECK(refused.status == kJobFailed);
        CHECK_MESSAGE(says(refused.err, pocl->id + ": building "), refused.err);
        how.emplace_back("--device-fallback");
        const Ended gone_on = receive_json(small_recording().meta, how);
        REQUIRE_MESSAGE(gone_on.status == 0, gone_on.err);
        CHECK(says(gone_on.err, "the device failed, and the host goes on: "));
        const Ended on_host = receive_json(small_recording().meta, {"-o", folder / "host.ts"});
        CHECK(ScratchFolder::content_of(folder / "device.ts") ==
              ScratchFolder::content_of(folder / "host.ts"));
    }
}

}  // namespace tidemill::cli
