#include "tidemill/apps/reception/page/rx_views.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "tidemill/apps/reception/page/band_tap.hpp"
#include "tidemill/dsp/power_spectrum.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kSpectrumBins = 256;
constexpr std::size_t kSpectrumSamples = 16 * kSpectrumBins;
constexpr std::size_t kRowSamples = 4 * kSpectrumBins;  // of the waterfall, which keeps them
constexpr std::size_t kEyeLines = 60;

// Hundredths are what a picture shows.
Json hundredths(float value) {
    return std::isfinite(value)
               ? Json(static_cast<std::int64_t>(std::lround(100 * std::clamp(value, -9.0F, 9.0F))))
               : Json(0);
}

double kbps_of(std::uint64_t packets, double elapsed_s) {
    return elapsed_s > 0 ? 8.0 * io::kTsPacketBytes * static_cast<double>(packets) / elapsed_s / 1e3 : 0;
}

std::vector<dsp::Iq> symbols_in(const std::vector<std::byte>& bytes) {
    std::vector<dsp::Iq> symbols(bytes.size() / sizeof(dsp::Iq));
    std::memcpy(symbols.data(), bytes.data(), symbols.size() * sizeof(dsp::Iq));
    return symbols;
}

}  // namespace

void Waterfall::add(std::span<const std::byte> samples) {
    if (seen_++ % every_ != 0) return;
    rows_.emplace_back(samples.begin(), samples.end());
    if (rows_.size() < kMostRows) return;
    // The first stays where it is: moved onto itself it would be empty.
    for (std::size_t i = 1; i < kMostRows / 2; ++i) rows_[i] = std::move(rows_[2 * i]);
    rows_.resize(kMostRows / 2);
    every_ *= 2;
}

RxViews::RxViews(Receivers& receivers, const RxStatus& status, const io::TsServices& services, RxLabel place,
                 LiveView& view)
    : receivers_(receivers),
      status_(status),
      since_start_(status),
      ts_(services),
      place_(std::move(place)),
      eye_view_(place_.rolloff),
      view_(view),
      raw_(add("spectrum.raw", kSpectrumSamples * dsp::bytes_per_sample(place_.format))),
      turned_(add("carrier.frame", kPoints)),
      upright_(add("carrier.data", kPoints)),
      filtered_(add("timing.filtered_in", 1)) {}

std::size_t RxViews::add(std::string_view socket, std::size_t elements) {
    return view_.add(receivers_.name_of(place_.carrier, socket), elements);
}

void RxViews::step(double now_s) {
    const std::vector<std::byte> samples = view_.content(raw_);
    view_.ask(raw_);
    const std::lock_guard lock(mutex_);
    last_ = status_.next_view(now_s);
    history_.add(last_);
    count_services(now_s - std::exchange(last_s_, now_s));
    const std::size_t row_bytes = kRowSamples * dsp::bytes_per_sample(place_.format);
    if (samples.size() >= row_bytes && !last_.stands_still())
        waterfall_.add(std::span(samples).first(row_bytes));
    ++steps_;
}

void RxViews::draw() {
    Json drawn = pictures();
    const std::lock_guard lock(mutex_);
    pictures_ = std::move(drawn);
    if (last_.now.locked && last_.frames > 0) locked_pictures_ = pictures_;
}

bool RxViews::locked() const {
    const std::lock_guard lock(mutex_);
    return last_.now.locked;
}

void RxViews::count_services(double elapsed_s) {
    for (const io::TsService& service : ts_.services()) {
        Rate& rate = rates_[service.number];
        const double kbps = kbps_of(service.packets - rate.packets, elapsed_s);
        rate.kbps = rate.packets == 0 ? kbps : 0.7 * rate.kbps + 0.3 * kbps;  // frames come in bursts
        rate.packets = service.packets;
    }
}

Json RxViews::services(bool of_all_times) const {
    Json all = Json::array();
    for (const io::TsService& service : ts_.services()) {
        const auto rate = rates_.find(service.number);
        const double recent = rate == rates_.end() ? 0 : rate->second.kbps;
        const double kbps = of_all_times ? kbps_of(service.packets, last_s_) : recent;
        all.push_back(Json{{"number", service.number},
                           {"name", service.name},
                           {"packets", service.packets},
                           {"kbps", std::round(10 * kbps) / 10}});
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
    const auto pls = receivers_.now(place_.carrier).totals.last_pls;
    const std::vector<std::byte> bytes = view_.content(filtered_);
    if (!pls || bytes.size() < sizeof(dvbs2::FilteredBlock)) return points;
    const auto block = std::make_unique<dvbs2::FilteredBlock>();
    std::memcpy(block.get(), bytes.data(), sizeof *block);
    const auto modulation = dvbs2::find_modcod(pls->modcod)->modulation;
    for (const float point : eye_view_.draw(*block, modulation, kEyeLines).points)
        points.push_back(hundredths(point));
    return points;
}

Json RxViews::spectrum_db(std::span<const std::byte> bytes) const {
    const std::size_t size = dsp::bytes_per_sample(place_.format);
    std::vector<dsp::Iq> samples(bytes.size() / size);
    if (samples.size() < kSpectrumBins) return Json::array();
    dsp::convert_samples(place_.format, bytes.first(samples.size() * size), samples);
    dsp::PowerSpectrum spectrum(kSpectrumBins);
    spectrum.add(samples);
    return spectrum_json(spectrum.power());
}

Json RxViews::pictures() const {
    return Json{{"constellation", constellation(upright_)},
                {"turned", constellation(turned_)},
                {"eye", eye()},
                {"eye_line", dvbs2::Eye::kPointsPerLine},
                {"spectrum_db", spectrum_db(view_.content(raw_))}};
}

Json RxViews::now() const {
    const std::lock_guard lock(mutex_);
    Json now{{"source", place_.name},
             {"number", place_.number},
             {"input_rate_hz", place_.input_rate_hz},
             {"centre_hz", place_.tuned_hz},
             {"symbol_rate_hz", last_.now.symbol_rate_hz},
             {"rolloff", place_.rolloff},
             {"step", steps_},
             {"status", recent_status()},
             {"totals", {{"frames", last_.now.totals.frames}, {"frames_bad", last_.now.totals.frames_bad}}},
             {"player", place_.player}};
    now.update(pictures_);
    if (last_.stands_still()) now["spectrum_db"] = Json::array();  // no row of what is not there
    return now;
}

Json RxViews::mask() const {
    const std::lock_guard lock(mutex_);
    const Json status = status_json(last_);
    const Json* const offset = status.find("offset_hz");
    const Json* const modcod = status.find("modcod");
    return Json{{"number", place_.number},
                {"offset_hz", offset ? *offset : Json()},
                {"symbol_rate_hz", last_.now.symbol_rate_hz},
                {"rolloff", place_.rolloff},
                {"lock", last_.now.locked},
                {"modcod", modcod ? *modcod : Json()}};
}

Json RxViews::moment() const {
    const std::lock_guard lock(mutex_);
    return RxHistory::json_of(history_.newest());
}

Json RxViews::past() const {
    const std::lock_guard lock(mutex_);
    Json rows = Json::array();
    for (const Waterfall::Row& row : waterfall_.rows()) rows.push_back(spectrum_db(row));
    return Json{{"step", steps_}, {"moments", history_.json()}, {"waterfall", std::move(rows)}};
}

Json RxViews::whole() const {
    Json whole = now();
    whole.update(past());
    const std::lock_guard lock(mutex_);
    whole.update(locked_pictures_);
    whole["status"] = since_start_.since_start(last_s_);
    whole["status"]["services"] = services(true);
    return whole;
}

Json RxViews::status() const {
    const std::lock_guard lock(mutex_);
    return recent_status();
}

Json RxViews::recent_status() const {
    Json status = status_json(last_);
    status["services"] = services(false);
    return status;
}

RxMetrics RxViews::metrics() {
    const std::lock_guard lock(mutex_);
    return {.carrier = place_.number,
            .status = since_start_.since_start(last_s_),
            .services = counted_.among(ts_.services())};
}

std::vector<io::TsService> CountedServices::among(const std::vector<io::TsService>& services) {
    std::vector<io::TsService> counted;
    for (const io::TsService& service : services) {
        if (numbers_.size() < kMost) numbers_.insert(service.number);
        if (numbers_.contains(service.number)) counted.push_back(service);
    }
    return counted;
}

}  // namespace tidemill::cli
