#include "tidemill/cli/dvbs2/rx_status.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/dvbs2/modcod_name.hpp"
#include "tidemill/dvbs2/receiver/rx_frames.hpp"

namespace tidemill::cli {

namespace {

using Json = nlohmann::ordered_json;

auto read(const auto& value) {
    return value.load(std::memory_order_relaxed);
}

std::string name_of(const dvbs2::Pls& pls) {
    return fmt::format("{} {}{}", modcod_name(*dvbs2::find_modcod(pls.modcod)), name(pls.size),
                       pls.pilots ? " pilots" : "");
}

void add_last_frame(const dvbs2::RxSink::Live& live, Json& json) {
    const int code = read(live.pls_code);
    if (code < 0) {
        for (const char* key : {"modcod", "frame", "pilots", "esn0_db", "margin_db"}) json[key] = nullptr;
        return;
    }
    const dvbs2::Pls pls = dvbs2::Pls::from_code(code);
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(pls.modcod);
    const float esn0_db = read(live.esn0_db);
    json["modcod"] = modcod_name(modcod);
    json["frame"] = name(pls.size);
    json["pilots"] = pls.pilots;
    json["esn0_db"] = esn0_db;
    json["margin_db"] = esn0_db - modcod.esn0_threshold_db;
}

Json histogram(const dvbs2::RxSink::Live& live) {
    Json json = Json::object();
    for (std::size_t code = 0; code < live.frames_of_pls.size(); ++code) {
        const std::uint64_t frames = read(live.frames_of_pls[code]);
        if (frames > 0) json[name_of(dvbs2::Pls::from_code(static_cast<int>(code)))] = frames;
    }
    return json;
}

}  // namespace

const char* phase_of(const dvbs2::Receiver& receiver) {
    return receiver.frame_sync().locked() ? "transmit" : receiver.coarse().found() ? "learn" : "wait";
}

std::string RxStatus::line(double now_s) {
    const auto& live = receiver_.sink().live();
    const Totals now{read(live.frames), read(live.frames_bad), read(live.info_bits),
                     read(live.ldpc_iterations), read(live.corrected_bits)};
    const std::uint64_t frames = now.frames - last_.frames;
    const std::uint64_t bad = now.frames_bad - last_.frames_bad;
    const double elapsed_s = now_s - last_s_;
    Json json{{"time_s", now_s}, {"phase", phase_of(receiver_)}, {"lock", receiver_.frame_sync().locked()}};
    add_last_frame(live, json);
    const bool found = receiver_.coarse().found();
    const double offset = receiver_.coarse().frequency() + read(live.frequency);
    json["offset_hz"] = found ? Json(offset * symbol_rate_hz_) : Json();
    json["clock_ppm"] = found ? Json(receiver_.timing().clock_ppm()) : Json();
    json["iq_offset_db"] = receiver_.coarse().iq_offset_db();  // infinite ones become null
    json["iq_image_db"] = receiver_.coarse().iq_image_db();
    json["frames"] = frames;
    json["frames_bad"] = bad;
    json["info_mbps"] =
        elapsed_s > 0 ? static_cast<double>(now.info_bits - last_.info_bits) / elapsed_s / 1e6 : 0;
    json["ldpc_iterations"] = frames > bad
                                  ? Json(static_cast<double>(now.ldpc_iterations - last_.ldpc_iterations) /
                                         static_cast<double>(frames - bad))
                                  : Json();
    json["bch_corrected_bits"] = now.corrected_bits - last_.corrected_bits;
    json["modcods"] = histogram(live);
    json["ts_packets"] = packets_.packets();
    json["programmes"] = packets_.programmes();
    json["continuity_errors"] = packets_.continuity_errors();
    json["samples_clipped"] = receiver_.spectrum().live_clipped();
    last_ = now;
    last_s_ = now_s;
    return json.dump();
}

EverySecond::EverySecond(std::function<void(double)> act)
    : act_(std::move(act)), thread_([this](const std::stop_token& done) { run(done); }) {}

EverySecond::~EverySecond() {
    thread_.request_stop();
    thread_.join();
}

void EverySecond::run(const std::stop_token& done) {
    using namespace std::chrono_literals;
    const auto elapsed_s = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    };
    std::unique_lock lock(mutex_);
    for (auto next = start_ + 1s; !done.stop_requested(); next += 1s) {
        if (!wake_.wait_until(lock, done, next, [] { return false; }) && !done.stop_requested())
            act_(elapsed_s());
    }
    act_(elapsed_s());
}

}  // namespace tidemill::cli
