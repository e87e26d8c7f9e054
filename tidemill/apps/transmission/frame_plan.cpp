#include "tidemill/apps/transmission/frame_plan.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"

namespace tidemill::cli {

namespace {

constexpr std::size_t kMostRepeats = 100000;
constexpr std::size_t kMostFrames = 1000000;

[[noreturn]] void refuse_entry(const std::string& entry, const std::string& why) {
    throw WrongUsage(fmt::format(
        "--plan: '{}': {}; an entry reads like QPSK 1/2 short pilots isi 3 x2, or dummy", entry, why));
}

std::optional<std::size_t> number_in(const std::string& word) {
    std::size_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, number);
    return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

/// The words of one entry, read one after the other.
class EntryReader {
  public:
    EntryReader(const std::string& entry, const dvbs2::Pls& usual,
                std::span<const dvbs2::InputStream> streams)
        : entry_(entry), words_(entry), streams_(streams), frame_{usual, {}} {}

    void append_to(std::vector<dvbs2::PlannedFrame>& plan) {
        read_modcod();
        for (std::string word; words_ >> word;) read_option(word);
        plan.insert(plan.end(), repeats_, frame_);
    }

  private:
    void read_modcod() {
        std::string modulation, rate;
        words_ >> modulation;
        if (modulation == "dummy") {
            frame_.pls = dvbs2::Pls{};
        } else {
            words_ >> rate;
            frame_.pls.modcod = modcod_of(modulation + " " + rate).number;
        }
    }

    void read_option(const std::string& word) {
        if (read_size(word)) return;
        if (word == "pilots" || word == "no-pilots") {
            frame_.pls.pilots = word == "pilots";
        } else if (word == "isi") {
            frame_.stream = read_stream();
        } else if (const auto repeats = word[0] == 'x' ? number_in(word.substr(1)) : std::nullopt;
                   repeats && *repeats > 0 && *repeats <= kMostRepeats) {
            repeats_ = *repeats;
        } else {
            refuse_entry(entry_, fmt::format("'{}' is not understood", word));
        }
    }

    bool read_size(const std::string& word) {
        for (const auto& [name, size] : frame_size_words()) {
            if (name != word) continue;
            frame_.pls.size = size;
            return true;
        }
        return false;
    }

    std::size_t read_stream() {
        std::string word;
        words_ >> word;
        const auto number = number_in(word);
        const auto found = std::ranges::find_if(
            streams_, [&](const dvbs2::InputStream& stream) { return number == stream.number; });
        if (found == streams_.end()) refuse_entry(entry_, fmt::format("there is no input stream '{}'", word));
        return static_cast<std::size_t>(found - streams_.begin());
    }

    std::string entry_;
    std::istringstream words_;
    std::span<const dvbs2::InputStream> streams_;
    dvbs2::PlannedFrame frame_;
    std::size_t repeats_ = 1;
};

}  // namespace

std::vector<dvbs2::PlannedFrame> parse_frame_plan(const std::string& text, const dvbs2::Pls& usual,
                                                  std::span<const dvbs2::InputStream> streams) {
    std::vector<dvbs2::PlannedFrame> plan;
    std::istringstream entries(text);
    for (std::string entry; std::getline(entries, entry, ',');) {
        EntryReader(entry, usual, streams).append_to(plan);
        if (plan.size() > kMostFrames)
            throw WrongUsage(fmt::format("--plan: more than {} frames; give fewer", kMostFrames));
    }
    return plan;
}

}  // namespace tidemill::cli
