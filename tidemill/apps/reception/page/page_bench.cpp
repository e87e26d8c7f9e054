// Cost for a reception of being looked at.
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/apps/reception/page/rx_page.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

constexpr double kRateHz = 2e6;
constexpr std::uint64_t kFrames = 400;  // of short ones at 1 Msymbol/s: a little longer than that
constexpr int kRounds = 3;

const bool kAskedPage = bench::ask(
    {"page",
     "What share of one core's time does it cost a reception of 1 MBd to be looked at, ten updates a second?",
     "% of a core"});

/// Samples at a radio's pace.
class PacedSource final : public io::SampleSource {
  public:
    explicit PacedSource(const std::string& bytes) : bytes_(bytes) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return kRateHz; }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min(to.size(), bytes_.size() - at_);
        std::memcpy(to.data(), bytes_.data() + at_, count);
        at_ += count;
        const std::chrono::duration<double> due(static_cast<double>(at_) / 2 / kRateHz);
        std::this_thread::sleep_until(start_ +
                                      std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
        return count;
    }

  private:
    const std::string& bytes_;
    std::size_t at_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A viewer in a process of its own, so that what it takes is not counted here.
class Viewer {
  public:
    explicit Viewer(bool reads) : reads_(reads) {
        if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ == 0) look();
    }
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    ~Viewer() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    void open(std::uint16_t port) const {
        if (::write(ends_[1], &port, sizeof port) != sizeof port) throw std::runtime_error("no viewer");
    }

  private:
    [[noreturn]] void look() const {
        std::uint16_t port = 0;
        if (::read(ends_[0], &port, sizeof port) != sizeof port) ::_exit(1);
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port = htons(port);
        if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ::_exit(1);
        constexpr char kAsk[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if (::send(socket, kAsk, sizeof kAsk - 1, 0) < 0) ::_exit(1);
        std::array<char, 65536> some{};
        while (reads_ && ::recv(socket, some.data(), some.size(), 0) > 0) {
        }
        for (;;) ::pause();
    }

    bool reads_;
    std::array<int, 2> ends_{};
    pid_t process_ = -1;
};

struct Looked {
    double percent = 0;  ///< of a core, of all threads of this process
    bool whole = false;  ///< every frame, and none of them bad
};

Looked reception(const std::string& bytes, std::size_t readers, std::size_t stalled, bool page_wanted) {
    std::vector<std::unique_ptr<Viewer>> viewers;
    for (std::size_t i = 0; i < readers + stalled; ++i)
        viewers.push_back(std::make_unique<Viewer>(i < readers));
    RxPageOptions options;
    if (page_wanted) options.place.emplace();
    RxPage page(options);
    PacedSource source(bytes);
    CountedSource counted(source);
    io::TsMonitor monitor;
    io::TsServices services;
    Receivers receiver(counted, dvbs2::ReceiverConfig{.symbol_rate_hz = 1e6},
                       {.streams = {.packets = [&](std::span<const std::uint8_t> packets, std::uint8_t) {
                            monitor.look(packets);
                            services.look(packets);
                        }}});
    RxShow show(receiver, counted, nullptr, nullptr);
    std::optional<RxPage::Shown> shown;
    RunOptions run{.statistics = true};
    if (page_wanted) {
        show.add(RxStatus([&] { return receiver.now(0); }, monitor, counted), services,
                 RxLabel{.name = "bench", .input_rate_hz = kRateHz, .format = counted.format()});
        shown.emplace(page, show);
        counted.each_seconds(0.5, [&page] { page.look(); });
        run.observers.push_back(&show.run().observer());
        const std::string url = page.url();
        const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
        for (const auto& viewer : viewers) viewer->open(port);
    }
    const bench::Stopwatch wall;
    const double cpu_s = bench::cpu_seconds([&] { Sequence(receiver.graph()).run(run); });
    const FramesHeard heard = receiver.heard();
    return {100 * cpu_s / (wall.ns() / 1e9), heard.frames + 2 >= kFrames && heard.frames_bad == 0};
}

void bench_page(benchmark::State& state, std::size_t readers, std::size_t stalled, double limit) {
    static const internal::SmallRecording recording(dsp::SampleFormat::ci8, kFrames);
    static const std::string bytes = recording.bytes();
    std::vector<double> percents;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            const Looked open = reception(bytes, readers, stalled, true);
            const Looked closed = reception(bytes, 0, 0, false);
            if (!open.whole || !closed.whole) return state.SkipWithError("frames are missing or bad");
            percents.push_back(open.percent - closed.percent);
        }
    }
    bench::report_runs(state, percents);
    state.counters["target"] = limit;
}
BENCHMARK_CAPTURE(bench_page, open, 1, 0, 2)->Name("page/one_viewer")->Apply(bench::once);
BENCHMARK_CAPTURE(bench_page, twenty, 19, 1, 5)
    ->Name("page/twenty_viewers_one_of_which_stalls")
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill::cli
