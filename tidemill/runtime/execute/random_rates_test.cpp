#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/testing/random_graph.hpp"
#include "tidemill/runtime/testing/test_chain.hpp"

using namespace tidemill;
using internal::mixed;
using internal::Words;

namespace {

/// A task of a chain: what a firing takes and gives, and whether it has state.
struct Rate {
    std::size_t taken;  // 0: a source
    std::size_t given;  // 0: a sink
    bool sequential;
};

struct Meaning {
    Rate rate;
    std::uint64_t seed;
    std::uint64_t state = 0;

    // One firing, with its number.
    void operator()(std::span<const std::uint64_t> x, std::span<std::uint64_t> y, std::uint64_t number) {
        std::uint64_t hash = mixed(seed, number);
        for (const std::uint64_t word : x) hash = mixed(hash, word);
        if (rate.sequential) hash = state = mixed(state, hash);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = mixed(hash, i);
    }
};

struct Fire : Module {
    Fire(Rate rate, std::uint64_t seed, Words& kept_words) : meaning{rate, seed}, kept(&kept_words) {
        if (rate.taken > 0) x.push_back(in<std::uint64_t>("x", rate.taken));
        if (rate.given > 0) y.push_back(out<std::uint64_t>("y", rate.given));
        task("fire", &Fire::run,
             {.replication = rate.sequential ? Replication::sequential : Replication::pure});
    }
    std::vector<In<std::uint64_t>> x{};
    std::vector<Out<std::uint64_t>> y{};
    Meaning meaning;
    Words* kept;

    void run(Frame f) {
        if (y.empty()) kept->insert(kept->end(), f[x[0]].begin(), f[x[0]].end());
        const auto taken = x.empty() ? std::span<const std::uint64_t>{} : f[x[0]];
        const auto given = y.empty() ? std::span<std::uint64_t>{} : f[y[0]];
        meaning(taken, given, f.number());
    }
};

/// Output of a chain for `words` words from its source, by definition: streams, one after the other.
Words by_definition(const std::vector<Rate>& rates, std::size_t words) {
    Words stream(words);
    for (std::size_t t = 0; t + 1 < rates.size(); ++t) {
        Meaning meaning{rates[t], t};
        const std::size_t firings = t == 0 ? words / rates[t].given : stream.size() / rates[t].taken;
        Words next(firings * rates[t].given);
        for (std::size_t k = 0; k < firings; ++k) {
            meaning(std::span(stream).subspan(k * rates[t].taken, rates[t].taken),
                    std::span(next).subspan(k * rates[t].given, rates[t].given), k);
        }
        stream = std::move(next);
    }
    return stream;
}

using Run = std::function<void(Graph&, std::uint64_t frames)>;

/// Two to five tasks, a source and a sink among them.
std::vector<Rate> random_rates() {
    const auto count = *rc::gen::inRange<std::size_t>(2, 6);
    std::vector<Rate> rates;
    for (std::size_t t = 0; t < count; ++t) {
        const bool end = t == 0 || t + 1 == count;
        rates.push_back({t == 0 ? 0 : *rc::gen::inRange<std::size_t>(1, 7),
                         t + 1 == count ? 0 : *rc::gen::inRange<std::size_t>(1, 7),
                         end || *rc::gen::arbitrary<bool>()});
    }
    return rates;
}

Run random_pipeline(const std::vector<Rate>& rates) {
    std::vector<std::pair<std::size_t, int>> stages;
    for (std::size_t done = 0; done < rates.size();) {
        const auto tasks_of_stage = *rc::gen::inRange<std::size_t>(1, rates.size() - done + 1);
        bool replicable = true;
        for (std::size_t t = done; t < done + tasks_of_stage; ++t) replicable &= !rates[t].sequential;
        stages.emplace_back(tasks_of_stage, replicable ? *rc::gen::inRange(1, 4) : 1);
        done += tasks_of_stage;
    }
    const auto batch = *rc::gen::inRange<std::uint32_t>(1, 4);
    return [=](Graph& graph, std::uint64_t frames) {
        Pipeline(graph, internal::test_schedule(stages), {.frames = batch}).run({.frames = frames});
    };
}

Run random_dynamic() {
    const auto workers = *rc::gen::inRange<std::size_t>(1, 4);
    const auto window = *rc::gen::inRange<std::uint64_t>(1, 6);
    return [=](Graph& graph, std::uint64_t frames) {
        Dynamic(graph, {.workers = workers, .window = {.iterations = window}}).run({.frames = frames});
    };
}

void check_chain(const std::vector<Rate>& rates, const Run& run) {
    Words kept;
    Graph graph;
    std::vector<Fire*> tasks;
    for (std::size_t t = 0; t < rates.size(); ++t) tasks.push_back(&graph.add<Fire>(rates[t], t, kept));
    for (std::size_t t = 0; t + 1 < rates.size(); ++t) graph.stream(tasks[t]->y[0], tasks[t + 1]->x[0]);
    constexpr std::uint64_t kFrames = 4;
    const std::size_t words = kFrames * structure_of(graph).order.front().firings * rates.front().given;
    run(graph, kFrames);
    RC_ASSERT(kept == by_definition(rates, words));
}

}  // namespace

TEST_CASE("chains of random rates under random cuts are to the bit what their streams mean") {
    CHECK(rc::check([] {
        const std::vector<Rate> rates = random_rates();
        check_chain(rates, random_pipeline(rates));
    }));
}

TEST_CASE("chains of random rates by tasks are to the bit what their streams mean") {
    CHECK(rc::check([] { check_chain(random_rates(), random_dynamic()); }));
}
