#include "tidemill/gpu/offload/device_map.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/gpu/device/stand_in.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"
#include "tidemill/gpu/offload/increment_rows.hpp"
#include "tidemill/gpu/offload/testing/increments_here.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using device::on_all_devices;
using internal::test_schedule;

namespace {

constexpr std::size_t kNumbers = 300;
constexpr std::size_t kMaps = 3;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

StandInOptions with_increments() {
    StandInOptions options;
    options.kernels["increment_rows"] = {internal::increment_rows};
    return options;
}

std::shared_ptr<StandInDevice> stand_in(unsigned seed = 1) {
    StandInOptions options = with_increments();
    options.seed = seed;
    return std::make_shared<StandInDevice>(options);
}

struct Numbers : Module {
    explicit Numbers(bool has_holes) : skips(has_holes) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint32_t> y = out<std::uint32_t>("y", kNumbers);
    Task make = task("make", &Numbers::run, cloned, may_skip);
    bool skips;

    Flow run(Frame f) {
        if (skips && f.number() % 3 == 1) return Flow::skip;
        for (std::size_t i = 0; i < kNumbers; ++i)
            f[y][i] = static_cast<std::uint32_t>(1000 * f.number() + i);
        return Flow::ok;
    }
};

struct Kept {
    std::vector<std::uint64_t> numbers{};
    std::vector<std::uint32_t> words{};

    bool operator==(const Kept&) const = default;
};

struct KeepNumbers : Module {
    explicit KeepNumbers(Kept& all) : kept(&all) {}
    In<std::uint32_t> y = in<std::uint32_t>("y", kNumbers);
    Task take = task("take", &KeepNumbers::run);
    Kept* kept;
    std::uint64_t throws_at = kNever;

    void run(Frame f) {
        if (f.number() == throws_at) throw std::runtime_error("enough");
        kept->numbers.push_back(f.number());
        kept->words.insert(kept->words.end(), f[y].begin(), f[y].end());
    }
};

/// How a chain of three tasks on a device is made.
struct Wanted {
    std::shared_ptr<Device> device;
    bool stays = true;
    bool has_holes = false;
    MemoryPolicy memory = MemoryPolicy::pinned;
    std::chrono::milliseconds patience = std::chrono::seconds(20);
};

/// Numbers that three tasks increment on a device, which the first leaves there for the second, and that for
/// the third.
struct Increments {
    std::shared_ptr<DeviceTokens> tokens;
    Graph graph{};
    Kept kept{};
    std::array<DeviceMap*, kMaps> maps{};
    std::array<std::shared_ptr<ResidentRows>, kMaps - 1> rows{};
    KeepNumbers* keep = nullptr;

    explicit Increments(const Wanted& wanted) : tokens(std::make_shared<DeviceTokens>(wanted.device)) {
        auto& source = graph.add<internal::TestCounter>();
        auto& numbers = graph.add<Numbers>(wanted.has_holes);
        graph.bind(source.value, numbers.x);
        for (auto& each : rows)
            if (wanted.stays) each = std::make_shared<ResidentRows>(wanted.device, tokens, 4 * kNumbers);
        for (std::size_t i = 0; i < kMaps; ++i) {
            const DeviceMapping mapping{.device = wanted.device,
                                        .source = {device::increment_rows_kernels(), ""},
                                        .kernel = "increment_rows",
                                        .memory = wanted.memory,
                                        .from = i > 0 ? rows[i - 1] : nullptr,
                                        .to = i + 1 < kMaps ? rows[i] : nullptr,
                                        .most_frames = 4,
                                        .in_flight = 3,
                                        .patience = wanted.patience};
            maps[i] = &graph.add<DeviceMap>("map" + std::to_string(i), kNumbers, mapping);
            graph.bind(i > 0 ? maps[i - 1]->out : numbers.y, maps[i]->in);
        }
        keep = &graph.add<KeepNumbers>(kept);
        graph.bind(maps.back()->out, keep->y);
    }
    Increments(const Increments&) = delete;

    PipelineOptions options(std::uint32_t frames = 1) const {
        return {.frames = frames, .batch_wait_us = 50, .memory = tokens};
    }
    std::uint64_t frames_that_stayed() const {
        return std::min(
            {maps[0]->use().left, maps[1]->use().found, maps[1]->use().left, maps[2]->use().found});
    }
};

// A stage, and a thread, for each of the three.
Schedule apart(std::array<int, kMaps> batches) {
    Schedule schedule = test_schedule({{2, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
    for (std::size_t i = 0; i < kMaps; ++i)
        if (batches[i] > 1) schedule.stages[1 + i].batch = batches[i];
    return schedule;
}

Kept expected_of(std::uint64_t frames, bool has_holes) {
    Kept kept;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        if (has_holes && frame % 3 == 1) continue;
        kept.numbers.push_back(frame);
        for (std::size_t i = 0; i < kNumbers; ++i)
            kept.words.push_back(static_cast<std::uint32_t>(1000 * frame + i + kMaps));
    }
    return kept;
}

void check_pipelines(const std::shared_ptr<Device>& device, MemoryPolicy memory) {
    for (const bool has_holes : {false, true}) {
        const Kept expected = expected_of(30, has_holes);
        for (const bool stays : {true, false}) {
            for (const auto& batches : {std::array{4, 4, 4}, std::array{2, 3, 4}, std::array{9, 1, 2}}) {
                for (const std::uint32_t frames : {1u, 5u}) {
                    CAPTURE(batches[1]);
                    CAPTURE(frames);
                    CAPTURE(stays);
                    Increments chain(
                        {.device = device, .stays = stays, .has_holes = has_holes, .memory = memory});
                    Pipeline(chain.graph, apart(batches), chain.options(frames)).run({.frames = 30});
                    CHECK(chain.kept == expected);
                    CHECK(chain.frames_that_stayed() == (stays ? expected.numbers.size() : 0));
                }
            }
        }
    }
}

std::string failure_of(auto&& call) {
    try {
        call();
    } catch (const RunError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("neighbours on a device: what stays there comes out as what crosses, under each policy") {
    const auto check = [](const std::shared_ptr<Device>& device) {
        for (const MemoryPolicy policy : device->info().policies) {
            CAPTURE(std::string(name(policy)));
            if (policy != MemoryPolicy::resident) check_pipelines(device, policy);
        }
    };
    check(stand_in());
    on_all_devices(check);
}

TEST_CASE("neighbours on a device: frames are right in whatever order their batches are done") {
    const Kept expected = expected_of(60, true);
    for (unsigned seed = 0; seed < 20; ++seed) {
        Increments chain({.device = stand_in(seed), .has_holes = true});
        Pipeline(chain.graph, apart({4, 3, 4}), chain.options()).run({.frames = 60});
        CHECK(chain.kept == expected);
    }
}

TEST_CASE("neighbours on a device: a change of stages in between loses nothing that stays there") {
    const Kept expected = expected_of(300, false);
    for (unsigned seed = 0; seed < 5; ++seed) {
        Increments chain({.device = stand_in(seed)});
        Pipeline pipeline(chain.graph, apart({4, 4, 4}), chain.options());
        // The last but one has the tasks beside others, frame by frame and without tokens of the device.
        const std::array schedules{apart({2, 4, 3}), test_schedule({{6, 1}}), apart({4, 1, 4}),
                                   test_schedule({{3, 1}, {3, 1}}), apart({3, 3, 3})};
        std::size_t changes = 0, asked = 0;
        pipeline.run({.frames = 300, .stop_when = [&] {
                          if (++asked % 40 == 0 && changes < schedules.size())
                              pipeline.reschedule(schedules[changes++]);
                          return false;
                      }});
        CHECK(changes == schedules.size());
        CHECK(chain.kept == expected);
    }
}

TEST_CASE("neighbours on a device: where tokens are not the device's, frames cross, and the same comes out") {
    const Kept expected = expected_of(20, true);
    const auto check = [&](const std::shared_ptr<Device>& device) {
        const auto run = [&](auto&& with) {
            Increments chain({.device = device, .has_holes = true});
            with(chain.graph);
            CHECK(chain.kept == expected);
            CHECK(chain.frames_that_stayed() == 0);
        };
        run([](Graph& graph) { Sequence(graph).run({.frames = 20}); });
        run([](Graph& graph) { Dynamic(graph, {.workers = 2}).run({.frames = 20}); });
        run([](Graph& graph) { Pipeline(graph, apart({4, 4, 4}), {}).run({.frames = 20}); });
    };
    check(stand_in());
    on_all_devices(check);
}

TEST_CASE(
    "neighbours on a device: where it has no room for all tokens' frames they cross, and that is said") {
    const Kept expected = expected_of(40, false);
    int stayed = 0, crossed = 0, refused = 0;
    for (std::size_t kilobytes = 20; kilobytes < 1000; kilobytes += 20) {
        CAPTURE(kilobytes);
        StandInOptions options = with_increments();
        options.memory_bytes = 1024 * kilobytes;
        const auto device = std::make_shared<StandInDevice>(options);
        {
            Increments chain({.device = device});
            const std::string failure = failure_of([&] {
                Pipeline(chain.graph, apart({4, 4, 4}), chain.options()).run({.frames = 40});
            });
            if (!failure.empty()) {
                CHECK(failure.find("use smaller batches") != std::string::npos);
                ++refused;
                continue;
            }
            CHECK(chain.kept == expected);
            const bool has_room = chain.rows[0]->shortage().empty() && chain.rows[1]->shortage().empty();
            CHECK(has_room == (chain.frames_that_stayed() == 40));
            ++(has_room ? stayed : crossed);
            if (!chain.rows[0]->shortage().empty())
                CHECK(chain.rows[0]->shortage().find("frames of 1200 bytes do not stay on the device, but "
                                                     "cross: stand-in: ") != std::string::npos);
        }
        CHECK(device->free_bytes() == options.memory_bytes);
    }
    CHECK(stayed > 0);
    CHECK(crossed > 0);
    CHECK(refused > 0);
}

TEST_CASE("neighbours on a device: whichever call fails, the run ends with it, and all before is right") {
    const auto whole = stand_in();
    {
        Increments chain({.device = whole});
        Pipeline(chain.graph, apart({4, 4, 4}), chain.options()).run({.frames = 20});
    }
    const std::uint64_t calls = whole->calls();
    REQUIRE(calls > 100);
    const Kept expected = expected_of(20, false);
    int failed = 0;
    for (std::uint64_t call = 1; call <= calls; ++call) {
        CAPTURE(call);
        StandInOptions options = with_increments();
        options.fails_at_call = call;
        const auto device = std::make_shared<StandInDevice>(options);
        {
            std::optional<Increments> chain;
            std::string failure = device::message_of([&] { chain.emplace(Wanted{.device = device}); });
            if (failure.empty())
                failure = failure_of([&] {
                    Pipeline(chain->graph, apart({4, 4, 4}), chain->options()).run({.frames = 20});
                });
            // How many calls there are depends on how batches fill, and what cannot be registered is
            // gathered.
            const bool is_told =
                failure.find("stand-in: call " + std::to_string(call) + " (") != std::string::npos;
            CHECK((failure.empty() || is_told));
            failed += is_told;
            if (chain) {
                const Kept& kept = chain->kept;
                CHECK(std::equal(kept.words.begin(), kept.words.end(), expected.words.begin()));
            }
        }
        CHECK(device->free_bytes() == options.memory_bytes);
    }
    CHECK(failed > 50);
}

TEST_CASE("neighbours on a device: one that hangs is told by kernel and batch, and the run ends") {
    for (const std::uint64_t call : {40, 60, 80}) {
        StandInOptions options = with_increments();
        options.hangs_at_call = call;
        Increments chain(
            {.device = std::make_shared<StandInDevice>(options), .patience = std::chrono::milliseconds(60)});
        const std::string failure = failure_of([&] {
            Pipeline(chain.graph, apart({4, 4, 4}), chain.options()).run({.frames = 200});
        });
        CAPTURE(failure);
        const bool is_told = failure.find("stand-in: increment_rows of map") != std::string::npos &&
                             failure.find(", a batch of ") != std::string::npos;
        CHECK((failure.empty() || is_told));  // what hangs may be a call that sends nothing off
    }
}

TEST_CASE("neighbours on a device: a stream that ends behind them leaves nothing that disturbs the next") {
    const auto device = stand_in();
    Increments chain({.device = device});
    Pipeline pipeline(chain.graph, apart({4, 4, 4}), chain.options());
    chain.keep->throws_at = 13;
    CHECK(failure_of([&] { pipeline.run({.frames = 100}); }).find("enough") != std::string::npos);
    CHECK(chain.kept == expected_of(13, false));
    chain.keep->throws_at = kNever;
    chain.kept = {};
    pipeline.run({.frames = 100});
    CHECK(chain.kept == expected_of(100, false));
}

TEST_CASE("neighbours on a device: rows of another device or size are refused, and what was not left there") {
    const auto device = stand_in(), other = stand_in();
    const auto tokens = std::make_shared<DeviceTokens>(device);
    const auto map = [&](std::shared_ptr<ResidentRows> from, std::shared_ptr<ResidentRows> to) {
        return DeviceMapping{.device = device,
                             .source = {device::increment_rows_kernels(), ""},
                             .kernel = "increment_rows",
                             .from = std::move(from),
                             .to = std::move(to),
                             .most_frames = 4};
    };
    const auto elsewhere = std::make_shared<ResidentRows>(other, tokens, 4 * kNumbers);
    CHECK(device::message_of([&] { DeviceMap("map", kNumbers, map(elsewhere, nullptr)); }) ==
          "stand-in: frames that stay on stand-in cannot be found there: both tasks must be on one device, "
          "opened once");
    const auto small = std::make_shared<ResidentRows>(device, tokens, 4);
    CHECK(device::message_of([&] { DeviceMap("map", kNumbers, map(nullptr, small)); }) ==
          "stand-in: frames of 1200 bytes in rows of 4: make both the same");

    const auto rows = std::make_shared<ResidentRows>(device, tokens, 4 * kNumbers);
    Kept kept;
    Graph graph;
    auto& source = graph.add<internal::TestCounter>();
    auto& numbers = graph.add<Numbers>(false);
    auto& crosses = graph.add<DeviceMap>("crosses", kNumbers, map(nullptr, nullptr));
    auto& finds = graph.add<DeviceMap>("finds", kNumbers, map(rows, nullptr));
    auto& keep = graph.add<KeepNumbers>(kept);
    graph.bind(source.value, numbers.x);
    graph.bind(numbers.y, crosses.in);
    graph.bind(crosses.out, finds.in);
    graph.bind(finds.out, keep.y);
    Schedule schedule = test_schedule({{2, 1}, {1, 1}, {1, 1}, {1, 1}});
    schedule.stages[1].batch = schedule.stages[2].batch = 4;
    CHECK(failure_of([&] { Pipeline(graph, schedule, {.memory = tokens}).run({.frames = 9}); })
              .find("stand-in: nothing was left there for frame 0 of finds: bind it to the task that leaves "
                    "its frames in the same rows") != std::string::npos);
}
