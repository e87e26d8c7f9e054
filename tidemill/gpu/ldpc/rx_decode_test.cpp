#include "tidemill/dvbs2/receiver/rx_decode.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/gpu/device/stand_in.hpp"
#include "tidemill/gpu/device/testing/devices_for_tests.hpp"
#include "tidemill/gpu/ldpc/device_ldpc_codes.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using namespace tidemill::dvbs2;
using device::on_all_devices;

namespace {

// The kernel's work, on the host: of a shape it needs the code alone.
void decode_as_kernel(WorkSize size, std::span<const KernelArgument> arguments) {
    const auto llrs = StandInDevice::as<fec::Llr>(arguments[0]);
    const auto information = StandInDevice::as<std::uint8_t>(arguments[1]);
    const auto results = StandInDevice::as<std::int32_t>(arguments[2]);
    const auto shape = StandInDevice::as<std::int32_t>(arguments[4]);
    const auto codes = fec::dvbs2_codes();
    const auto code = std::ranges::find_if(
        codes, [&](const fec::Dvbs2Code& each) { return each.n == shape[0] && each.k_ldpc == shape[1]; });
    fec::LdpcDecoder decoder(*code, {.max_iterations = std::get<std::int32_t>(arguments[6])});
    const auto n = static_cast<std::size_t>(code->n), bytes = static_cast<std::size_t>(code->k_ldpc / 8);
    for (std::size_t frame = 0; frame < size.groups; ++frame) {
        const fec::LdpcResult result =
            decoder.decode(llrs.subspan(frame * n, n), information.subspan(frame * bytes, bytes));
        results[2 * frame] = result.iterations;
        results[2 * frame + 1] = result.converged;
    }
}

std::shared_ptr<StandInDevice> stand_in(std::uint64_t fails_at_call = 0, std::uint64_t hangs_at_call = 0) {
    StandInOptions options;
    options.kernels["ldpc"] = {decode_as_kernel};
    options.fails_at_call = fails_at_call;
    options.hangs_at_call = hangs_at_call;
    return std::make_shared<StandInDevice>(options);
}

// Frames of three codes and dummies in turn, of noise only: what comes of it is as good as any.
struct NoiseFrames : Module {
    Out<fec::Llr> llrs = out<fec::Llr>("llrs", kMaxFecframeBits);
    Label<FrameInfo> info = label<FrameInfo>("info");
    Task next = task("next", &NoiseFrames::make);

    void make(Frame f) {
        constexpr std::uint8_t kModcods[] = {4, 6, 0, 16};
        std::mt19937 random(static_cast<std::uint32_t>(f.number()));
        std::ranges::generate(f[llrs], [&] { return static_cast<fec::Llr>(random() % 41 - 20); });
        f[info] = {};
        f[info].pls.modcod = kModcods[f.number() % 4];
        f[info].pls.size = fec::FrameSize::short_;
    }
};

struct Outcome {
    std::vector<fec::LdpcResult> results{};
    std::vector<std::uint8_t> bytes{};

    bool operator==(const Outcome&) const = default;
};

struct KeepFrames : Module {
    explicit KeepFrames(Outcome& all) : outcome(&all) {}
    In<std::uint8_t> codeword = in<std::uint8_t>("codeword", kMaxCodewordBytes);
    In<fec::LdpcResult> result = in<fec::LdpcResult>("result");
    Task keep = task("keep", &KeepFrames::run);
    Outcome* outcome;

    void run(Frame f) {
        outcome->results.push_back(f[result][0]);
        if (f.number() % 4 == 2) return;  // a dummy's bytes are nobody's
        const auto first = f[codeword].first(100);
        outcome->bytes.insert(outcome->bytes.end(), first.begin(), first.end());
    }
};

constexpr fec::LdpcSettings kFew{.max_iterations = 3};

struct Decoding {
    Outcome outcome{};
    std::uint64_t hurried = 0;
    LdpcDeviceUse use{};
};

Decoding decode(const std::optional<LdpcOnDevice>& where, auto&& run,
                const fec::LdpcSettings& settings = kFew, std::function<bool()> short_of_time = {}) {
    Decoding decoding;
    Graph graph;
    auto& source = graph.add<NoiseFrames>();
    auto& ldpc = graph.add<RxLdpc>(settings, where ? elsewhere(*where) : nullptr, std::move(short_of_time));
    auto& keep = graph.add<KeepFrames>(decoding.outcome);
    graph.bind(source.llrs, ldpc.llrs);
    graph.bind(ldpc.codeword, keep.codeword);
    graph.bind(ldpc.result, keep.result);
    run(graph);
    decoding.use = ldpc.device_use();
    decoding.hurried = ldpc.hurried();
    return decoding;
}

void in_order(Graph& graph) {
    Sequence(graph).run({.frames = 13});
}

// Batches of five on two threads that decode.
void in_pipeline(Graph& graph) {
    Schedule schedule;
    for (const int threads : {1, 2, 1}) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = schedule.stages.size() - 1;
        stage.task_count = 1;
        stage.threads = threads;
        stage.core_kind = "big";
    }
    Pipeline(graph, schedule, {.frames = 5}).run({.frames = 13});
}

Schedule three_stages(int batch) {
    Schedule schedule;
    for (std::size_t task = 0; task < 3; ++task) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = task;
        stage.task_count = 1;
        stage.core_kind = "big";
    }
    if (batch > 1) schedule.stages[1].batch = batch;
    return schedule;
}

// Batches of two of single tokens, four of them under way.
void in_device_stage(Graph& graph) {
    Pipeline(graph, three_stages(2), {.batch_wait_us = 1e6}).run({.frames = 13});
}

// The same, whose tokens lie where a device reaches them, with a change of stages in between.
void in_device_stage_with(const std::shared_ptr<DeviceTokens>& tokens, Graph& graph) {
    Schedule schedule = three_stages(2);
    Pipeline pipeline(graph, schedule, {.batch_wait_us = 1e6, .memory = tokens});
    pipeline.run({.frames = 6});
    pipeline.reschedule(three_stages(1));
    pipeline.reschedule(schedule);
    pipeline.resume({.frames = 7});
}

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{60};

}  // namespace

void check_as_on_host(const std::shared_ptr<Device>& device) {
    const Decoding expected = decode({}, in_order);
    const LdpcOnDevice where{.device = device, .most_frames = 8};
    for (const auto& run : {in_order, in_pipeline, in_device_stage}) {
        const Decoding got = decode(where, run);
        CHECK(got.outcome == expected.outcome);
        CHECK(got.use.frames == 10);  // three of thirteen are dummies
        CHECK(got.use.frames_on_host == 0);
    }
}

TEST_CASE("rx ldpc: batches of mixed codes on a device come out as frames one by one on the host") {
    check_as_on_host(stand_in());
    on_all_devices(check_as_on_host);
}

void check_from_tokens(const std::shared_ptr<Device>& device) {
    const Decoding expected = decode({}, in_order);
    const auto tokens = std::make_shared<DeviceTokens>(device);
    const LdpcOnDevice where{
        .device = device, .memory = MemoryPolicy::pinned, .tokens = tokens, .most_frames = 8};
    const Decoding got = decode(where, [&](Graph& graph) { in_device_stage_with(tokens, graph); });
    CHECK(got.outcome == expected.outcome);
    CHECK(got.use.frames == 10);
    CHECK(tokens->blocks() == 1);  // of which the second schedule got the same
}

TEST_CASE("rx ldpc: frames are copied from tokens that the device reaches, also behind a change of stages") {
    check_from_tokens(stand_in());
    on_all_devices(check_from_tokens);
}

TEST_CASE("rx ldpc: while time is short frames get min-sum alone, and those that needed more are counted") {
    constexpr fec::LdpcSettings kFewFast{.max_iterations = 8, .fast_iterations = 3};
    const Decoding usual = decode({}, in_order, kFewFast, [] { return false; });
    CHECK(usual.hurried == 0);
    CHECK(usual.outcome == decode({}, in_order, kFewFast).outcome);
    const Outcome fast = decode({}, in_order).outcome;
    for (const auto& run : {in_order, in_pipeline}) {
        const Decoding hurried = decode({}, run, kFewFast, [] { return true; });
        CHECK(hurried.hurried == 10);  // of noise; three of thirteen are dummies
        CHECK(hurried.outcome == fast);
    }
}

TEST_CASE("rx ldpc: a device that fails at any call ends the run with its words") {
    const auto whole = stand_in();
    decode(LdpcOnDevice{.device = whole, .most_frames = 8}, in_pipeline);
    const std::uint64_t calls = whole->calls();
    REQUIRE(calls > 100);
    for (std::uint64_t call = 1; call <= calls; call += 7) {
        CAPTURE(call);
        try {
            decode(LdpcOnDevice{.device = stand_in(call), .most_frames = 8}, in_pipeline);
            // Two threads share the calls, and may have made fewer this time.
            CHECK(call + 20 > calls);
        } catch (const RunError& error) {
            CHECK(std::string(error.what()).find("stand-in: call " + std::to_string(call)) !=
                  std::string::npos);
        }
    }
}

TEST_CASE(
    "rx ldpc: where that is wanted, the host goes on when the device has failed, and frames are counted") {
    const Outcome expected = decode({}, in_order).outcome;
    for (const std::uint64_t call : {1, 9, 30, 31, 32, 33, 50}) {
        CAPTURE(call);
        const Decoding got =
            decode(LdpcOnDevice{.device = stand_in(call), .most_frames = 8, .falls_back = true}, in_order);
        CHECK(got.outcome == expected);
        CHECK(got.use.frames + got.use.frames_on_host == 10);
        CHECK(got.use.frames_on_host > 0);
        CHECK(got.use.failure.starts_with("stand-in: call " + std::to_string(call)));
    }
}

TEST_CASE(
    "rx ldpc: with batches under way a device that fails at any call ends the run, or the host goes on") {
    const Outcome expected = decode({}, in_order).outcome;
    const auto whole = stand_in();
    decode(LdpcOnDevice{.device = whole, .most_frames = 2}, in_device_stage);
    const std::uint64_t calls = whole->calls();
    REQUIRE(calls > 100);
    for (std::uint64_t call = 1; call <= calls; ++call) {
        CAPTURE(call);
        const std::string told = "stand-in: call " + std::to_string(call) + " (";
        try {
            decode(LdpcOnDevice{.device = stand_in(call), .most_frames = 2}, in_device_stage);
            FAIL("it goes on");
        } catch (const RunError& error) {
            CHECK(std::string(error.what()).find(told) != std::string::npos);
        }
        const Decoding got = decode(
            LdpcOnDevice{.device = stand_in(call), .most_frames = 2, .falls_back = true}, in_device_stage);
        CHECK(got.outcome == expected);
        CHECK(got.use.frames + got.use.frames_on_host == 10);
        CHECK(got.use.failure.starts_with(told));
    }
}

TEST_CASE(
    "rx ldpc: where the device has no room for batches they are smaller, said, and the same comes out") {
    const Outcome expected = decode({}, in_order).outcome;
    const fec::Dvbs2Code& code = fec::dvbs2_code(fec::FrameSize::short_, fec::CodeRate::r1_2);
    const auto frame_bytes = static_cast<std::size_t>(code.n);
    int smaller = 0, refused = 0;
    for (const std::size_t frames : {4, 12, 30, 60, 120, 200, 1000}) {
        CAPTURE(frames);
        StandInOptions options;
        options.kernels["ldpc"] = {decode_as_kernel};
        options.memory_bytes = frames * 5 * frame_bytes;  // messages take about four times the LLRs
        for (const auto& run : {in_order, in_pipeline, in_device_stage}) {
            const LdpcOnDevice where{.device = std::make_shared<StandInDevice>(options), .most_frames = 8};
            try {
                const Decoding got = decode(where, run);
                CHECK(got.outcome == expected);
                CHECK(got.use.frames == 10);
                smaller += !got.use.shortage.empty();
                if (!got.use.shortage.empty())
                    CHECK(got.use.shortage.find("frames, since there was no room for 8: stand-in: ") !=
                          std::string::npos);
                CHECK((frames < 1000 || got.use.shortage.empty()));
            } catch (const RunError& error) {
                ++refused;
                CHECK(std::string(error.what()).find("use smaller batches") != std::string::npos);
            }
            CHECK(where.device->free_bytes() == options.memory_bytes);  // all of it was given back
        }
    }
    CHECK(smaller > 3);
    CHECK(refused > 0);
}

TEST_CASE("rx ldpc: a device that hangs ends the run by the names of kernel and batch, or the host goes on") {
    const Outcome expected = decode({}, in_order).outcome;
    const auto whole = stand_in();
    decode(LdpcOnDevice{.device = whole, .most_frames = 2}, in_device_stage);
    int hung = 0;
    for (std::uint64_t call = 1; call <= whole->calls(); call += 6) {
        CAPTURE(call);
        const auto begin = Clock::now();
        try {
            decode(LdpcOnDevice{.device = stand_in(0, call), .most_frames = 2, .patience = kPatience},
                   in_device_stage);
        } catch (const RunError& error) {
            ++hung;
            const std::string words = error.what();
            CHECK(words.find("ldpc.decode") != std::string::npos);
            const bool names_batch = words.find("stand-in: ldpc short ") != std::string::npos &&
                                     words.find(", a batch of ") != std::string::npos;
            const bool names_tables = words.find("copying the tables of a code") != std::string::npos;
            CHECK((names_batch || names_tables));
        }
        CHECK(Clock::now() - begin < 20 * kPatience);
        const Decoding got = decode(
            LdpcOnDevice{
                .device = stand_in(0, call), .most_frames = 2, .falls_back = true, .patience = kPatience},
            in_device_stage);
        CHECK(got.outcome == expected);
    }
    CHECK(hung > 5);
}
