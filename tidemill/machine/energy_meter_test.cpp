#include "tidemill/machine/energy_meter.hpp"

#include <filesystem>
#include <map>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/machine/platform_error.hpp"
#include "tidemill/machine/testing/temporary_folder.hpp"

using namespace tidemill;
using doctest::Approx;
using tidemill::testing::TemporaryFolder;

namespace {

const std::string kPackage0 = "class/powercap/intel-rapl:0/";
const std::string kDram0 = "class/powercap/intel-rapl:0:1/";

EnergyMeter::TimePoint at_s(int seconds) {
    return EnergyMeter::TimePoint(std::chrono::seconds(seconds));
}

EnergySystem system_of(const TemporaryFolder& sys) {
    return {.sys_root = sys.root()};
}

void write_zone(const TemporaryFolder& sys, const std::string& zone, const std::string& name,
                long energy_uj) {
    sys.write("class/powercap/" + zone + "/name", name);
    sys.write("class/powercap/" + zone + "/energy_uj", std::to_string(energy_uj));
    sys.write("class/powercap/" + zone + "/max_energy_range_uj", "262143328850");
}

std::map<std::string, EnergyDomain> by_name(const EnergyMeter& meter) {
    std::map<std::string, EnergyDomain> domains;
    for (const EnergyDomain& domain : meter.domains()) domains[domain.name] = domain;
    return domains;
}

std::string refusal_of(const std::string& choice, const EnergySystem& system) {
    try {
        find_energy_meter(choice, system);
    } catch (const PlatformError& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("powercap: packages and memory make the total, once, and parts are told beside it") {
    const TemporaryFolder sys;
    write_zone(sys, "intel-rapl:0", "package-0", 5'000'000);
    write_zone(sys, "intel-rapl:0:0", "core", 1'000'000);
    write_zone(sys, "intel-rapl:0:1", "dram", 2'000'000);
    write_zone(sys, "intel-rapl:1", "psys", 9'000'000);
    write_zone(sys, "intel-rapl-mmio:0", "package-0", 5'000'000);
    const FoundEnergyMeter found = find_energy_meter("auto", system_of(sys));
    REQUIRE(found.meter);
    CHECK(found.meter->name() == "powercap");
    found.meter->start(at_s(0));
    sys.write(kPackage0 + "energy_uj", "7500000");
    sys.write(kDram0 + "energy_uj", "2250000");
    found.meter->sample(at_s(1));
    auto domains = by_name(*found.meter);
    REQUIRE(domains.size() == 4);
    CHECK(domains["package-0"].joules == Approx(2.5));
    CHECK(domains["package-0"].in_total);
    CHECK(domains["package-0/dram"].joules == Approx(0.25));
    CHECK(domains["package-0/dram"].in_total);
    CHECK_FALSE(domains["package-0/core"].in_total);
    CHECK_FALSE(domains["psys"].in_total);
}

TEST_CASE("powercap: the platform's counter is the total where there is no package") {
    const TemporaryFolder sys;
    write_zone(sys, "intel-rapl:0", "psys", 1'000'000);
    const FoundEnergyMeter found = find_energy_meter("powercap", system_of(sys));
    CHECK(found.meter->domains()[0].in_total);
    CHECK(found.meter->domains()[0].name == "psys");
}

TEST_CASE("powercap: the counter starts over where max_energy_range_uj says") {
    const TemporaryFolder sys;
    write_zone(sys, "intel-rapl:0", "package-0", 262'143'000'000);
    const FoundEnergyMeter found = find_energy_meter("powercap", system_of(sys));
    found.meter->start(at_s(0));
    sys.write(kPackage0 + "energy_uj", "1000000");
    found.meter->sample(at_s(1));
    CHECK(found.meter->domains()[0].joules == Approx(1.32885));
}

TEST_CASE("powercap: permission denied is a reason") {
    const TemporaryFolder sys;
    write_zone(sys, "intel-rapl:0", "package-0", 1);
    std::filesystem::permissions(sys.root(), std::filesystem::perms(0755));
    std::filesystem::permissions(sys.root() + "/" + kPackage0 + "energy_uj", std::filesystem::perms::none);
    const uid_t user = geteuid();
    constexpr uid_t kNobody = 65534;
    if (user == 0) REQUIRE(seteuid(kNobody) == 0);  // root may read everything
    const FoundEnergyMeter found = find_energy_meter("auto", system_of(sys));
    REQUIRE(seteuid(user) == 0);
    CHECK_FALSE(found.meter);
    CHECK(says(found.reason, "energy_uj: Permission denied"));
}

TEST_CASE("powercap: counters that cannot be read, or not as numbers, are a reason with their path") {
    const TemporaryFolder sys;
    write_zone(sys, "intel-rapl:0", "package-0", 1);
    for (const char* bad : {"", "many", "1e999", "nan", "12 uJ"}) {
        CAPTURE(bad);
        sys.write(kPackage0 + "energy_uj", bad);
        CHECK(says(refusal_of("powercap", system_of(sys)), "intel-rapl:0/energy_uj"));
    }
    std::filesystem::remove(sys.root() + "/" + kPackage0 + "energy_uj");
    CHECK(says(refusal_of("powercap", system_of(sys)), "No such file"));
}

TEST_CASE("hwmon: one sensor is taken, several are never added up unasked") {
    const TemporaryFolder sys;
    sys.write("class/hwmon/hwmon0/name", "coretemp");
    sys.write("class/hwmon/hwmon0/temp1_input", "40000");
    sys.write("class/hwmon/hwmon1/name", "ina3221");
    sys.write("class/hwmon/hwmon1/power1_input", "5000000");
    sys.write("class/hwmon/hwmon1/power1_average", "4000000");
    sys.write("class/hwmon/hwmon1/power1_label", "VDD_IN");
    const FoundEnergyMeter power = find_energy_meter("auto", system_of(sys));
    REQUIRE(power.meter);
    CHECK(power.meter->domains()[0].name == "ina3221/VDD_IN");
    power.meter->sample(at_s(1));
    sys.write("class/hwmon/hwmon2/energy7_input", "1000000");
    CHECK(
        says(find_energy_meter("auto", system_of(sys)).reason, "hwmon:ina3221/VDD_IN hwmon:hwmon2/energy7"));
    CHECK(says(refusal_of("hwmon:VDD_CPU", system_of(sys)), "there is no sensor VDD_CPU"));
    const FoundEnergyMeter energy = find_energy_meter("hwmon:hwmon2/energy7", system_of(sys));
    energy.meter->start(at_s(0));
    sys.write("class/hwmon/hwmon2/energy7_input", "1500000");
    energy.meter->sample(at_s(1));
    CHECK(energy.meter->domains()[0].joules == Approx(0.5));
}

TEST_CASE("external file: its last line is a power or an energy, and stays what it is") {
    const TemporaryFolder folder;
    const std::string choice = "file:" + folder.root() + "/meter";
    folder.write("meter", "1 kJ\n2 Wh\n");
    const FoundEnergyMeter found = find_energy_meter(choice);
    found.meter->start(at_s(0));
    folder.write("meter", fmt::format("{:x>10000}\n 7210.5 J ", ""));
    found.meter->sample(at_s(1));
    CHECK(found.meter->domains()[0].joules == Approx(10.5));
    folder.write("meter", "5 W");
    CHECK_THROWS_AS(found.meter->sample(at_s(2)), PlatformError);
    for (const char* bad : {"", "5", "W", "-5 W", "nan W", "5 V", "5 W W"}) {
        CAPTURE(bad);
        folder.write("meter", bad);
        CHECK(says(refusal_of(choice, {}), "/meter: "));
    }
    CHECK(says(refusal_of("file:/nowhere/meter", {}), "No such file"));
    CHECK(says(refusal_of("file:/dev/zero", {}), "is empty"));
}

TEST_CASE("external command: goes on printing, and its end is an error") {
    const FoundEnergyMeter found = find_energy_meter("command:printf '4 J\\n5000 mW\\n'; tail -f /dev/null");
    found.meter->start(at_s(0));
    found.meter->sample(at_s(2));
    CHECK(found.meter->domains()[0].joules == Approx(10));
    CHECK(says(refusal_of("command:exit 1", {}), "has ended"));
    CHECK(says(refusal_of("command:cat /dev/zero", {}), "prints no lines"));
    CHECK(says(refusal_of("command:echo hello; tail -f /dev/null", {}), "\"hello\" is not a reading"));
}

TEST_CASE("external command: one that never pauses does not hold up the reading") {
    const FoundEnergyMeter found = find_energy_meter("command:yes 5 W");
    found.meter->start(at_s(0));
    found.meter->sample(at_s(2));
    CHECK(found.meter->domains()[0].joules == Approx(10));
}

TEST_CASE("energy meters: the wish must be understood, and a machine without any says what was tried") {
    const TemporaryFolder sys;
    const EnergySystem bare = system_of(sys);
    CHECK(find_energy_meter("none", bare).reason == "not wanted");
    const FoundEnergyMeter found = find_energy_meter("auto", bare);
    CHECK_FALSE(found.meter);
    for (const char* tried : {"powercap: ", "hwmon: "}) CHECK(says(found.reason, tried));
    for (const char* wrong : {"", "rapl", "file", "file:", "command:", "powercap:0", "Auto"}) {
        CAPTURE(wrong);
        CHECK(says(refusal_of(wrong, bare), "choose auto"));
    }
}
