#include "tidemill/steer/proc_text.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tidemill/steer/cpu_set.hpp"

namespace tidemill::steer {

TEST_CASE(
    "proc text: a thread's name may hold brackets and spaces, and what follows its last bracket counts") {
    const std::string text =
        "4711 (a) R (b) 9) S 17 4711 9 0 -1 4194304 99 0 0 0 5 6 0 0 20 -5 3 0 8086134 3133440 414 "
        "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 3 0 0 0 0 0 0 0 0 0 0 0\n";
    const auto facts = parse_stat(text);
    REQUIRE(facts);
    CHECK(facts->name == "a) R (b) 9");
    CHECK(facts->parent == 17);
    CHECK(facts->session == 9);
    CHECK(facts->nice == -5);
    CHECK(facts->start_ticks == 8086134);
    CHECK(facts->processor == 3);
    CHECK(facts->policy == 3);
    CHECK_FALSE(facts->is_kernel_thread);
    CHECK(facts->is_ordinary());
    CHECK(facts->weight() == doctest::Approx(3.05).epsilon(0.01));
    CHECK_FALSE(parse_stat(text.substr(0, 60)));
    CHECK_FALSE(parse_stat("4711 (a"));
    CHECK_FALSE(parse_stat(""));
}

TEST_CASE("proc text: kernel threads, real-time and idle ones are told by flags and policy") {
    const auto with = [](const char* flags, const char* policy) {
        return parse_stat(std::string("2 (k\xff\n) S 0 0 0 0 -1 ") + flags +
                          " 0 0 0 0 0 0 0 0 20 0 1 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 " + policy);
    };
    REQUIRE(with("2129984", "0"));
    CHECK(with("2129984", "0")->is_kernel_thread);
    CHECK(with("2129984", "0")->name == "k??");
    for (const char* policy : {"1", "2", "6"}) CHECK_FALSE(with("0", policy)->is_ordinary());
    CHECK(with("0", "5")->weight() < 0.01);
}

TEST_CASE("proc text: times are of two counters in nanoseconds") {
    const auto times = parse_schedstat("123456789 42 7\n");
    REQUIRE(times);
    CHECK(times->ran_ns == 123456789);
    CHECK(times->waited_ns == 42);
    CHECK_FALSE(parse_schedstat("123"));
    CHECK_FALSE(parse_schedstat("-1 2 3"));
    CHECK(parse_numbers("12\n7\n\nx\n0\n-4\n") == std::vector<int>{12, 7});
}

TEST_CASE("cpu set: reads and writes what the system writes, and nothing else") {
    CHECK(parse_cpu_set("0-2,8\n") == CpuSet{0, 1, 2, 8});
    CHECK(parse_cpu_set("") == CpuSet{});
    CHECK(parse_cpu_set("\n") == CpuSet{});
    CHECK(to_text({0, 1, 2, 8}) == "0-2,8");
    for (const char* wrong : {"a", "1,", ",1", "2-1", "3,1", "0-", "-1", "0-99999999", "1 2", "1,1"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_cpu_set(wrong));
    }
    CHECK(both({0, 1, 4}, {1, 2, 4}) == CpuSet{1, 4});
    CHECK(is_within({1, 4}, {0, 1, 4}));
    CHECK_FALSE(is_within({1, 5}, {0, 1, 4}));
}

}  // namespace tidemill::steer
