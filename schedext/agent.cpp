// The agent: attaches the scheduler, looks at what it counts ten times a second, and assigns threads to kinds
// of cores. SIGTERM and SIGINT end it; then, and if it is killed, the kernel's own scheduler is back.
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include "schedext/kernel_scheduler.hpp"
#include "schedext/scheduler_error.hpp"
#include <fmt/format.h>

#include "tidemill/base/error.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"
#include "tidemill/steer/known_programs.hpp"

namespace tidemill::schedext {

namespace {

constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 100'000'000};
constexpr int kRefused = 1;
constexpr int kThrownOut = 3;

std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

steer::KnownFactors known_by(const bridge::FactorFile& file, const Cpus& cpus) {
    return [&](const std::string& program) {
        std::vector<bridge::Factor> factors;
        for (const std::string& kind : cpus.kinds.names())
            factors.push_back(steer::known_factor(file, program, kind, cpus.kinds.name(0)));
        return factors;
    };
}

Platform platform_of(const steer::Kinds& kinds) {
    Platform platform;
    for (std::size_t kind = 0; kind < kinds.count(); ++kind)
        platform.set(kinds.name(kind), static_cast<int>(kinds.cores()[kind].cores));
    return platform;
}

/// Times of threads that were steered, reported when they are gone.
class Departures {
  public:
    explicit Departures(const Cpus& cpus) : cpus_(cpus) {}

    void expect(const steer::Wish& wish) { threads_.try_emplace(wish.thread); }
    void look(const std::vector<steer::ThreadAccount>& accounts) {
        std::map<std::uint32_t, steer::ThreadAccount> now;
        for (const steer::ThreadAccount& account : accounts)
            if (threads_.contains(account.id)) now.emplace(account.id, account);
        for (const auto& [id, account] : threads_)
            if (!now.contains(id) && account.id != 0) say(text(account));
        threads_ = std::move(now);
    }

  private:
    std::string text(const steer::ThreadAccount& account) const {
        std::string text = fmt::format("took {} {}:", account.program, account.id);
        for (std::size_t kind = 0; kind < account.on_kind_ns.size(); ++kind)
            text += fmt::format(" {} {} ms", cpus_.kinds.name(kind), account.on_kind_ns[kind] / 1'000'000);
        return text;
    }

    const Cpus& cpus_;
    std::map<std::uint32_t, steer::ThreadAccount> threads_;
};

/// Nothing after a signal. CPUs may come back.
std::optional<Cpus> cpus_of_kinds(const sigset_t& signals) {
    constexpr timespec kBetween{.tv_sec = 1, .tv_nsec = 0};
    while (sigtimedwait(&signals, nullptr, &kBetween) < 0) {
        Cpus cpus = read_cpus();
        if (cpus.kinds_online() > 1) return cpus;
    }
    return std::nullopt;
}

/// Until a signal, then nothing; or until the kernel lets the scheduler go.
std::optional<Ending> steer_until_the_end(const char* object, const bridge::FactorFile& known,
                                          const Cpus& cpus, const sigset_t& signals) {
    steer::KindRequests wishes(cpus.kinds, known_by(known, cpus));
    Departures departures(cpus);
    KernelScheduler scheduler(object, cpus);
    say("attached: " + cpus.describe());
    while (sigtimedwait(&signals, nullptr, &kBetweenLooks) < 0) {
        if (auto ending = scheduler.ending()) return ending;
        const std::uint64_t now_ns = monotonic_ns();
        const auto accounts = scheduler.accounts(now_ns);
        departures.look(accounts);
        const steer::KindDecision decision = wishes.look(static_cast<double>(now_ns) * 1e-9, accounts);
        for (const steer::Wish& wish : decision.wishes) {
            scheduler.tell(wish);
            departures.expect(wish);
        }
        for (const std::string& text : decision.told) say(text);
    }
    return std::nullopt;
}

int run(const char* object, const char* factors) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    const bridge::FactorFile known = bridge::read_factor_file(factors);
    std::optional<Cpus> cpus = read_cpus();
    check_kinds(known, platform_of(cpus->kinds), factors);
    if (cpus->kinds_online() < 2)
        throw SchedulerError(
            "the CPUs that are on line have one cpu_capacity, and there is nothing to decide");
    for (; cpus; cpus = cpus_of_kinds(signals)) {
        const auto ending = steer_until_the_end(object, known, *cpus, signals);
        if (!ending) break;
        say("the kernel let the scheduler go: " + ending->reason);
        if (!ending->restarts) return kThrownOut;
        say("waiting for CPUs of two kinds");
    }
    return EXIT_SUCCESS;
}

}  // namespace

}  // namespace tidemill::schedext

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: schedext-agent SCHEDULER.bpf.o FACTORS.json\n");
        return 2;
    }
    try {
        return tidemill::schedext::run(argv[1], argv[2]);
    } catch (const tidemill::Error& error) {
        fmt::print(stderr, "schedext-agent: {}\n", error.what());
        return tidemill::schedext::kRefused;
    }
}
