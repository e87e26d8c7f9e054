#include "tidemill/io/live/soapy_stream.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/internal/soapy_api.hpp"

namespace tidemill::io {

namespace {

using dsp::SampleFormat;

// Those before come first where the radio's own is not among them.
constexpr std::array<std::pair<const char*, SampleFormat>, 4> kFormats{{{"CS16", SampleFormat::ci16},
                                                                        {"CF32", SampleFormat::cf32},
                                                                        {"CS8", SampleFormat::ci8},
                                                                        {"CU8", SampleFormat::cu8}}};

const char* soapy_name(SampleFormat format) {
    return std::ranges::find(kFormats, format, &std::pair<const char*, SampleFormat>::second)->first;
}

}  // namespace

SampleFormat SoapyStream::best_format(const SoapyDevice& radio) {
    const std::string native = radio.native_format();
    for (const auto& [name, format] : kFormats)
        if (native == name) return format;
    const auto offered = radio.formats();
    for (const auto& [name, format] : kFormats)
        if (std::ranges::find(offered, name) != offered.end()) return format;
    throw IoError(
        fmt::format("the radio '{}' has samples in formats of its own alone, its native one is '{}'",
                    radio.place(), native));
}

SoapyStream::SoapyStream(const SoapyDevice& radio, SampleFormat format) : radio_(radio) {
    const std::size_t channel = 0;
    const auto& api = radio.api();
    const internal::SoapyKwargs none{};
    handle_ = api.set_up_stream(radio.handle(), radio.direction(), soapy_name(format), &channel, 1, &none);
    if (handle_ == nullptr) radio.fail(fmt::format("gives no stream of {}", soapy_name(format)));
    try {
        if (api.activate(radio.handle(), handle_, 0, 0, 0) != 0) radio.fail("does not begin to stream");
    } catch (...) {
        api.close_stream(radio.handle(), handle_);  // only now: it forgets why the last call failed
        throw;
    }
}

SoapyStream::~SoapyStream() {
    const auto& api = radio_.api();
    api.deactivate(radio_.handle(), handle_, 0, 0);
    api.close_stream(radio_.handle(), handle_);
}

bool SoapyStream::Outcome::is_timeout() const {
    return status == internal::kSoapyTimeout || status == 0;
}

bool SoapyStream::Outcome::is_overflow() const {
    return status == internal::kSoapyOverflow || status == internal::kSoapyCorruption;
}

bool SoapyStream::Outcome::is_underflow() const {
    return status == internal::kSoapyUnderflow;
}

bool SoapyStream::Outcome::is_failure() const {
    return status < 0 && !is_timeout() && !is_overflow() && !is_underflow() &&
           status != internal::kSoapyTimeError;
}

SoapyStream::Outcome SoapyStream::read(std::byte* to, std::size_t samples, std::int64_t wait_us) const {
    void* const buffer = to;
    int flags = 0;
    long long time_ns = 0;
    Outcome outcome;
    outcome.status = radio_.api().read(radio_.handle(), handle_, &buffer, samples, &flags, &time_ns, wait_us);
    if (outcome.status > 0 && (flags & internal::kSoapyHasTime) != 0) outcome.time_ns = time_ns;
    return outcome;
}

SoapyStream::Outcome SoapyStream::write(const std::byte* from, std::size_t samples, bool last,
                                        std::int64_t wait_us) const {
    const void* const buffer = from;
    int flags = last ? internal::kSoapyEndBurst : 0;
    return {radio_.api().write(radio_.handle(), handle_, &buffer, samples, &flags, 0, wait_us), {}};
}

SoapyStream::Outcome SoapyStream::written() const {
    std::size_t channels = 0;
    int flags = 0;
    long long time_ns = 0;
    return {radio_.api().read_status(radio_.handle(), handle_, &channels, &flags, &time_ns, 0), {}};
}

std::string SoapyStream::error_text(const Outcome& outcome) const {
    return radio_.api().error_text(outcome.status);
}

}  // namespace tidemill::io
