// Whether the scheduler in the kernel does what it promises, with wishes made by hand: threads of this
// process are wished somewhere, and what they took on each kind is printed, in per cent of all that they
// took.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "schedext/kernel_scheduler.hpp"
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tidemill/base/error.hpp"

namespace tidemill::schedext {

namespace {

constexpr std::size_t kBig = 0;
constexpr std::size_t kLittle = 1;

/// A thread that wants a CPU until this is destroyed.
class Busy {
  public:
    explicit Busy(int nice = 0)
        : thread_([this, nice] {
              id_ = static_cast<std::uint32_t>(gettid());
              setpriority(PRIO_PROCESS, id_, nice);
              while (!ends_) continue;
          }) {
        while (id_ == 0) std::this_thread::yield();
    }
    ~Busy() {
        ends_ = true;
        thread_.join();
    }
    std::uint32_t id() const { return id_; }

  private:
    std::atomic<std::uint32_t> id_ = 0;
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

steer::ThreadAccount account_of(const KernelScheduler& scheduler, std::uint32_t id) {
    for (;;)  // it has one from when it first ran
        for (steer::ThreadAccount& account : scheduler.accounts(0))
            if (account.id == id) return std::move(account);
}

void wish(KernelScheduler& scheduler, const Busy& thread, std::size_t kind) {
    scheduler.tell({thread.id(), account_of(scheduler, thread.id()).started_ns, kind});
}

std::vector<double> taken_ms(const KernelScheduler& scheduler, const Busy& thread) {
    std::vector<double> ms;
    for (const std::uint64_t ns : account_of(scheduler, thread.id()).on_kind_ns)
        ms.push_back(static_cast<double>(ns) * 1e-6);
    return ms;
}

double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

/// Times of the threads on each kind in a second and a half, thread by thread, once slices of before are
/// over.
std::vector<std::vector<double>> watch_ms(const KernelScheduler& scheduler, const std::deque<Busy>& threads) {
    std::vector<std::vector<double>> before;
    std::vector<std::vector<double>> ms;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (const Busy& thread : threads) before.push_back(taken_ms(scheduler, thread));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    for (const Busy& thread : threads) ms.push_back(taken_ms(scheduler, thread));
    for (std::size_t i = 0; i < ms.size(); ++i)
        std::ranges::transform(ms[i], before[i], ms[i].begin(), std::minus());
    return ms;
}

void tell_share_on_big(KernelScheduler& scheduler, std::size_t count) {
    std::deque<Busy> threads(count);
    for (const Busy& thread : threads) wish(scheduler, thread, kLittle);
    double big = 0;
    double all = 0;
    for (const auto& ms : watch_ms(scheduler, threads)) {
        big += ms[kBig];
        all += ms[kBig] + ms[kLittle];
    }
    fmt::print("obeys stolen {} {:.0f}\n", count, percent(big, all));
}

void tell_shares_by_weight(KernelScheduler& scheduler) {
    std::deque<Busy> threads;
    for (const int nice : {0, 5}) wish(scheduler, threads.emplace_back(nice), kLittle);
    const auto ms = watch_ms(scheduler, threads);
    fmt::print("obeys weight {:.0f}\n", percent(ms[0][kLittle], ms[0][kLittle] + ms[1][kLittle]));
}

// One that nobody waits behind has no slice that ends for another one.
void tell_move_of_a_lone_thread(KernelScheduler& scheduler) {
    std::deque<Busy> threads(1);
    for (const std::size_t kind : {kBig, kLittle}) {
        wish(scheduler, threads.front(), kind);
        const auto ms = watch_ms(scheduler, threads).front();
        fmt::print("obeys lone {} {:.0f}\n", kind, percent(ms[kind], ms[kBig] + ms[kLittle]));
    }
}

void tell_wish_of_another_thread(KernelScheduler& scheduler) {
    std::deque<Busy> threads(1);
    wish(scheduler, threads.front(), kBig);
    watch_ms(scheduler, threads);
    scheduler.tell({threads.front().id(), 1, kLittle});
    const auto ms = watch_ms(scheduler, threads).front();
    fmt::print("obeys foreign {:.0f}\n", percent(ms[kLittle], ms[kBig] + ms[kLittle]));
}

}  // namespace

}  // namespace tidemill::schedext

int main(int argc, char** argv) {
    using namespace tidemill::schedext;
    if (argc != 2) return 2;
    try {
        KernelScheduler scheduler(argv[1], read_cpus());
        for (const std::size_t count : {2U, 4U}) tell_share_on_big(scheduler, count);
        tell_shares_by_weight(scheduler);
        tell_move_of_a_lone_thread(scheduler);
        tell_wish_of_another_thread(scheduler);
    } catch (const tidemill::Error& error) {
        fmt::print("obeys: {}\n", error.what());
        return 1;
    }
    return 0;
}
