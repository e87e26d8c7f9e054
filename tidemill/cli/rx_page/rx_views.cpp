#include "tidemill/cli/rx_page/rx_views.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/io/ts_packet.hpp"
#include "tidemill/run/insight/drawing.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kSpectrumBins = 256;
constexpr std::size_t kSpectrumSamples = 16 * kSpectrumBins;
constexpr std::size_t kEyeLines = 60;

// Hundredths are what a picture shows.
Json hundredths(float value) {
    return std::isfinite(value)
               ? Json(static_cast<std::int64_t>(std::lround(100 * std::clamp(value, -9.0F, 9.0F))))
               : Json(0);
}

std::vector<dsp::Iq> symbols_in(const std::vector<std::byte>& bytes) {
    std::vector<dsp::Iq> symbols(bytes.size() / sizeof(dsp::Iq));
    std::memcpy(symbols.data(), bytes.data(), symbols.size() * sizeof(dsp::Iq));
    return symbols;
}

Json share(double us, double elapsed_us, std::size_t threads) {
    const double whole = elapsed_us * static_cast<double>(threads);
    return whole > 0 ? std::round(1000 * std::clamp(us / whole, 0.0, 1.0)) / 1000 : 0.0;
}

}  // namespace

void Waterfall::add(const Json& row) {
    if (seen_++ % every_ != 0) return;
    rows_.push_back(row);
    if (rows_.size() < kMostRows) return;
    for (std::size_t i = 0; i < kMostRows / 2; ++i) rows_[i] = std::move(rows_[2 * i]);
    rows_.resize(kMostRows / 2);
    every_ *= 2;
}

RxViews::RxViews(dvbs2::Receiver& receiver, const RxStatus& status, const CountedSource& samples,
                 const io::TsServices& services, RxPlace place)
    : receiver_(receiver),
      status_(status),
      since_start_(status),
      ts_(services),
      place_(std::move(place)),
      samples_(samples),
      input_rate_hz_(samples.sample_rate_hz().value_or(0)),
      format_(samples.format()),
      eye_view_(place_.rolloff),
      view_(receiver.graph()),
      raw_(view_.add("spectrum.raw", kSpectrumSamples * dsp::bytes_per_sample(format_))),
      turned_(view_.add("carrier.frame", kPoints)),
      upright_(view_.add("carrier.data", kPoints)),
      filtered_(view_.add("timing.filtered_in", 1)),
      knobs_(receiver.graph()) {}

void RxViews::follow(const Schedule& schedule) {
    const std::lock_guard lock(mutex_);
    schedule_ = schedule;
}

void RxViews::step(double now_s) {
    const std::lock_guard lock(mutex_);
    last_ = status_.next_view(now_s);
    last_status_ = status_json(last_);
    history_.add(last_);
    const LiveTimes times = this->times();
    recent_ = times.since(times_);
    times_ = times;
    count_services(now_s - std::exchange(last_s_, now_s));
    last_status_["services"] = services();
    ++steps_;
}

// Waiting for a radio is no work.
LiveTimes RxViews::times() const {
    LiveTimes times = view_.times();
    const auto read = std::ranges::find(times.tasks, "source.read", &LiveTimes::TaskTime::name);
    if (read == times.tasks.end() || times.stages.empty()) return times;
    const double waited_us = samples_.waited_us();
    const double told_us = std::min(waited_us, read->work_us);  // a wait that lasts is in no call yet
    read->work_us -= told_us;
    times.stages[0].work_us = std::max(0.0, times.stages[0].work_us - told_us);
    times.stages[0].pull_us += waited_us;
    return times;
}

void RxViews::draw() {
    Json drawn = pictures();
    view_.ask();
    const std::lock_guard lock(mutex_);
    pictures_ = std::move(drawn);
    if (last_.now.locked && last_.frames > 0) locked_pictures_ = pictures_;
    const Json* const spectrum = pictures_.find("spectrum_db");
    if (!spectrum->get_if<Json::Array>()->empty()) waterfall_.add(*spectrum);
}

bool RxViews::locked() const {
    const std::lock_guard lock(mutex_);
    return last_.now.locked;
}

std::string RxViews::status() const {
    const std::lock_guard lock(mutex_);
    return to_text(last_status_);
}

void RxViews::count_services(double elapsed_s) {
    for (const io::TsService& service : ts_.services()) {
        Rate& rate = rates_[service.number];
        const double bits = 8.0 * io::kTsPacketBytes * static_cast<double>(service.packets - rate.packets);
        const double kbps = elapsed_s > 0 ? bits / elapsed_s / 1e3 : 0;
        rate.kbps = rate.packets == 0 ? kbps : 0.7 * rate.kbps + 0.3 * kbps;  // frames come in bursts
        rate.packets = service.packets;
    }
}

Json RxViews::services() const {
    Json all = Json::array();
    for (const io::TsService& service : ts_.services()) {
        const auto rate = rates_.find(service.number);
        all.push_back(Json{{"number", service.number},
                           {"name", service.name},
                           {"packets", service.packets},
                           {"kbps", rate == rates_.end() ? 0 : std::round(10 * rate->second.kbps) / 10}});
    }
    return all;
}

Json RxViews::stages() const {
    Json all = Json::array();
    for (const LiveTimes::StageTime& stage : recent_.stages) {
        all.push_back(Json{{"threads", stage.threads},
                           {"work", share(stage.work_us, recent_.elapsed_us, stage.threads)},
                           {"pull", share(stage.pull_us, recent_.elapsed_us, stage.threads)},
                           {"push", share(stage.push_us, recent_.elapsed_us, stage.threads)}});
    }
    return all;
}

Json RxViews::constellation(std::size_t socket) const {
    Json points = Json::array();
    for (const dsp::Iq& symbol : symbols_in(view_.content(socket))) {
        points.push_back(hundredths(symbol.real()));
        points.push_back(hundredths(symbol.imag()));
    }
    return points;
}

Json RxViews::eye() const {
    Json points = Json::array();
    const auto pls = receiver_.now().totals.last_pls;
    const std::vector<std::byte> bytes = view_.content(filtered_);
    if (!pls || bytes.size() < sizeof(dvbs2::FilteredBlock)) return points;
    const auto block = std::make_unique<dvbs2::FilteredBlock>();
    std::memcpy(block.get(), bytes.data(), sizeof *block);
    const auto modulation = dvbs2::find_modcod(pls->modcod)->modulation;
    for (const float point : eye_view_.draw(*block, modulation, kEyeLines).points)
        points.push_back(hundredths(point));
    return points;
}

Json RxViews::spectrum_db() const {
    Json db = Json::array();
    const std::vector<std::byte> bytes = view_.content(raw_);
    const std::size_t size = dsp::bytes_per_sample(format_);
    std::vector<dsp::Iq> samples(bytes.size() / size);
    if (samples.size() < kSpectrumBins) return db;
    dsp::convert_samples(format_, std::span(bytes).first(samples.size() * size), samples);
    dsp::PowerSpectrum spectrum(kSpectrumBins);
    spectrum.add(samples);
    for (const float power : spectrum.power())
        db.push_back(std::round(100 * std::log10(std::max(power, 1e-12F))) / 10);
    return db;
}

Json RxViews::pictures() const {
    return Json{{"constellation", constellation(upright_)},
                {"turned", constellation(turned_)},
                {"eye", eye()},
                {"eye_line", dvbs2::Eye::kPointsPerLine},
                {"spectrum_db", spectrum_db()}};
}

Json RxViews::now() const {
    Json event{{"source", place_.name},        {"input_rate_hz", input_rate_hz_},
               {"centre_hz", place_.tuned_hz}, {"symbol_rate_hz", last_.now.symbol_rate_hz},
               {"rolloff", place_.rolloff},    {"step", steps_},
               {"status", last_status_},       {"stages", stages()}};
    event.update(pictures_);
    return event;
}

std::string RxViews::event() const {
    const std::lock_guard lock(mutex_);
    Json event = now();
    event["moment"] = RxHistory::json_of(history_.newest());
    event["knobs"] = knobs_.describe();
    event["player"] = place_.player;
    event["can_save"] = place_.can_save;
    return to_text(event);
}

std::string RxViews::history() const {
    const std::lock_guard lock(mutex_);
    return to_text(Json{{"step", steps_}, {"moments", history_.json()}, {"waterfall", waterfall_.rows()}});
}

std::string RxViews::graph_svg() const {
    const std::lock_guard lock(mutex_);
    const RunReport report = recent_.report();
    return to_svg(receiver_.graph(), {.schedule = schedule_ ? &*schedule_ : nullptr,
                                      .report = report.elapsed_s > 0 ? &report : nullptr});
}

Json RxViews::whole() const {
    const std::lock_guard lock(mutex_);
    const RunReport report = times_.report();
    Json whole = now();
    whole.update(locked_pictures_);
    whole["moments"] = history_.json();
    whole["waterfall"] = waterfall_.rows();
    whole["graph_svg"] = to_svg(receiver_.graph(), {.schedule = schedule_ ? &*schedule_ : nullptr,
                                                    .report = report.elapsed_s > 0 ? &report : nullptr});
    return whole;
}

}  // namespace tidemill::cli
