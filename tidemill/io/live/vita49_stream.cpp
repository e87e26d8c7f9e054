#include "tidemill/io/live/vita49_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tidemill::io {
namespace {

constexpr double kMostGapSeconds = 1;    // beyond, it is another beginning
constexpr int kStraysThatConvince = 16;  // before what was out of time is the time
// Steps back of 16 that the count can express, where packets bear no time stamps: the last ones may be older
// than what was given out, the others are newer.
constexpr int kMostStepsBack = 4;

// A seconds' difference, exact as long as it matters.
double seconds_between(std::uint32_t from, std::uint32_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from));
}

double fraction_between(std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from));
}

// Samples from one time stamp to another; empty where the two do not define it.
std::optional<double> samples_between(const VitaTime& from, const VitaTime& to, double rate_hz) {
    constexpr double kPicosecond = 1e-12;
    if (from.counts != to.counts || from.seconds.has_value() != to.seconds.has_value()) return std::nullopt;
    const double fraction = fraction_between(from.fraction, to.fraction);
    if (to.counts == VitaFraction::free_running) return fraction;
    if (to.counts == VitaFraction::none || !to.seconds) return std::nullopt;
    const double seconds = seconds_between(*from.seconds, *to.seconds);
    if (to.counts == VitaFraction::samples) return seconds * rate_hz + fraction;
    return (seconds + fraction * kPicosecond) * rate_hz;
}

}  // namespace

std::string VitaCounts::remarks() const {
    std::string text;
    const auto add = [&](std::uint64_t number, const char* what) {
        if (number > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, what);
    };
    add(cut, "cut off or no VITA-49");
    add(other_kind, "neither data nor context");
    add(other_class, "of another class");
    add(other_stream, "of another stream");
    add(early, "before rate and format were known");
    add(other_form, "of another rate or format");
    add(doubled, "doubled");
    add(late, "too late");
    add(out_of_time, "out of time");
    std::string all = text.empty() ? "" : fmt::format("packets not taken: {}", text);
    if (restarts > 0)
        all += fmt::format("{}the time stamps jumped {} times by over a second, which is not filled",
                           all.empty() ? "" : "; ", restarts);
    if (contexts > 0 && data + early + other_form == 0)
        all += fmt::format("{}{} context packets came, and no data", all.empty() ? "" : "; ", contexts);
    if (unmeasured_gaps > 0)
        all += fmt::format("{}{} gaps of unknown length: the packets bear no time stamps",
                           all.empty() ? "" : "; ", unmeasured_gaps);
    return all;
}

VitaStream::VitaStream(const VitaSettings& settings) : settings_(settings), stream_(settings.stream) {}

bool VitaStream::is_wanted(const VitaPacket& packet) {
    if (packet.kind == VitaKind::other) {
        ++counts_.other_kind;
        return false;
    }
    // Identifier that programs sent before DIFI had one of its own.
    constexpr std::uint32_t kFormerOrganisation = 0x7C386C;
    VitaClass of_class = packet.of_class.value_or(VitaClass{});
    if (of_class.organisation == kFormerOrganisation) of_class.organisation = kDifiData.organisation;
    if (!settings_.any_class && of_class != (packet.kind == VitaKind::data ? kDifiData : kDifiContext)) {
        ++counts_.other_class;
        return false;
    }
    if (!stream_ && packet.kind == VitaKind::data) consider(packet.stream);
    if (!stream_ || packet.stream == *stream_) return true;
    ++counts_.other_stream;
    return false;
}

// The first one of which data come that are understood: a device may announce others that nobody sends here.
void VitaStream::consider(std::uint32_t stream) {
    const auto said = std::ranges::find(said_before_, stream, &Said::stream);
    said_ = said == said_before_.end() ? VitaContext{} : said->context;
    if (!told()) return;
    stream_ = stream;
    said_before_.clear();
}

VitaContext& VitaStream::said_of(std::uint32_t stream) {
    const auto known = std::ranges::find(said_before_, stream, &Said::stream);
    if (known != said_before_.end()) return known->context;
    if (said_before_.size() == kMostStreams) said_before_.erase(said_before_.begin());
    return said_before_.emplace_back(Said{stream, {}}).context;
}

void VitaStream::take_context(const VitaPacket& packet) {
    ++counts_.contexts;
    VitaContext& said = stream_ ? said_ : said_of(packet.stream);
    if (packet.context.sample_rate_hz) said.sample_rate_hz = packet.context.sample_rate_hz;
    if (packet.context.frequency_hz) said.frequency_hz = packet.context.frequency_hz;
    if (!packet.context.layout) return;
    said.layout = packet.context.layout;
    said.form = packet.context.form;
}

std::optional<VitaStream::Begun> VitaStream::told() const {
    const auto rate_hz = settings_.sample_rate_hz ? settings_.sample_rate_hz : said_.sample_rate_hz;
    const auto form = settings_.format ? VitaForm{*settings_.format} : said_.form;
    if (!rate_hz || !form) return std::nullopt;
    return Begun{*form, *rate_hz};
}

std::string VitaStream::missing() const {
    const bool needs_rate = !settings_.sample_rate_hz && !said_.sample_rate_hz;
    if (!settings_.format && said_.layout && !said_.form)
        return fmt::format("samples in the format {:#010x}, which is not read here", *said_.layout);
    if (!settings_.format && !said_.form) {
        return needs_rate
                   ? "packets carry neither rate nor format: give --rate and --format (such as ci16_be)"
                   : "packets do not carry the format: give --format (such as ci16_be)";
    }
    return needs_rate ? "packets do not carry the rate: give --rate" : "";
}

void VitaStream::take(std::span<const std::byte> datagram) {
    const auto packet = parse_vita(datagram);
    if (!packet) {
        ++counts_.cut;
        return;
    }
    if (!is_wanted(*packet)) return;
    if (packet->kind == VitaKind::context) return take_context(*packet);
    const auto now = told();
    if (!begun_) begun_ = now;
    if (!begun_ || now != begun_) {
        ++(begun_ ? counts_.other_form : counts_.early);
        ++misfits_;
        return;
    }
    misfits_ = 0;
    Held one{{packet->time, packet->count}, {}};
    append_vita_samples(begun_->form, packet->payload, one.samples);
    place(std::move(one));
}

std::string VitaStream::trouble() const {
    if (!begun_ || misfits_ < std::uint64_t{kStraysThatConvince}) return {};
    const auto now = told();
    if (now && now->rate_hz != begun_->rate_hz)
        return fmt::format("packets come with {} instead of {} samples per second, and are not taken",
                           now->rate_hz, begun_->rate_hz);
    return "packets come in another format than at the beginning, and are not taken";
}

std::uint64_t VitaStream::samples_of(const Held& packet) const {
    return packet.samples.size() / dsp::bytes_per_sample(begun_->form.format);
}

// Samples from the end of what was given out to a packet. Without time stamps only the count shows how many
// packets are missing, at most 15, and their length is guessed: it only puts packets in order.
double VitaStream::ahead(const Place& place) const {
    const auto given = static_cast<double>(last_samples_);
    if (const auto samples = samples_between(last_->time, place.time, begun_->rate_hz))
        return *samples - given;
    const int steps = (place.count - last_->count - 1) & 15;
    return given * (steps < 16 - kMostStepsBack ? steps : steps - 16);
}

// Where the count goes on, a clock may be a little off the samples.
bool VitaStream::is_next(const Place& place, double ahead) const {
    const bool goes_on = place.count == ((last_->count + 1) & 15);
    return std::abs(ahead) < (goes_on ? std::max(0.5, static_cast<double>(last_samples_) / 2) : 0.5);
}

void VitaStream::place(Held packet) {
    if (packet.samples.empty()) {
        ++counts_.cut;
    } else if (!last_) {
        give(std::move(packet));
    } else if (const double far = ahead(packet.place); std::abs(far) > kMostGapSeconds * begun_->rate_hz) {
        if (!begins_anew(packet)) ++counts_.out_of_time;
    } else if (is_next(packet.place, far)) {
        give(std::move(packet));
        give_next_held();
    } else if (far < 0 && is_timed(packet.place) && was_given(packet.place)) {
        ++counts_.doubled;
    } else if (far < 0 && !is_timed(packet.place)) {
        place_untimed(std::move(packet));
    } else if (far < 0) {
        if (!begins_anew(packet)) ++counts_.late;
    } else {
        hold(std::move(packet));
    }
}

bool VitaStream::is_timed(const Place& place) const {
    return samples_between(last_->time, place.time, begun_->rate_hz).has_value();
}

// Without a time stamp what looks old may be as new, behind a long gap: where newer ones wait, it is, and
// where one comes behind the other.
void VitaStream::place_untimed(Held packet) {
    if (!held_.empty()) {
        finish();
        place(std::move(packet));
    } else if (++strays_ < kMostStepsBack) {
        ++counts_.doubled;
    } else {
        ++losses_.gaps;
        ++counts_.unmeasured_gaps;
        give(std::move(packet));
    }
}

bool VitaStream::was_given(const Place& place) const {
    const auto known = std::span(remembered_).first(std::min(remembered_count_, kRemembered));
    return std::ranges::find(known, place) != known.end();
}

// One that is out of its time is not taken; but where there are no others, theirs is the time.
bool VitaStream::begins_anew(Held& packet) {
    if (++strays_ < kStraysThatConvince) return false;
    finish();
    ++counts_.restarts;
    ++losses_.gaps;
    give(std::move(packet));
    return true;
}

void VitaStream::hold(Held packet) {
    strays_ = 0;
    if (std::ranges::find(held_, packet.place, &Held::place) != held_.end()) {
        ++counts_.doubled;
        return;
    }
    const std::size_t most = is_timed(packet.place) ? kMostHeld : kMostHeldUntimed;
    held_.push_back(std::move(packet));
    if (held_.size() <= most) return;
    give_over_gap();
    give_next_held();
}

void VitaStream::give(Held packet) {
    strays_ = 0;
    last_ = packet.place;
    last_samples_ = samples_of(packet);
    remembered_.at(remembered_count_++ % kRemembered) = packet.place;
    ++counts_.data;
    pieces_.add(std::move(packet.samples));
}

void VitaStream::give_next_held() {
    bool found = true;
    while (found) {
        found = false;
        for (auto held = held_.begin(); held != held_.end(); ++held) {
            const double far = ahead(held->place);
            found = is_next(held->place, far);
            if (!found && far > 0) continue;
            Held packet = std::move(*held);
            held_.erase(held);
            if (found) {
                give(std::move(packet));
            } else {
                ++counts_.late;  // a time stamp in the middle of samples that came
                found = true;
            }
            break;
        }
    }
}

// The first of those that wait has waited long enough for what is missing before it.
void VitaStream::give_over_gap() {
    const auto first = std::ranges::min_element(held_, {}, [&](const Held& h) { return ahead(h.place); });
    Held packet = std::move(*first);
    held_.erase(first);
    ++losses_.gaps;
    const double far = ahead(packet.place);
    if (!samples_between(last_->time, packet.place.time, begun_->rate_hz)) {
        ++counts_.unmeasured_gaps;
    } else if (far > kMostGapSeconds * begun_->rate_hz) {
        ++counts_.restarts;  // the time has changed since it began to wait
    } else {
        const auto missing = static_cast<std::uint64_t>(std::max(0LL, std::llround(far)));
        losses_.samples += missing;
        pieces_.add_silence(missing * dsp::bytes_per_sample(begun_->form.format));
    }
    give(std::move(packet));
}

void VitaStream::finish() {
    while (!held_.empty()) {
        give_over_gap();
        give_next_held();
    }
}

}  // namespace tidemill::io
