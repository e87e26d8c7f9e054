#include "tidemill/runtime/stream/checkpoint.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/testing/random_runs.hpp"
#include "tidemill/testing/scratch_folder.hpp"

using namespace tidemill;
using namespace tidemill::internal;

namespace {

struct Numbers final : Module {
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task make = task("make", &Numbers::run);
    void run(Frame f) { f[y][0] = n_++; }
    void keep(Archive& archive) override { archive("n", n_); }
    std::uint64_t n_ = 0;
};

struct Mix final : Module {
    Knob<double> gain = knob("gain", 1.0, Range{0, 100});
    In<std::uint64_t> x = in<std::uint64_t>("x");
    In<std::uint64_t> past = in<std::uint64_t>("past");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task mix = task("mix", &Mix::run, pure);
    void run(Frame f) const {
        f[y][0] = mixed(f[x][0] + f.number(), f[past][0] + static_cast<std::uint64_t>(f[gain]));
    }
};

struct Kept final : Module {
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Task note = task("note", &Kept::run);
    void run(Frame f) { words.push_back(f[x][0]); }
    void keep(Archive& archive) override {
        if (throws) throw std::runtime_error("no more");
        archive("words", words);
    }
    Words words;
    bool throws = false;
};

/// numbers -> mix -> kept, with what mix gave three frames before.
struct Program {
    Program() {
        auto& delay = graph.add<Delay<std::uint64_t>>("delay", 1, 3);
        graph.bind(numbers.y, mix.x);
        graph.bind(delay.delayed, mix.past);
        graph.bind(mix.y, delay.now);
        graph.bind(mix.y, kept.x);
    }
    Graph graph{"program"};
    Numbers& numbers = graph.add<Numbers>();
    Mix& mix = graph.add<Mix>();
    Kept& kept = graph.add<Kept>();
};

constexpr std::uint64_t kFrames = 300;

Words whole() {
    Program program;
    Sequence sequence(program.graph);
    sequence.set(program.mix.gain, 2.0, From{50});
    sequence.set(program.mix.gain, 3.0, From{200});
    sequence.run({.frames = kFrames});
    return program.kept.words;
}

/// Calls `use` with an executor of each kind, in turn.
template <class Use>
void with_executor(int which, Graph& graph, Use use) {
    if (which % 3 == 0) return use(Sequence(graph));
    if (which % 3 == 1) return use(Pipeline(graph, thread_per_task(graph, 2)));
    use(Dynamic(graph, {.workers = 3}));
}

std::string text_of(const Checkpoint& checkpoint) {
    const ScratchFolder folder;
    write_checkpoint(checkpoint, folder / "c");
    return ScratchFolder::content_of(folder / "c");
}

Checkpoint middle() {
    Program program;
    Sequence sequence(program.graph);
    sequence.set(program.mix.gain, 2.0, From{50});
    sequence.set(program.mix.gain, 3.0, From{200});
    sequence.run({.frames = 100});
    return checkpoint_of(program.graph);
}

/// Runs a random program by pieces, each in a graph of its own and under another executor, from checkpoint to
/// checkpoint.
RandomOutcome run_in_pieces(const RandomProgram& program, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Checkpoint checkpoint;
    RandomOutcome all;
    for (std::uint64_t begun = 0, piece = 0; begun < program.frames || piece == 0; ++piece) {
        RandomOutcome outcome;
        Graph graph;
        const auto modules = build(program, graph, outcome);
        const std::uint64_t frames = std::min(program.frames - begun, 1 + random() % 25);
        const bool last = begun + frames == program.frames;
        try {
            with_executor(static_cast<int>(random() % 3), graph, [&](auto executor) {
                if (piece == 0) make_settings(program, modules, executor);
                const RunReport report = executor.run({.frames = frames,
                                                       .finish = program.finishes && last,
                                                       .restore = piece > 0 ? &checkpoint : nullptr});
                all.delivered += report.delivered;
                all.skipped += report.skipped;
                checkpoint = executor.checkpoint();
            });
        } catch (const FrameError& error) {
            all.error = fmt::format("{} {}", error.task(), error.frame());
        }
        all.collected = outcome.collected;
        all.total = 0;
        for (const RandomModule* module : modules) all.total += module->total;
        if (!all.error.empty()) break;
        checkpoint = parse_checkpoint(text_of(checkpoint), "memory");
        begun += frames;
    }
    return all;
}

}  // namespace

TEST_CASE(
    "a stream goes on from a checkpoint, in another graph and under any executor, with the same bytes") {
    const Words expected = whole();
    for (int first = 0; first < 3; ++first) {
        for (int second = 0; second < 3; ++second) {
            CAPTURE(first);
            CAPTURE(second);
            Program before;
            Checkpoint checkpoint;
            with_executor(first, before.graph, [&](auto executor) {
                executor.set(before.mix.gain, 2.0, From{50});
                executor.set(before.mix.gain, 3.0, From{200});
                executor.run({.frames = 123});
                checkpoint = executor.checkpoint();
            });
            Program after;
            with_executor(second, after.graph, [&](auto executor) {
                executor.run({.frames = kFrames - 123, .restore = &checkpoint});
            });
            CHECK(after.kept.words == expected);
        }
    }
}

TEST_CASE("checkpoints are taken of a stream while it runs, and change nothing") {
    const Words expected = whole();
    for (int which = 0; which < 3; ++which) {
        CAPTURE(which);
        Program program;
        std::vector<Checkpoint> taken;
        with_executor(which, program.graph, [&](auto executor) {
            executor.set(program.mix.gain, 2.0, From{50});
            executor.set(program.mix.gain, 3.0, From{200});
            // The source waits for a checkpoint at each hundredth frame, so that there are some.
            std::atomic<std::uint64_t> wanted{0};
            std::atomic<bool> done{false};
            std::thread taker([&] {
                while (!done) {
                    if (wanted > taken.size()) taken.push_back(executor.checkpoint());
                    std::this_thread::yield();
                }
            });
            std::uint64_t asked = 0;
            executor.run({.frames = kFrames, .stop_when = [&] {
                              if (++asked % 100 == 0) ++wanted;
                              return false;
                          }});
            done = true;
            taker.join();
        });
        CHECK(program.kept.words == expected);
        for (const Checkpoint& checkpoint : taken) {
            Program after;
            const std::uint64_t left = kFrames - checkpoint.next_frames.front();
            Sequence(after.graph).run({.frames = left, .restore = &checkpoint});
            CHECK(after.kept.words == expected);
        }
    }
}

TEST_CASE("random programs go on from checkpoint to checkpoint as if they had never stopped") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        INFO("seed ", seed);
        const RandomProgram program = RandomProgramMaker(seed).make();
        const RandomOutcome expected = RandomInterpreter(program).run();
        if (expected.ending && expected.error.empty())
            continue;  // the task that said stop would say it again
        check_same(run_in_pieces(program, seed), expected, Ahead::before_end);
    }
}

TEST_CASE("a checkpoint file holds all of it, and a damaged one is refused") {
    const Checkpoint checkpoint = middle();
    const ScratchFolder folder;
    write_checkpoint(checkpoint, folder / "state");
    CHECK(read_checkpoint(folder / "state") == checkpoint);
    const std::string text = ScratchFolder::content_of(folder / "state");
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        CHECK_THROWS_AS(parse_checkpoint(damaged, "s"), CheckpointError);
        CHECK_THROWS_AS(parse_checkpoint(text.substr(0, at), "s"), CheckpointError);
    }
    CHECK_THROWS_WITH_AS(parse_checkpoint("{\"a\": 1}\n", "s"),
                         "s is no checkpoint: it does not begin like one", CheckpointError);
    std::string newer = text;
    newer.replace(newer.find("\":1"), 3, "\":2");
    CHECK_THROWS_WITH_AS(parse_checkpoint(newer, "s"),
                         "s is a checkpoint of version 2; this program reads version 1", CheckpointError);
    CHECK_THROWS_AS(read_checkpoint(folder / "absent"), CheckpointError);
    CHECK_THROWS_WITH_AS(read_checkpoint("/dev/zero"), "/dev/zero: is no file, so it holds no checkpoint",
                         CheckpointError);
    CHECK_THROWS_AS(write_checkpoint(checkpoint, "/dev/null"), CheckpointNotWritten);
    CHECK_THROWS_AS(write_checkpoint(checkpoint, folder / "no" / "folder"), CheckpointNotWritten);
}

TEST_CASE("a checkpoint of another graph, or of one that held other things, is refused") {
    Checkpoint checkpoint = middle();
    Graph other;
    other.add<Numbers>();
    CHECK_THROWS_AS(Sequence(other).run({.frames = 1, .restore = &checkpoint}), CheckpointError);
    Program program;
    checkpoint.modules[0].bytes.pop_back();
    CHECK_THROWS_WITH_AS(
        Sequence(program.graph).run({.frames = 1, .restore = &checkpoint}),
        "the checkpoint does not fit module 'numbers': 'n' says 1 elements, and has not as many",
        CheckpointError);
}

TEST_CASE("a keep() that throws is told, and the stream goes on") {
    Program program;
    Sequence sequence(program.graph);
    sequence.run({.frames = 10});
    program.kept.throws = true;
    CHECK_THROWS_WITH_AS(sequence.checkpoint(), "module 'kept' failed in keep(): no more", ModuleError);
    sequence.resume({.frames = 10});
    CHECK(program.kept.words.size() == 20);
}

TEST_CASE("a file is kept up to date while a stream runs, and when it is over") {
    const Words expected = whole();
    const ScratchFolder folder;
    CheckpointFile file(folder / "state", std::chrono::microseconds(100));
    Program before;
    Pipeline pipeline(before.graph, thread_per_task(before.graph));
    pipeline.set(before.mix.gain, 2.0, From{50});
    pipeline.set(before.mix.gain, 3.0, From{200});
    pipeline.run({.frames = 170, .checkpoint = &file});
    const Checkpoint checkpoint = read_checkpoint(folder / "state");
    CHECK(checkpoint.next_frames.front() == 170);
    Program after;
    Dynamic(after.graph).run({.frames = kFrames - 170, .checkpoint = &file, .restore = &checkpoint});
    CHECK(after.kept.words == expected);
}

TEST_CASE(
    "a checkpoint that cannot be written fails the run in its sentence, and a failed run leaves the last") {
    const ScratchFolder folder;
    CheckpointFile nowhere(folder / "no" / "folder", std::chrono::hours(1));
    Program program;
    CHECK_THROWS_AS(Sequence(program.graph).run({.frames = 3, .checkpoint = &nowhere}), CheckpointNotWritten);

    CheckpointFile file(folder / "state", std::chrono::hours(1));
    Program failing;
    Sequence sequence(failing.graph);
    sequence.run({.frames = 3, .checkpoint = &file});
    const std::string before = ScratchFolder::content_of(folder / "state");
    failing.kept.throws = true;
    CHECK_THROWS_AS(sequence.resume({.frames = 3, .checkpoint = &file}), ModuleError);
    CHECK(ScratchFolder::content_of(folder / "state") == before);
}

TEST_CASE("a checkpoint that cannot be written for a while fails nothing, and is written later") {
    const ScratchFolder folder;
    CheckpointFile file(folder / "later" / "state", std::chrono::microseconds(100));
    Program program;
    std::uint64_t frames = 0;
    auto& opens = program.graph.add(task("opens", in<std::uint64_t>("x"), [&](auto) {
        if (++frames == 20'000) std::filesystem::create_directory(folder / "later");
    }));
    program.graph.bind(program.mix.y, opens["x"]);
    Sequence(program.graph).run({.frames = 20'001, .checkpoint = &file});
    CHECK(read_checkpoint(folder / "later" / "state").next_frames.front() == 20'001);
}

TEST_CASE("a stream that has ended cannot go on from its checkpoint") {
    Program program;
    auto& last = program.graph.add(task("last", at_end, in<std::uint64_t>("x"), [](auto) {}));
    program.graph.bind(program.mix.y, last["x"]);
    Sequence sequence(program.graph);
    sequence.run({.frames = 3, .finish = true});
    const Checkpoint checkpoint = sequence.checkpoint();
    CHECK(checkpoint.has_ended);
    CHECK_THROWS_AS(sequence.run({.frames = 3, .restore = &checkpoint}), RunError);
    CHECK(sequence.run({.frames = 3}).frames == 3);
}

TEST_CASE("knobs hold their values whoever runs the stream, until the graph is reset") {
    Program program;
    Sequence(program.graph).set(program.mix.gain, 2.0, From{50});
    Pipeline(program.graph, thread_per_task(program.graph)).set(program.mix.gain, 3.0, From{200});
    Dynamic(program.graph).run({.frames = 120});
    Sequence(program.graph).resume({.frames = kFrames - 120});
    CHECK(program.kept.words == whole());
    CHECK(program.graph.reset() == std::vector<std::string>{"numbers", "kept"});
    program.numbers.n_ = 0;
    program.kept.words.clear();
    Sequence again(program.graph);
    again.set(program.mix.gain, 2.0, From{50});
    again.set(program.mix.gain, 3.0, From{200});
    again.run({.frames = kFrames});
    CHECK(program.kept.words == whole());
}
