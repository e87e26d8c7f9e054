#include "tidemill/apps/reception/exit_policy.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"

namespace tidemill::cli {

namespace {

struct PolicyWord {
    std::string_view name;
    ExitPolicy::Kind kind;
    bool is_time;
};

constexpr std::array<PolicyWord, 4> kPolicyWords{{{"no-lock", ExitPolicy::Kind::no_lock, true},
                                                  {"no-samples", ExitPolicy::Kind::no_samples, true},
                                                  {"packets-lost", ExitPolicy::Kind::packets_lost, false},
                                                  {"frames-bad", ExitPolicy::Kind::frames_bad, false}}};

std::optional<double> limit_of(const PolicyWord& word, std::string_view text) {
    if (word.is_time) return io::seconds_in(text);
    const auto count = io::whole_number<std::uint32_t>(text);
    return count ? std::optional<double>(*count) : std::nullopt;
}

}  // namespace

ExitPolicy parse_exit_policy(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = std::string_view(text).substr(0, colon);
    const auto word = std::ranges::find(kPolicyWords, name, &PolicyWord::name);
    if (colon != std::string::npos && word != kPolicyWords.end()) {
        const auto limit = limit_of(*word, std::string_view(text).substr(colon + 1));
        if (limit && *limit > 0) return {word->kind, *limit, text};
    }
    throw WrongUsage(fmt::format(
        "--exit-on {}: give no-lock:60s, no-samples:10s, packets-lost:100 or frames-bad:5", text));
}

std::optional<std::string> ExitPolicies::look(const RxVitals& now) {
    if (now.locked) {
        was_locked_ = true;
        locked_at_s_ = now.time_s;
    }
    unlocked_s_ = now.time_s - locked_at_s_;
    if (now.samples != samples_) {
        samples_ = now.samples;
        samples_at_s_ = now.time_s;
    }
    silent_s_ = now.time_s - samples_at_s_;
    const auto met = std::ranges::find_if(policies_, [&](const auto& each) { return is_true(each, now); });
    if (met == policies_.end()) return std::nullopt;
    return fmt::format("--exit-on {} ended the reception", met->text);
}

bool ExitPolicies::is_true(const ExitPolicy& policy, const RxVitals& now) const {
    switch (policy.kind) {
        case ExitPolicy::Kind::no_lock:
            return unlocked_s_ >= policy.limit;
        case ExitPolicy::Kind::no_samples:
            return silent_s_ >= policy.limit;
        case ExitPolicy::Kind::packets_lost:
            return static_cast<double>(now.packets_lost) >= policy.limit;
        case ExitPolicy::Kind::frames_bad:
            return static_cast<double>(now.frames_bad) >= policy.limit;
    }
    return false;
}

}  // namespace tidemill::cli
