#include "tidemill/apps/page/guess_limit.hpp"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace tidemill::page {

using namespace std::chrono_literals;

bool GuessLimit::must_wait(const std::string& source, Time now) {
    const std::lock_guard lock(mutex_);
    const auto found = sources_.find(source);
    return found != sources_.end() && now < found->second.free_at;
}

bool GuessLimit::wrong(const std::string& source, Time now) {
    const std::lock_guard lock(mutex_);
    if (!sources_.contains(source)) make_room();
    Guesses& guesses = sources_[source];
    // An address that has been quiet for long begins anew.
    if (guesses.wrong > 0 && now - guesses.last > 10 * kLongestWait) guesses = {};
    guesses.last = now;
    const int waits = ++guesses.wrong - kFree;
    if (waits < 0) return false;
    guesses.free_at = now + std::min<std::chrono::seconds>(kLongestWait, 1s * (1 << std::min(waits, 6)));
    return waits == 0;
}

void GuessLimit::right(const std::string& source) {
    const std::lock_guard lock(mutex_);
    sources_.erase(source);
}

void GuessLimit::make_room() {
    if (sources_.size() < kMostSources) return;
    const auto quietest = std::ranges::min_element(sources_, {}, [](const auto& source) {
        return std::pair(source.second.free_at, source.second.last);
    });
    sources_.erase(quietest);
}

std::string source_of(const std::string& address) {
    constexpr std::size_t kNetworkBytes = 8;
    in6_addr six{};
    if (::inet_pton(AF_INET6, address.c_str(), &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six)) return address;
    std::fill(std::begin(six.s6_addr) + kNetworkBytes, std::end(six.s6_addr), std::uint8_t{0});
    std::array<char, INET6_ADDRSTRLEN> text{};
    return ::inet_ntop(AF_INET6, &six, text.data(), text.size());
}

}  // namespace tidemill::page
