#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/internal/counter_sources.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill {

namespace {

constexpr std::string_view kReplayHeader = "tidemill-counters 1";
constexpr std::string_view kAbsent = "-";
constexpr std::size_t kMostLine = 512;
constexpr std::uint64_t kMostSteps = 10'000'000;

using Steps = std::map<std::uint64_t, CounterReading>;
using Recorded = std::map<int, Steps>;

/// A line, its words one after the other.
class ReplayLine {
  public:
    ReplayLine(const std::string& line, std::string where) : words_(line), where_(std::move(where)) {}

    std::string word(const char* what) {
        std::string word;
        if (!(words_ >> word)) fail(fmt::format("{} is missing", what));
        return word;
    }
    template <typename Number>
    Number number(const char* what) {
        return parse<Number>(word(what), what);
    }
    std::optional<double> count(const char* what) {
        const std::string text = word(what);
        if (text == kAbsent) return std::nullopt;
        return at_least_0(text, what);
    }
    double at_least_0(const char* what) { return at_least_0(word(what), what); }
    void end() {
        std::string more;
        if (words_ >> more) fail(fmt::format("\"{}\" is one word too many", more));
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw PlatformError(fmt::format("{}: {}", where_, why));
    }

  private:
    double at_least_0(const std::string& text, const char* what) const {
        const auto number = parse<double>(text, what);
        if (!(number >= 0 && std::isfinite(number))) fail(fmt::format("{}: {} is no count", what, number));
        return number;
    }
    template <typename Number>
    Number parse(const std::string& text, const char* what) const {
        Number number{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size())
            fail(fmt::format("{}: \"{}\" is not a number", what, text));
        return number;
    }

    std::istringstream words_;
    std::string where_;
};

void add_line(Recorded& recorded, ReplayLine& line) {
    const auto step = line.number<std::uint64_t>("step");
    if (step >= kMostSteps) line.fail(fmt::format("step {}; a replay has at most {}", step, kMostSteps));
    const auto tid = line.number<int>("thread");
    CounterReading& reading = recorded[tid][step];
    const double enabled_ns = line.at_least_0("enabled_ns");
    if (!reading.on.empty() && reading.enabled_ns != enabled_ns)
        line.fail("enabled_ns is one for all core types of a step");
    reading.enabled_ns = enabled_ns;
    CoreTypeCounts counts{line.word("PMU"), line.at_least_0("ran_ns")};
    for (const CoreTypeCounts& other : reading.on)
        if (other.pmu == counts.pmu)
            line.fail(fmt::format("thread {} has {} twice in step {}", tid, counts.pmu, step));
    counts.cycles = line.count("cycles");
    counts.instructions = line.count("instructions");
    counts.last_level_misses = line.count("misses");
    line.end();
    reading.on.push_back(std::move(counts));
}

Recorded parse_replay(std::istream& text, const std::string& source) {
    std::array<char, kMostLine> line{};
    if (!text.getline(line.data(), line.size()) || std::string_view(line.data()) != kReplayHeader)
        throw PlatformError(
            fmt::format("{}:1: is no replay of counters: the first line is \"{}\"", source, kReplayHeader));
    Recorded recorded;
    for (std::uint64_t number = 2; text.getline(line.data(), line.size()); ++number) {
        if (line[0] == '#' || line[0] == '\0') continue;
        ReplayLine words(line.data(), fmt::format("{}:{}", source, number));
        add_line(recorded, words);
    }
    if (!text.eof()) throw PlatformError(fmt::format("{}: a line is longer than {}", source, kMostLine));
    return recorded;
}

// In one line, however many there are.
std::string gaps_in(const Recorded& recorded) {
    std::string text;
    for (const auto& [tid, steps] : recorded) {
        const std::uint64_t all = steps.rbegin()->first + 1;
        if (all == steps.size()) continue;
        if (text.size() > kMostLine) return text + ", and others";
        text += fmt::format("{}thread {} lacks {} of {} steps", text.empty() ? "" : ", ", tid,
                            all - steps.size(), all);
    }
    return text;
}

class ReplayedThread final : public ThreadCounters {
  public:
    ReplayedThread(std::shared_ptr<const Steps> steps, std::string name)
        : steps_(std::move(steps)), name_(std::move(name)) {}

    CounterReading read() override {
        const std::uint64_t step = next_++;
        if (const auto found = steps_->find(step); found != steps_->end()) return found->second;
        if (step > steps_->rbegin()->first) return {.absent = fmt::format("{}: the replay is over", name_)};
        return {.absent = fmt::format("{}: step {} was not recorded", name_, step)};
    }

  private:
    std::shared_ptr<const Steps> steps_;
    std::string name_;
    std::uint64_t next_ = 0;
};

class ReplayedCounters final : public Counters {
  public:
    ReplayedCounters(Recorded recorded, std::string source)
        : recorded_(std::make_shared<const Recorded>(std::move(recorded))), source_(std::move(source)) {}

    const std::string& name() const override { return source_; }
    std::unique_ptr<ThreadCounters> of_thread(int tid) override {
        const auto steps = recorded_->find(tid);
        if (steps == recorded_->end())
            throw PlatformError(fmt::format("{}: thread {} was not recorded", source_, tid));
        return std::make_unique<ReplayedThread>(std::shared_ptr<const Steps>(recorded_, &steps->second),
                                                fmt::format("{}: thread {}", source_, tid));
    }

  private:
    std::shared_ptr<const Recorded> recorded_;
    std::string source_;
};

std::string in_replay(const std::optional<double>& count) {
    return count ? fmt::format("{}", *count) : std::string(kAbsent);
}

}  // namespace

FoundCounters internal::counter_replay(std::istream& text, const std::string& source) {
    Recorded recorded = parse_replay(text, source);
    const std::string gaps = gaps_in(recorded);
    return {std::make_unique<ReplayedCounters>(std::move(recorded), source), "",
            gaps.empty() ? "" : fmt::format("{}: {}, which are absent", source, gaps)};
}

std::string replay_header() {
    return fmt::format("{}\n# step thread enabled_ns pmu ran_ns cycles instructions misses\n", kReplayHeader);
}

std::string replay_lines(std::uint64_t step, int tid, const CounterReading& reading) {
    std::string lines;
    for (const CoreTypeCounts& on : reading.on)
        lines +=
            fmt::format("{} {} {} {} {} {} {} {}\n", step, tid, reading.enabled_ns, on.pmu, on.ran_ns,
                        in_replay(on.cycles), in_replay(on.instructions), in_replay(on.last_level_misses));
    return lines;
}

}  // namespace tidemill
