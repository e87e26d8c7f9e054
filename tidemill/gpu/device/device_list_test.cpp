#include "tidemill/gpu/device/device_list.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/internal/closed_nodes.hpp"
#include "tidemill/gpu/device/opencl_devices.hpp"
#include "tidemill/testing/scratch_folder.hpp"

using namespace tidemill;

namespace {

FoundDevice listed(std::string id, std::string name, std::string platform, std::string pci = {}) {
    FoundDevice device;
    device.info.id = std::move(id);
    device.info.name = std::move(name);
    device.info.kind = "gpu";
    device.info.pci = std::move(pci);
    device.platform = std::move(platform);
    return device;
}

std::vector<std::string> same_of(std::vector<FoundDevice> devices) {
    tell_same(devices);
    std::vector<std::string> same;
    for (const FoundDevice& device : devices) same.push_back(device.info.same_as);
    return same;
}

}  // namespace

TEST_CASE("a device in one place on the bus is one, whatever its platforms call it") {
    CHECK(same_of({listed("cuda:0", "H100", "cuda", "0000:3b:00.0"),
                   listed("opencl:0", "NVIDIA H100 80GB", "a", "0000:3b:00.0"),
                   listed("opencl:1", "H100", "b", "0000:3b:00.0")}) ==
          std::vector<std::string>{"", "cuda:0", "cuda:0"});
    CHECK(same_of({listed("cuda:0", "H100", "cuda", "0000:3b:00.0"),
                   listed("opencl:0", "H100", "a", "0000:5e:00.0")}) == std::vector<std::string>{"", ""});
}

TEST_CASE("devices that do not tell their places are the same by name and size, each of a platform once") {
    CHECK(same_of({listed("opencl:0", "Arc", "a"), listed("opencl:1", "Arc", "a"),
                   listed("opencl:2", "Arc", "b"), listed("opencl:3", "Arc", "b"),
                   listed("opencl:4", "Arc", "b")}) ==
          std::vector<std::string>{"", "", "opencl:0", "opencl:1", ""});
    std::vector<FoundDevice> other{listed("opencl:0", "Arc", "a"), listed("opencl:1", "Arc", "b")};
    other[1].info.memory_bytes = 1;
    CHECK(same_of(other) == std::vector<std::string>{"", ""});
    other[1] = listed("opencl:1", "Arc", "b");
    other[1].info.kind = "cpu";
    CHECK(same_of(other) == std::vector<std::string>{"", ""});
}

TEST_CASE(
    "what two platforms of OpenCL list is described once, with both ways to it, though a third one fails") {
    FoundDevices found = device::find_opencl_devices(TIDEMILL_TWO_PLATFORMS);
    REQUIRE_MESSAGE(found.devices.size() == 7, describe(found));
    tell_same(found.devices);
    std::vector<std::string> same;
    for (const FoundDevice& device : found.devices) same.push_back(device.info.same_as);
    CHECK(same == std::vector<std::string>{"", "", "", "opencl:1", "opencl:0", "opencl:2", ""});
    CHECK(found.devices[0].info.pci == "0000:3b:00.0");
    CHECK(found.absent ==
          std::vector<std::string>{"opencl platform 0: clGetDeviceIDs failed with OpenCL error -6"});
    const std::string text = describe(found);
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    CHECK(has("opencl:0  Card (gpu)"));
    CHECK(has("          also opencl:4: OpenCL 3.0, driver 1; memory: copy, pinned, mapped, resident\n"));
    CHECK_FALSE(has("\nopencl:4"));
    CHECK(has("\nopencl:6"));
}

TEST_CASE("a GPU that may not be opened is a reason why there is none, by its node") {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder / "dri");
    for (const char* node : {"nvidia0", "dri/renderD128", "dri/card0", "tty0"}) folder.put(node, "");
    const auto none = [](const std::filesystem::path&) { return false; };
    const std::string ending = " is there, and may not be opened; join the group that owns it";
    CHECK(device::closed_nodes(folder / "", none) ==
          std::vector<std::string>{"no permission: " + (folder / "dri/renderD128").string() + ending,
                                   "no permission: " + (folder / "nvidia0").string() + ending});
    CHECK(device::closed_nodes(folder / "", device::may_open).empty());
    CHECK(device::closed_nodes(folder / "nowhere", none).empty());
}
