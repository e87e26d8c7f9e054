#include "tidemill/io/digest_check.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tidemill/io/internal/recorded_file.hpp"
#include "tidemill/io/sha512.hpp"
#include "tidemill/platform/give_way.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill::io {

namespace {

constexpr std::size_t kDigestBlockBytes = 1 << 20;

char lower(unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
}

}  // namespace

struct DigestCheck::Reading {
    explicit Reading(const Recording& recording)
        : claimed(recording.sha512),
          path(recording.data_path),
          file(path),
          next(recording.data_offset),
          end(next + recording.samples * stored_bytes_per_sample(recording) + recording.trailing_bytes) {}

    void go_on(const std::stop_token& stop) {
        std::vector<std::byte> block(kDigestBlockBytes);
        while (next < end && !stop.stop_requested()) {
            const auto wanted = std::span(block).first(std::min<std::uint64_t>(block.size(), end - next));
            const auto got = file.read_at(wanted, next);
            if (got == 0) end = next;
            sha.update(std::span(block).first(got));
            next += got;
        }
    }

    void go_on_beside(const std::stop_token& stop) {
        give_way_to_all();
        try {
            go_on(stop);
        } catch (...) {
            failure = std::current_exception();
        }
    }

    std::string claimed;
    std::filesystem::path path;
    internal::RecordedFile file;
    std::uint64_t next, end;  // in the file
    Sha512 sha{};
    std::exception_ptr failure{};  // of the thread
    std::jthread beside{};         // ends before what it works on
};

DigestCheck::DigestCheck(const Recording& recording)
    : reading_(recording.sha512.empty() ? nullptr : std::make_unique<Reading>(recording)) {}

DigestCheck::DigestCheck(DigestCheck&&) noexcept = default;

DigestCheck::~DigestCheck() = default;

void DigestCheck::begin(const internal::StartThread& start) {
    if (!reading_) return;
    try {
        reading_->beside =
            start([reading = reading_.get()](const std::stop_token& stop) { reading->go_on_beside(stop); });
    } catch (const NoMoreThreads&) {
        // What nobody does beside is done in the end.
    }
}

std::string DigestCheck::disagreement() {
    if (!reading_) return {};
    reading_->beside = {};  // its piece is ended
    if (reading_->failure) std::rethrow_exception(reading_->failure);
    reading_->go_on({});
    if (std::ranges::equal(reading_->sha.finish(), reading_->claimed, {}, {}, lower)) return {};
    return fmt::format("the data in '{}' are not those the metadata describe: their SHA-512 differs",
                       reading_->path.string());
}

std::string check_digest(const Recording& recording) {
    return DigestCheck(recording).disagreement();
}

}  // namespace tidemill::io
