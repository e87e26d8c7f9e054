#include "tidemill/gpu/device/increment_cost.hpp"

#include <doctest/doctest.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"

using namespace tidemill;

TEST_CASE("increments are timed run by run, under each policy that a device has and no other") {
    device::on_all_devices([](const std::shared_ptr<Device>& device) {
        for (const MemoryPolicy policy : memory_policies()) {
            CAPTURE(std::string(name(policy)));
            if (!device->info().has(policy)) {
                CHECK_THROWS_AS(increment_cost(*device, policy, 4096, 2), DeviceError);
                continue;
            }
            const IncrementCost cost = increment_cost(*device, policy, 1U << 20U, 2);
            const std::size_t with_host = policy == MemoryPolicy::resident ? 0 : 2;
            CHECK(cost.first_us.size() == with_host);
            CHECK(cost.back_us.size() == with_host);
            CHECK(cost.second_us.size() == 2);
            for (const auto& times : {cost.first_us, cost.second_us, cost.back_us})
                for (const double us : times) CHECK(us > 0);
        }
        CHECK(launch_us(*device, 3).size() == 3);
    });
}
