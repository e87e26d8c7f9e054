#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/steer/layer.hpp"

// Cost of the layer's callbacks, measured on this machine.
namespace tidemill::cli {

namespace {

constexpr std::uint64_t kBlock = 20;  // programs between two looks at the clock
constexpr double kWithout_s = 690.07;
constexpr double kWith_s = 692.35;

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t ns_of(const timeval& time) {
    return 1'000'000'000ULL * static_cast<std::uint64_t>(time.tv_sec) +
           1'000ULL * static_cast<std::uint64_t>(time.tv_usec);
}

// A process that begins and ends; what it used of the processor.
bridge::Sample run_empty_program() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0)
        throw JobFailed(fmt::format("sbridge.overhead starts no process: {}", std::strerror(errno)));
    rusage used{};
    while (wait4(child, nullptr, 0, &used) < 0 && errno == EINTR) {
    }
    return {.time_ns = std::max<std::uint64_t>(1, ns_of(used.ru_utime) + ns_of(used.ru_stime))};
}

double block_s(std::uint64_t programs) {
    interruption_point();
    const double begin_s = now_s();
    for (std::uint64_t i = 0; i < programs; ++i) run_empty_program();
    return now_s() - begin_s;
}

// Every callback of a program's life, without a reader of its factors.
double block_with_layer_s(std::uint64_t programs, bridge::Layer& layer) {
    const double begin_s = now_s();
    for (std::uint64_t i = 0; i < programs; ++i) {
        const auto task = static_cast<bridge::TaskId>(i);
        layer.exec(task, "empty");
        layer.statistic(task, 0, run_empty_program());
        layer.generate();
        layer.exit(task);
    }
    return now_s() - begin_s;
}

struct Blocks {
    std::vector<double> without_s, again_s, with_s;
};

Blocks alternating_blocks(const ReproduceOptions& options) {
    const std::uint64_t size = std::min(kBlock, options.tasks);
    bridge::Layer layer(size, 2);
    Blocks blocks;
    for (std::uint64_t done = 0; done < options.tasks; done += size) {
        if (options.progress) {
            options.progress("empty programs",
                             static_cast<double>(done) / static_cast<double>(options.tasks));
        }
        blocks.without_s.push_back(block_s(size));
        blocks.with_s.push_back(block_with_layer_s(size, layer));
        blocks.again_s.push_back(block_s(size));
    }
    return blocks;
}

double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

// Excess of each block over those before and after it, since a busy machine changes meanwhile.
std::vector<double> sorted_excess(const std::vector<double>& seconds, const std::vector<double>& before_s,
                                  const std::vector<double>& after_s) {
    std::vector<double> excess;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        excess.push_back(100 * (2 * seconds[i] / (before_s[i] + after_s[i]) - 1));
    }
    std::ranges::sort(excess);
    return excess;
}

std::vector<Cell> row(const char* system, const std::vector<double>& seconds,
                      const std::vector<double>& excess, const Cell& published_s, const Cell& published) {
    return {system,
            sum_of(seconds),
            excess[excess.size() / 2],
            excess[excess.size() / 4],
            excess[3 * excess.size() / 4],
            published_s,
            published};
}

ResultTable programs_table(const ReproduceOptions& options, const Blocks& blocks) {
    ResultTable table{fmt::format("5.3.3: {} empty programs one after the other, the layer told of each, its "
                                  "factors not used",
                                  options.tasks),
                      {{"system"},
                       {"s", 3},
                       {"more, %", 2},
                       {"quarter <", 2},
                       {"quarter >", 2},
                       {"publ. s", 2},
                       {"publ. %", 2}}};
    table.rows = {
        {"without layer", sum_of(blocks.without_s), {}, {}, {}, kWithout_s, {}},
        row("without, again", blocks.again_s,
            sorted_excess(blocks.again_s, blocks.without_s, blocks.without_s), {}, {}),
        row("with layer", blocks.with_s, sorted_excess(blocks.with_s, blocks.without_s, blocks.again_s),
            kWith_s, 100 * (kWith_s / kWithout_s - 1))};
    table.notes = {
        fmt::format("Measured here, {} programs by turns: a fork, an exit and a wait each. more: "
                    "median over turns, beside those before and after, with its quartiles.",
                    kBlock)};
    add_verdicts(table,
                 "the published share is between the quartiles, or above them: the layer costs no more here; "
                 "cannot tell where that of the control reaches as far.",
                 [&](const std::vector<Cell>& row) {
                     if (row[0] != Cell{"with layer"}) return Verdict::cannot_tell;
                     const double published = std::get<double>(row[6]);
                     const double control = std::get<double>(table.rows[1][4]);
                     if (std::get<double>(row[4]) <= published) return Verdict::yes;
                     return control > published ? Verdict::cannot_tell
                                                : yes_if(std::get<double>(row[3]) <= published);
                 });
    return table;
}

template <typename Call>
double ns_per_call(std::uint64_t calls, Call call) {
    const double begin_s = now_s();
    for (std::uint64_t i = 0; i < calls; ++i) {
        if (i % kBlock == 0) interruption_point();
        call(static_cast<bridge::TaskId>(i % kBlock));
    }
    return 1e9 * (now_s() - begin_s) / static_cast<double>(calls);
}

ResultTable calls_table(const ReproduceOptions& options, double program_ns) {
    const std::uint64_t calls = 10 * options.tasks;
    bridge::Layer layer(kBlock, 2);
    const bridge::Sample sample{.time_ns = 4'000'000, .instructions = 1'000'000};
    double factors = 0;
    ResultTable table{"What a callback costs here, mean of many, and its share of such a program",
                      {{"callback"}, {"ns", 1}, {"%", 4}}};
    const auto time = [&](const char* name, auto call) {
        const double ns = ns_per_call(calls, call);
        table.rows.push_back({name, ns, 100 * ns / program_ns});
    };
    time("exec", [&](bridge::TaskId task) { layer.exec(task, "empty"); });
    time("statistic", [&](bridge::TaskId task) { layer.statistic(task, 0, sample); });
    time("migrate", [&](bridge::TaskId task) { layer.migrate(task, 1, sample); });
    time("exit", [&](bridge::TaskId task) { layer.exit(task); });
    time("exec, statistic, generate, exit", [&](bridge::TaskId task) {
        layer.exec(task, "empty");
        layer.statistic(task, 0, sample);
        layer.generate();
        layer.exit(task);
    });
    time("read a factor", [&](bridge::TaskId task) { factors += layer.factors().read(task, 1).value; });
    table.notes = {fmt::format("Factors read: {:.1f} on average.", factors / static_cast<double>(calls))};
    add_no_verdicts(table, "the cost of a callback was not published.");
    return table;
}

}  // namespace

std::vector<ResultTable> s_bridge_overhead(const ReproduceOptions& options) {
    const Blocks blocks = alternating_blocks(options);
    const double program_ns = 1e9 * sum_of(blocks.without_s) / static_cast<double>(options.tasks);
    return {programs_table(options, blocks), calls_table(options, program_ns)};
}

}  // namespace tidemill::cli
