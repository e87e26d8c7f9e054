#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/channel/linear_equaliser.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr double kSymbolRateHz = 250e3;  // where a level is given in hertz

constexpr double kLockFrames = 6;

struct Named {
    int modcod;
    const char* name;
};

constexpr Named kQpsk14{1, "QPSK 1/4"}, kQpsk34{7, "QPSK 3/4"}, k8psk35{12, "8PSK 3/5"},
    k8psk34{14, "8PSK 3/4"}, k16apsk34{19, "16APSK 3/4"}, k32apsk89{27, "32APSK 8/9"};

/// A channel that a reception has to bear: which share of the packets after the first has to come, 0 where it
/// is only shown what does; a wrong one never may.
struct Level {
    std::string name;
    Named modcod;
    bool pilots;
    double esn0_db;
    double least_share;
    std::size_t frames = 120;
    ChannelConfig channel{};
    FrameSize size = FrameSize::short_;
    std::vector<PlannedFrame> plan{};  // of several kinds of frames, instead of `modcod`
};

Pls pls_of(const Level& level) {
    return {level.modcod.modcod, level.size, level.pilots};
}

double hertz(double hz) {
    return hz / kSymbolRateHz;
}

double hertz_per_s(double hz_per_s) {
    return hz_per_s / kSymbolRateHz / kSymbolRateHz;
}

Level with_pulses(double esn0_db, Pulses pulses, double least_share, Named modcod = kQpsk34) {
    Level level{fmt::format("pulses {} in {} {:+} dB{}, {} dB", pulses.symbols, pulses.every_symbols,
                            pulses.gain_db, pulses.at_random_places ? " at random" : "", esn0_db),
                modcod, true, esn0_db, least_share};
    level.channel.disturbances.pulses = pulses;
    return level;
}

struct NamedPlan {
    std::vector<PlannedFrame> plan;
    const char* name;
};

// Frames of several lengths, of one length, and few between many of no data.
std::vector<NamedPlan> plans() {
    const Pls robust{4, FrameSize::short_, true}, quick{13, FrameSize::short_, false},
        large{7, FrameSize::normal, true}, same{7, FrameSize::short_, true};
    return {{{{robust}, {robust}, {quick}, {large}}, "three lengths"},
            {{{same}, {robust}}, "one length"},
            {{{same}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}}}, "six dummies"}};
}

Level with_pulses(const NamedPlan& plan, Pulses pulses, double least_share) {
    Level level = with_pulses(9, pulses, least_share);
    level.name += fmt::format(", {}", plan.name);
    level.plan = plan.plan;
    level.frames = 420;
    return level;
}

std::vector<Level> pulse_levels() {
    std::vector<Level> levels;
    for (const bool at_random : {false, true}) {
        for (const double db : {10.0, 17.0, 23.0, 30.0}) {
            levels.push_back(with_pulses(9, {10000, 100, db, at_random}, 0.99));
            levels.push_back(with_pulses(5.5, {10000, 100, db, at_random}, 0.97));
            levels.push_back(with_pulses(9, {10000, 10, db, at_random}, 1));
            levels.push_back(with_pulses(9, {500, 0.5, db, at_random}, 1));
            levels.push_back(with_pulses(13.2, {10000, 100, db, at_random}, 0.99, k16apsk34));
            levels.push_back(with_pulses(18.7, {10000, 100, db, at_random}, 0.99, k32apsk89));
            levels.push_back(with_pulses(13.2, {500, 0.5, db, at_random}, 0.99, k16apsk34));
        }
    }
    for (const NamedPlan& plan : plans()) {
        levels.push_back(with_pulses(plan, {10000, 100, 23, true}, 0.99));
        levels.push_back(with_pulses(plan, {10000, 10, 23, true}, 1));
    }
    return levels;
}

Level with_steps(Named modcod, double esn0_db, double every, double db, double least_share) {
    Level level{fmt::format("steps of {} dB each {}, {}", db, every, modcod.name), modcod, true, esn0_db,
                least_share};
    level.channel.disturbances.steps = {every, db};
    return level;
}

std::vector<Level> step_levels() {
    std::vector<Level> levels;
    for (const double db : {3.0, 6.0}) {
        levels.push_back(with_steps(kQpsk34, 6, 10000, db, 1));
        levels.push_back(with_steps(k8psk34, 10, 10000, db, 1));
        levels.push_back(with_steps(k16apsk34, 12.2, 10000, db, 1));
        levels.push_back(with_steps(k32apsk89, 17.7, 10000, db, 1));
    }
    levels.push_back(with_steps(kQpsk34, 6, 10000, 20, 0.9));
    levels.push_back(with_steps(kQpsk34, 6, 100000, 20, 0.9));
    levels.push_back(with_steps(k16apsk34, 12.2, 100000, 20, 0.9));
    return levels;
}

Level with_fading(bool pilots) {
    Level level{
        fmt::format("fading of 6 dB, {} pilots", pilots ? "with" : "no"), kQpsk34, pilots, 6.03, 0.55, 240};
    level.channel.disturbances.fading = {500e3, 6};
    return level;
}

Level with_drift(double hz_per_s, bool pilots) {
    Level level{fmt::format("drift {} Hz/s, {} pilots", hz_per_s, pilots ? "with" : "no"),
                kQpsk34,
                pilots,
                6.03,
                pilots || hz_per_s > 1000 ? 1 : 0.98,
                120};
    level.channel.frequency_cycles_per_symbol = hertz(-hz_per_s * 2);
    level.channel.drift_cycles_per_symbol2 = hertz_per_s(hz_per_s);
    return level;
}

// Through a frame of 32,490 symbols.
Level with_long_drift(double hz_per_s, bool pilots) {
    Level level = with_drift(hz_per_s, pilots);
    level.name += ", QPSK 1/4, normal frames";
    level.modcod = kQpsk14;
    level.size = FrameSize::normal;
    level.esn0_db = 0.5;
    level.least_share = 1;
    level.frames = 40;
    return level;
}

// As slow as a low orbit's in a band below 1 GHz: weak headers take long to show it.
Level with_slow_drift(double hz_per_s) {
    Level level = with_drift(hz_per_s, false);
    level.name += ", QPSK 1/4";
    level.modcod = kQpsk14;
    level.esn0_db = 0.2;
    level.least_share = 1;
    level.frames = 200;
    return level;
}

std::vector<Level> drift_levels() {
    std::vector<Level> levels;
    for (const bool pilots : {true, false}) {
        for (const double hz_per_s : {600.0, 1250.0, 3000.0}) levels.push_back(with_drift(hz_per_s, pilots));
        for (const double hz_per_s : {375.0, 625.0, 1250.0, 3000.0})
            levels.push_back(with_long_drift(hz_per_s, pilots));
        Level hit = with_drift(3000, pilots);
        hit.name += ", pulses, normal frames";
        hit.size = FrameSize::normal;
        hit.frames = 40;
        hit.least_share = 0.99;
        hit.channel.disturbances.pulses = {10000, 100, 23, false};
        levels.push_back(hit);
        Level pass{fmt::format("S curve, {} pilots", pilots ? "with" : "no"), k8psk35, pilots, 8, 1, 450};
        pass.channel.disturbances.sweep = {0.1, 3 * kSymbolRateHz, 5 * kSymbolRateHz};
        levels.push_back(pass);
    }
    for (const double hz_per_s : {62.5, 125.0, 250.0}) levels.push_back(with_slow_drift(hz_per_s));
    return levels;
}

std::vector<Level> offset_levels() {
    std::vector<Level> levels;
    for (const double offset : {0.2, 0.3, -0.3, 0.45, 0.5, -0.5}) {
        Level level{fmt::format("offset {}", offset), kQpsk34, true, 6.03, 1};
        level.channel.frequency_cycles_per_symbol = offset;
        levels.push_back(level);
    }
    return levels;
}

Level with_tones(Named modcod, double esn0_db, std::vector<Tone> tones, double least_share) {
    Level level{fmt::format("{} tones of {:+} dB, {}", tones.size(), tones.front().gain_db, modcod.name),
                modcod, true, esn0_db, least_share};
    level.channel.disturbances.tones = std::move(tones);
    return level;
}

std::vector<Level> tone_levels() {
    const std::vector<Tone> three{{0.21, 3, 0}, {-0.13, 3, 0}, {0.42, 3, hertz_per_s(1000)}};
    return {with_tones(kQpsk34, 5.5, {{0.21, -10, 0}}, 1), with_tones(kQpsk34, 5.5, {{0.21, -3, 0}}, 1),
            with_tones(kQpsk34, 4.6, three, 1), with_tones(k32apsk89, 17.2, three, 1)};
}

// Where the best linear equaliser of any length leaves so much.
Level with_echo(Named modcod, bool pilots, Echo echo, double left_db, double least_share = 1) {
    Level level{fmt::format("echo of {} dB, {} symbols, {}, {} pilots", echo.gain_db, echo.delay_symbols,
                            modcod.name, pilots ? "with" : "no"),
                modcod, pilots, left_db, least_share};
    level.channel.echoes = {echo};
    while (linear_equaliser_esn0_db(level.channel.echoes, 0.2, level.esn0_db) < left_db)
        level.esn0_db += 0.01;
    level.name += fmt::format(", {:.2f} dB", level.esn0_db);
    return level;
}

// 0.3 dB more than is left without echoes where one frame in a hundred is lost.
std::vector<Level> echo_levels() {
    std::vector<Level> levels;
    for (const double db : {-20.0, -10.0, -6.0}) {
        const Echo echo{3.3, db, 1};
        levels.push_back(with_echo(kQpsk34, true, echo, 4.6));
        levels.push_back(with_echo(kQpsk34, false, echo, 4.6));
        levels.push_back(with_echo(k8psk34, false, echo, 8.6));
        levels.push_back(with_echo(k16apsk34, true, echo, 10.8));
        levels.push_back(with_echo(k32apsk89, true, echo, 16.4));
    }
    for (const Echo& echo : {Echo{1.4, -6, 3}, Echo{7.5, -6, 0}, Echo{5.2, -10, 5}})
        levels.push_back(with_echo(kQpsk34, true, echo, 4.6));
    // Delays of whole symbols, as a header's own neighbours.
    for (const double late : {4.0, 6.0, 8.0, 14.0}) {
        levels.push_back(with_echo(kQpsk34, false, {late, -6, 2}, 4.6));
        levels.push_back(with_echo(k8psk34, false, {late, -6, 2}, 8.6));
    }
    return levels;
}

// Ten of them, each in another part of a frame; a frame and a half may go with each, and those that lie in it
// whole.
Level with_gaps(Named modcod, double esn0_db, bool pilots, std::uint64_t samples) {
    Level level{
        fmt::format("10 gaps of {} samples, {}, {} pilots", samples, modcod.name, pilots ? "with" : "no"),
        modcod, pilots, esn0_db, 0};
    const auto frame = static_cast<std::uint64_t>(2 * layout_of(pls_of(level)).symbols);
    level.frames = 140;
    for (std::uint64_t i = 1; i <= 10; ++i)
        level.channel.disturbances.lost.push_back({i * 12 * frame + i * frame / 11, samples});
    const double never_came = 10.0 * static_cast<double>(samples) / static_cast<double>(frame);
    level.least_share = 1 - (15 + never_came) / static_cast<double>(level.frames);
    return level;
}

std::vector<Level> gap_levels() {
    std::vector<Level> levels;
    for (const std::uint64_t samples : {1, 3, 1234, 1235, 4000, 20000}) {
        levels.push_back(with_gaps(kQpsk34, 6.03, true, samples));
        levels.push_back(with_gaps(kQpsk34, 6.03, false, samples));
        levels.push_back(with_gaps(k8psk34, 10, true, samples));
        levels.push_back(with_gaps(k16apsk34, 12.2, true, samples));
        levels.push_back(with_gaps(k32apsk89, 17.7, true, samples));
    }
    return levels;
}

// To the sample, but for whole frames for which there is no evidence.
std::uint64_t missing_modulo_frame(const Level& level) {
    const auto frame = static_cast<std::uint64_t>(2 * layout_of(pls_of(level)).symbols);
    std::uint64_t samples = 0;
    for (const LostSamples& lost : level.channel.disturbances.lost) samples += lost.samples % frame;
    return samples;
}

/// Each packet that was sent, and how it came: `wrong` never was sent, or came twice or late.
struct Came {
    std::size_t first;
    std::size_t of_those_after;
    std::size_t wrong = 0;

    double share(std::size_t sent) const {
        return first < sent ? static_cast<double>(of_those_after) / static_cast<double>(sent - first) : 0;
    }
};

Came judge(const Received& received, const MadeReception& made) {
    const std::vector<std::size_t> places = places_of(received.packets, made.packets);
    const std::size_t sent = made.packets.size() / io::kTsPacketBytes;
    Came came{places.empty() ? sent : places.front(), places.size()};
    for (std::size_t i = 0; i < places.size(); ++i)
        came.wrong += places[i] == sent || (i > 0 && places[i] <= places[i - 1]) ? 1 : 0;
    return came;
}

void hold(const std::vector<Level>& levels) {
    const char* wanted = std::getenv("TIDEMILL_LEVELS");  // part of the names of those to be tried
    for (Level level : levels) {
        if (wanted && level.name.find(wanted) == std::string::npos) continue;
        level.channel.esn0_db = level.esn0_db;
        level.channel.clock_offset_ppm = 10;
        level.channel.delay_symbols = 0.3;
        level.channel.seed = 18;
        const auto plan = level.plan.empty() ? std::vector<PlannedFrame>{{pls_of(level)}} : level.plan;
        const MadeReception made = make_reception(plan, level.frames, level.channel);
        const Received received = receive(made.samples);
        const Came came = judge(received, made);
        const std::size_t sent = made.packets.size() / io::kTsPacketBytes;
        const ReceptionReport& report = received.report;
        MESSAGE(fmt::format("{}: {:.2f} % of {} packets (from {}), {} of {} frames bad, {} locks, {} wrong",
                            level.name, 100 * came.share(sent), sent, came.first, report.totals.frames_bad,
                            report.totals.frames, report.sync.locks, came.wrong));
        CHECK_MESSAGE(came.share(sent) >= level.least_share, level.name);
        const double frames_to_first =
            static_cast<double>(came.first * level.frames) / static_cast<double>(sent);
        if (level.least_share > 0) CHECK_MESSAGE(frames_to_first <= kLockFrames, level.name);
        CHECK_MESSAGE(came.wrong == 0, level.name);
        const MissingSamples& missing = report.totals.missing;
        CHECK_MESSAGE(missing.gaps == level.channel.disturbances.lost.size(), level.name);
        CHECK_MESSAGE(missing.samples == missing_modulo_frame(level), level.name);
    }
}

}  // namespace

TEST_CASE("channel levels: pulses") {
    hold(pulse_levels());
}

TEST_CASE("channel levels: steps of the gain, fading") {
    hold(step_levels());
    hold({with_fading(true), with_fading(false)});
}

TEST_CASE("channel levels: drift") {
    hold(drift_levels());
}

TEST_CASE("channel levels: offset") {
    hold(offset_levels());
}

TEST_CASE("channel levels: tones") {
    hold(tone_levels());
}

TEST_CASE("channel levels: echoes") {
    hold(echo_levels());
}

TEST_CASE("channel levels: samples that are missing are told, to the sample modulo a frame") {
    hold(gap_levels());
}

}  // namespace tidemill::dvbs2
