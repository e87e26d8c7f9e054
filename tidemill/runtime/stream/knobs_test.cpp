#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;

namespace {

struct Numbers : Module {
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task make = task("make", &Numbers::run, pure);
    void run(Frame f) const { f[y][0] = f.number(); }
};

/// Its gain is the knob of interest.
struct Amp : Module {
    Knob<float> gain = knob("gain", 1.0f, Range{0, 100});
    Knob<std::vector<int>> taps = knob("taps", std::vector<int>{1, 2, 3});
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<float> y = out<float>("y");
    Out<int> tap = out<int>("tap");
    Task run = task("run", &Amp::amplify, cloned);
    void amplify(Frame f) {
        f[y][0] = f[gain];
        f[tap][0] = f[taps][f[x][0] % 3];
    }
};

/// Emits each frame as often as its number says.
struct Multiply : Module {
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task run = task("run", &Multiply::repeat, may_skip, may_repeat);
    Flow repeat(Frame f) {
        if (left_ == 0) left_ = f[x][0] % 3;
        if (left_ == 0) return Flow::skip;
        f[y][0] = f[x][0];
        return --left_ > 0 ? Flow::again : Flow::ok;
    }
    std::uint64_t left_ = 0;
};

/// Notes which gain each source frame had.
struct Keep : Module {
    Knob<double> offset = knob("offset", 0.0);
    In<std::uint64_t> number = in<std::uint64_t>("number");
    In<float> gain = in<float>("gain");
    In<int> tap = in<int>("tap");
    Task run = task("run", &Keep::note);
    void note(Frame f) {
        numbers.push_back(f[number][0]);
        values.push_back(f[gain][0] + static_cast<float>(f[offset]));
        taps.push_back(f[tap][0]);
    }
    std::vector<std::uint64_t> numbers{};
    std::vector<float> values{};
    std::vector<int> taps{};
};

/// Two segments, a replicable task with knobs in the second, a knob of the sink.
struct Amplified {
    Graph graph{};
    Numbers& source = graph.add<Numbers>();
    Multiply& multiply = graph.add<Multiply>();
    Amp& amp = graph.add<Amp>();
    Keep& keep = graph.add<Keep>();
    Amplified() {
        graph.bind(source.y, multiply.x);
        graph.bind(multiply.y, amp.x);
        graph.bind(multiply.y, keep.number);
        graph.bind(amp.y, keep.gain);
        graph.bind(amp.tap, keep.tap);
    }
    void check_gain(std::uint64_t from, std::uint64_t to, float gain) const {
        for (std::size_t i = 0; i < keep.numbers.size(); ++i) {
            if (keep.numbers[i] >= from && keep.numbers[i] < to) CHECK(keep.values[i] == gain);
        }
    }
};

/// Runs a test under every executor.
template <class Test>
void under_all(Test test) {
    SUBCASE("in order") {
        Amplified chain;
        Sequence sequence(chain.graph);
        test(chain, sequence);
    }
    SUBCASE("a pipeline of replicas, by batches") {
        Amplified chain;
        Pipeline pipeline(chain.graph, thread_per_task(structure_of(chain.graph), 2), {.frames = 3});
        test(chain, pipeline);
    }
    SUBCASE("dynamically") {
        Amplified chain;
        Dynamic dynamic(chain.graph, {.workers = 3});
        test(chain, dynamic);
    }
}

}  // namespace

TEST_CASE("a knob set for a frame holds from that frame on, in later segments and replicas too") {
    under_all([](Amplified& chain, auto& executor) {
        CHECK(executor.set(chain.amp.gain, 2.0f, From{100}).frame == 100);
        CHECK(executor.set(chain.amp.gain, 3.0f, chain.keep.offset, 0.5, From{200}).frame == 200);
        CHECK(executor.set(chain.amp.gain, 4.0f, From{150}).frame == 150);
        executor.run({.frames = 300});
        CHECK(chain.keep.numbers.size() == 300);
        chain.check_gain(0, 100, 1);
        chain.check_gain(100, 150, 2);
        chain.check_gain(150, 200, 4);
        chain.check_gain(200, 300, 3.5f);
    });
}

TEST_CASE("knobs set together while a stream runs change on the frame that set() returns") {
    under_all([](Amplified& chain, auto& executor) {
        std::atomic<bool> over{false};
        std::vector<std::pair<std::uint64_t, float>> set{{0, 1.0f}};
        std::jthread setter([&] {
            for (int i = 1; !over; ++i) {
                const auto gain = static_cast<float>(i % 100);
                const SetAt at = executor.set(chain.amp.gain, gain, chain.amp.taps, std::vector{i, i, i});
                CHECK(!at.late);
                set.emplace_back(at.frame, gain);
                std::this_thread::yield();
            }
        });
        for (int run = 0; run < 5; ++run) executor.resume({.frames = 1800});
        over = true;
        setter.join();
        std::size_t at = 0;
        bool same = chain.keep.numbers.size() == 9000;
        for (std::size_t i = 0; i < chain.keep.numbers.size(); ++i) {
            while (at + 1 < set.size() && set[at + 1].first <= chain.keep.numbers[i]) ++at;
            same &= chain.keep.values[i] == set[at].second;
            if (at > 0) same &= chain.keep.taps[i] % 100 == static_cast<int>(set[at].second);
        }
        CHECK(same);
    });
}

TEST_CASE("a frame that has begun cannot be set for: the change comes with the next one, and says so") {
    under_all([](Amplified& chain, auto& executor) {
        executor.run({.frames = 30});
        const SetAt at = executor.set(chain.amp.gain, 7.0f, From{10});
        CHECK(at.frame >= 30);
        CHECK(at.late);
        executor.resume({.frames = 300});
        chain.check_gain(0, at.frame, 1);
        chain.check_gain(at.frame, 330, 7);
        CHECK(chain.keep.numbers.back() >= at.frame);
    });
}

TEST_CASE("run() counts frames from 0 again, under the values that held last") {
    under_all([](Amplified& chain, auto& executor) {
        executor.set(chain.amp.gain, 5.0f, From{20});
        executor.run({.frames = 300});
        executor.set(chain.amp.gain, 6.0f);
        chain.keep.numbers.clear();
        chain.keep.values.clear();
        executor.run({.frames = 300});
        chain.check_gain(0, 300, 6);
    });
}

TEST_CASE("what a knob cannot take is refused, and changes nothing") {
    Amplified chain;
    Amplified other;
    Sequence sequence(chain.graph);
    CHECK_THROWS_WITH(sequence.set(chain.amp.gain, 101.0f),
                      "amp.gain: 101 is out of its range; give 0 to 100");
    CHECK_THROWS_WITH(sequence.set(chain.amp.gain, std::nanf("")),
                      "amp.gain: a knob cannot be nan; give a number");
    CHECK_THROWS_WITH(sequence.set(chain.amp.gain, 2.0f, chain.amp.taps, std::vector{1, 2}),
                      "amp.taps: 2 numbers for a knob of 3; give 3");
    CHECK_THROWS_WITH(sequence.set(other.amp.gain, 2.0f),
                      "module 'amp' is not in graph 'graph': add it first");
    CHECK_THROWS_WITH(sequence.set(Knob<float>(), 2.0f),
                      "a knob that no module has declared: write Knob<float> gain = knob(\"gain\", 1.0f)");
    sequence.run({.frames = 10});
    chain.check_gain(0, 10, 1);
}

TEST_CASE("a knob is refused when its stream has ended") {
    Graph graph;
    auto& amp = graph.add(task("amp", knob("gain", 3), out<int>("y"), [n = 0](int gain, auto y) mutable {
        y[0] = gain;
        return ++n > 5 ? Flow::stop : Flow::ok;
    }));
    int sum = 0;
    auto& add = graph.add(task("add", in<int>("x"), [&](auto x) { sum += x[0]; }));
    graph.chain(amp, add);
    Sequence sequence(graph);
    sequence.set(amp.find_knob<int>("gain"), 4, From{3});
    sequence.run();
    CHECK(sum == 3 * 3 + 2 * 4);
    CHECK_THROWS_AS(sequence.set(amp.find_knob<int>("gain"), 5), RunError);
}

TEST_CASE("a change of schedule loses no knob, and no change that is still to come") {
    Amplified chain;
    Pipeline pipeline(chain.graph, thread_per_task(structure_of(chain.graph)));
    pipeline.set(chain.amp.gain, 2.0f, From{15});
    pipeline.run({.frames = 10});
    pipeline.reschedule(thread_per_task(structure_of(chain.graph), 3));
    pipeline.resume({.frames = 20});
    chain.check_gain(0, 15, 1);
    chain.check_gain(15, 30, 2);
}

TEST_CASE("a task that fires several times per frame, or takes a batch, reads the knob of each frame") {
    Graph graph;
    std::vector<int> read;
    auto& source = graph.add(task("source", out<int>("y", 4), [](auto y) { std::ranges::fill(y, 0); }));
    auto& amp = graph.add(task("amp", knob("gain", 1), in<int>("x"), out<int>("y"),
                               [](int gain, auto x, auto y) { y[0] = x[0] + gain; }));
    auto& sink = graph.add(task("sink", in<int>("x"), [&](auto x) { read.push_back(x[0]); }));
    graph.stream(source["y"], amp["x"]);
    graph.bind(amp["y"], sink["x"]);
    Pipeline pipeline(graph, thread_per_task(structure_of(graph)), {.frames = 5});
    pipeline.set(amp.find_knob<int>("gain"), 2, From{7});
    pipeline.run({.frames = 10});
    std::vector<int> expected(40, 1);
    std::fill(expected.begin() + 28, expected.end(), 2);
    CHECK(read == expected);
}

TEST_CASE("values of knobs die when no token names them any more") {
    Amplified chain;
    KnobBook book(chain.graph);
    book.start(0, 1);
    KnobBook::Beginner beginner(book, 0);
    std::vector<KnobTable*> tokens(4, nullptr);
    for (std::uint64_t frame = 0; frame < 100; ++frame) {
        CHECK(book.set(KnobSettings(chain.amp.gain, 1.0f)).frame == frame);
        internal::name_knobs(reinterpret_cast<std::byte*>(&tokens[frame % 4]), beginner.begin(frame));
        CHECK(book.tables() <= 4 + 2);
    }
}

TEST_CASE("settings between two frames change one table, however many they are") {
    Amplified chain;
    KnobBook book(chain.graph);
    book.start(0, 1);
    KnobBook::Beginner beginner(book, 0);
    beginner.begin(0);
    for (int i = 0; i < 1000; ++i) book.set(KnobSettings(chain.amp.gain, 1.0f));
    CHECK(book.tables() == 2);
}
