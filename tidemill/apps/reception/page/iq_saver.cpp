#include "tidemill/apps/reception/page/iq_saver.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tidemill/io/files/sha512.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/machine/start_thread.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".sigmf-meta";

std::span<const std::uint8_t> bytes_of_text(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void write_file(const fs::path& path, std::span<const std::uint8_t> bytes) {
    io::ByteWriter file(path);
    file.write(bytes);
    file.close();
}

}  // namespace

IqSaver::IqSaver(fs::path folder, const io::SigmfMetadata& samples)
    : folder_(std::move(folder)), samples_(samples) {
    const std::size_t size = dsp::bytes_per_sample(samples.format);
    const double wanted = kSeconds * samples.sample_rate_hz.value_or(0) * static_cast<double>(size);
    wanted_bytes_ = static_cast<std::size_t>(std::min(wanted, static_cast<double>(kMostBytes))) / size * size;
    thread_ = start_thread([this](const std::stop_token&) { write_when_full(); });
}

IqSaver::~IqSaver() {
    state_ = over;
    state_.notify_all();
}

page::PageAnswer IqSaver::save() {
    if (recordings() >= kMostRecordings)
        return {507, fmt::format("{} recordings are there already: move some away", kMostRecordings)};
    const std::lock_guard one_viewer(wishes_);
    if (state_.load(std::memory_order_acquire) != idle) return {409, "the last one is not written yet"};
    kept_.clear();
    kept_.reserve(wanted_bytes_);
    name_ = next_name();
    state_.store(taking, std::memory_order_release);  // pairs with the acquire in take()
    return {202, fmt::format("saving {:g} s as {}", kSeconds, name_.filename().string())};
}

void IqSaver::take(std::span<const std::byte> samples) {
    if (state_.load(std::memory_order_acquire) != taking) return;
    const auto some = samples.first(std::min(samples.size(), wanted_bytes_ - kept_.size()));
    kept_.insert(kept_.end(), some.begin(), some.end());
    if (kept_.size() < wanted_bytes_) return;
    int expected = taking;
    state_.compare_exchange_strong(expected, writing, std::memory_order_acq_rel);
    state_.notify_all();
}

std::size_t IqSaver::recordings() const {
    std::error_code unreadable;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_, unreadable)) {
        const std::string name = entry.path().filename();
        count += name.starts_with("iq-") && name.ends_with(kEnding) ? 1 : 0;
    }
    return count;
}

fs::path IqSaver::next_name() const {
    const std::time_t now = std::time(nullptr);
    const std::string base = fmt::format("iq-{:%Y%m%d-%H%M%S}", fmt::gmtime(now));
    fs::path path = folder_ / (base + kEnding);
    std::error_code unknown;
    for (int more = 2; fs::exists(path, unknown); ++more)
        path = folder_ / fmt::format("{}-{}{}", base, more, kEnding);
    return path;
}

void IqSaver::write_when_full() {
    for (;;) {
        const int state = state_.load(std::memory_order_acquire);
        if (state == over) return;
        if (state != writing) {
            state_.wait(state);
            continue;
        }
        try {
            write();
        } catch (const Error& error) {
            warn(fmt::format("two seconds of samples could not be saved: {}", error.what()));
        }
        int expected = writing;
        state_.compare_exchange_strong(expected, idle, std::memory_order_acq_rel);
    }
}

void IqSaver::write() const {
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(kept_.data()), kept_.size());
    io::SigmfMetadata metadata = samples_;
    io::Sha512 digest;
    digest.update(kept_);
    metadata.sha512 = digest.finish();
    const io::SigmfPaths paths = io::sigmf_paths(name_);
    write_file(paths.data, bytes);
    write_file(paths.meta, bytes_of_text(io::format_sigmf(metadata)));
}

}  // namespace tidemill::cli
