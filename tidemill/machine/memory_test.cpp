#include "tidemill/machine/memory.hpp"

#include <doctest/doctest.h>

#include "tidemill/machine/testing/temporary_folder.hpp"

using namespace tidemill;
using tidemill::testing::TemporaryFolder;

TEST_CASE("memory: the kernel's account is read in bytes") {
    const TemporaryFolder proc;
    proc.write("self/status", "Name:\tx VmHWM: 7 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\nRssFile:\t 8 kB");
    const MemoryUse use = memory_use(proc.root());
    CHECK(use.peak_bytes == 2097152);
    CHECK(use.resident_bytes == 1048576);
    CHECK(use.file_bytes == 8192);
}

TEST_CASE("memory: what is missing or makes no sense stays empty") {
    const TemporaryFolder proc;
    CHECK_FALSE(memory_use(proc.root()).peak_bytes.has_value());
    for (const char* bad : {"VmHWM:", "VmHWM: kB", "VmHWM: 12", "VmHWM: -5 kB", "VmHWM: 12 pages",
                            "VmHWM: 99999999999999999999 kB", "VmHWM: 18446744073709551615 kB"}) {
        CAPTURE(bad);
        proc.write("self/status", bad);
        CHECK_FALSE(memory_use(proc.root()).peak_bytes.has_value());
    }
}

TEST_CASE("memory: this process's peak is no smaller than what it holds now") {
    const MemoryUse use = memory_use();
    REQUIRE(use.peak_bytes.has_value());
    REQUIRE(use.resident_bytes.has_value());
    CHECK(*use.resident_bytes > 0);
    CHECK(*use.peak_bytes >= *use.resident_bytes);
}
