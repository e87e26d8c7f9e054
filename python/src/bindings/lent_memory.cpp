#include "bindings/lent_memory.hpp"

#include <map>
#include <mutex>

#include "tidemill/runtime/graph/arena.hpp"

namespace tidemill::python {

namespace {

/// An arena that its owner has given up.
struct Inherited {
    std::size_t bytes;
    std::size_t loans;
};

struct Accounts {
    std::mutex mutex;
    std::map<std::byte*, std::size_t> loans;  // arrays by place
    std::map<std::byte*, Inherited> inherited;
};

Accounts& accounts() {
    static Accounts* const all = new Accounts;  // arrays may outlive what is static
    return *all;
}

bool inherit(std::byte* data, std::size_t bytes) noexcept {
    Accounts& all = accounts();
    const std::lock_guard lock(all.mutex);
    std::size_t loans = 0;
    const auto end = all.loans.lower_bound(data + bytes);
    for (auto loan = all.loans.lower_bound(data); loan != end; ++loan) loans += loan->second;
    if (loans > 0) all.inherited[data] = {bytes, loans};
    return loans > 0;
}

// Those that nobody has given up are freed by their owners.
void end_loan(std::map<std::byte*, Inherited>& inherited, std::byte* place) {
    auto arena = inherited.upper_bound(place);
    if (arena == inherited.begin()) return;
    --arena;
    if (place >= arena->first + arena->second.bytes || --arena->second.loans > 0) return;
    internal::free_arena(arena->first);
    inherited.erase(arena);
}

}  // namespace

void lend(std::byte* place) {
    internal::arena_heir.store(inherit, std::memory_order_release);
    const std::lock_guard lock(accounts().mutex);
    ++accounts().loans[place];
}

void give_back(std::byte* place) noexcept {
    Accounts& all = accounts();
    const std::lock_guard lock(all.mutex);
    const auto loan = all.loans.find(place);
    if (--loan->second == 0) all.loans.erase(loan);
    end_loan(all.inherited, place);
}

}  // namespace tidemill::python
