// Three threads for a trial: `compute` keeps to registers, `chase1` and `chase2` follow pointers through
// memory. They are started in the order given, and each prints at its end how long it ran on each CPU, as it
// saw itself.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t processor_time_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

std::uint64_t computed(std::uint64_t state) {
    for (int i = 0; i < 20000; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state;
}

std::uint64_t chased(const std::vector<std::uint32_t>& next, std::uint64_t at) {
    for (int i = 0; i < 20000; ++i) at = next[at];
    return at;
}

// One cycle through all of it, in strides that no cache line has twice in a row.
std::vector<std::uint32_t> ring(std::uint32_t entries) {
    std::vector<std::uint32_t> next(entries);
    for (std::uint32_t i = 0; i < entries; ++i) next[i] = (i + 40503) % entries;
    return next;
}

// A look at the CPU after each piece of work: what was taken since the look before it is counted there.
std::map<int, std::int64_t> run(const std::string& name, Clock::time_point until) {
    pthread_setname_np(pthread_self(), name.c_str());
    const std::vector<std::uint32_t> next = ring(name == "compute" ? 1 : 1 << 18);
    std::map<int, std::int64_t> on_cpu_ns;
    volatile std::uint64_t state = 1;
    for (std::int64_t before = 0; Clock::now() < until;) {
        state = name == "compute" ? computed(state) : chased(next, state % next.size());
        const std::int64_t now = processor_time_ns();
        on_cpu_ns[sched_getcpu()] += now - before;
        before = now;
    }
    return on_cpu_ns;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: three_threads SECONDS NAME...\n", stderr);
        return 2;
    }
    const Clock::time_point until = Clock::now() + std::chrono::seconds(std::atoi(argv[1]));
    std::vector<std::map<int, std::int64_t>> results(static_cast<std::size_t>(argc) - 2);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = run(argv[i + 2], until); });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < results.size(); ++i) {
        for (const auto& [cpu, ns] : results[i])
            std::printf("ran %s cpu%d %lld ms\n", argv[i + 2], cpu, static_cast<long long>(ns / 1'000'000));
    }
    return 0;
}
