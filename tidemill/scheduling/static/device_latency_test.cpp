#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/frame_alone.hpp"
#include "tidemill/scheduling/static/latency.hpp"

namespace tidemill {
namespace {

using doctest::Approx;

constexpr unsigned kSeed = 21;

/// Up to eight tasks of whole weights, of which some run on a device, too, in batches of up to 8 frames.
Chain random_chain(std::mt19937& random) {
    Chain chain{{"big", "gpu"}, {}};
    const std::size_t tasks = 1 + random() % 8;
    for (std::size_t i = 0; i < tasks; ++i) {
        ChainTask& task = chain.tasks.emplace_back();
        task.name = "t" + std::to_string(i);
        task.replicable = random() % 2 == 0;
        task.weight_us = {1.0 + random() % 40, kCannotRun};
        if (random() % 2 == 0) continue;
        BatchCost cost{.kind = "gpu", .batch_us = 8.0 * (random() % 20), .frame_us = 1.0 + random() % 8};
        cost.most_frames = 8;
        cost.frames = random() % 2 == 0 ? 1 : 2;
        if (random() % 2 == 0) cost.in = {cost.batch_us / 4, cost.frame_us / 4};
        if (random() % 2 == 0) cost.out = {cost.batch_us / 2, cost.frame_us / 2};
        task.batches = {cost};
        task.weight_us[1] = cost.weight_us(8);
    }
    return chain;
}

/// Cost of a schedule: its slowest stage, a frame alone but for filling batches, and how many wait for that.
struct Taken {
    double slowest_us = 0;
    double alone_us = 0;
    double waiting = 0;
};

/// Every schedule on so many cores and a device, in batches of 8, 4, 2 and 1.
class EveryUse {
  public:
    EveryUse(const Chain& chain, int cores) : chain_(chain) { stages(0, cores, 1, {}); }

    /// With any number of frames in flight; nothing where frames take longer whatever is done.
    std::optional<double> least_period_us(double most_us) const {
        std::optional<double> best;
        for (const Taken& each : all_)
            for (double frames = each.waiting + 1; frames < 100; ++frames) {
                const double period_us = std::max(each.slowest_us, each.alone_us / (frames - each.waiting));
                if (frames * period_us > most_us * (1 + 1e-9)) continue;
                if (!best || period_us < *best) best = period_us;
            }
        return best;
    }

  private:
    void stages(std::size_t begin, int cores, int devices, Taken so_far) {
        if (begin == chain_.tasks.size()) return all_.push_back(so_far);
        for (std::size_t end = begin + 1; end <= chain_.tasks.size(); ++end) {
            on_cores(begin, end, cores, devices, so_far);
            if (devices > 0) on_device(begin, end, cores, so_far);
        }
    }
    void on_cores(std::size_t begin, std::size_t end, int cores, int devices, const Taken& before) {
        double us = 0;
        bool is_replicable = true;
        for (std::size_t i = begin; i < end; ++i) us += chain_.tasks[i].weight_us[0];
        for (std::size_t i = begin; i < end; ++i) is_replicable &= chain_.tasks[i].replicable;
        for (int threads = 1; threads <= (is_replicable ? cores : std::min(cores, 1)); ++threads) {
            Taken after = before;
            after.slowest_us = std::max(after.slowest_us, us / threads);
            after.alone_us += us;
            stages(end, cores - threads, devices, after);
        }
    }
    void on_device(std::size_t begin, std::size_t end, int cores, const Taken& before) {
        for (std::size_t i = begin; i < end; ++i)
            if (chain_.tasks[i].batches.empty()) return;
        for (const int batch : {8, 4, 2, 1}) {
            double us = 0, executions = 1;
            for (std::size_t i = begin; i < end; ++i) {
                const BatchCost& cost = chain_.tasks[i].batches[0];
                us += cost.frames * (cost.batch_us / batch + cost.frame_us);
                if (i > begin) us -= saved_us(chain_.tasks[i - 1].batches[0], cost, batch);
                executions = std::max(executions, std::ceil(batch / cost.frames));
            }
            Taken after = before;
            after.slowest_us = std::max(after.slowest_us, us);
            after.alone_us += us * executions;
            after.waiting += executions - 1;
            stages(end, cores, 0, after);
        }
    }

    // Frames stay from one task to the next.
    static double saved_us(const BatchCost& left, const BatchCost& found, int batch) {
        return left.frames * (left.out.batch_us / batch + left.out.frame_us) +
               found.frames * (found.in.batch_us / batch + found.in.frame_us);
    }

    const Chain& chain_;
    std::vector<Taken> all_;
};

// A device that all its tasks' batches cover alike: what a kind's largest batch covers is then every stage's.
void give_equal_frames(Chain& chain) {
    for (ChainTask& task : chain.tasks)
        for (BatchCost& cost : task.batches) {
            cost.frames = 1;
            task.weight_us[1] = cost.weight_us(8);
        }
}

}  // namespace

TEST_CASE("latency: batch and cut under a limit equal trying every schedule with a device in 1,000 cases") {
    std::mt19937 random(kSeed);
    int with_device = 0, with_neighbours = 0, met = 0;
    for (int i = 0; i < 1000; ++i) {
        Chain chain = random_chain(random);
        give_equal_frames(chain);
        const int cores = 1 + static_cast<int>(random() % 3);
        const double most_us = 10.0 + random() % 600;
        CAPTURE(i);
        const Platform platform{.big = cores, .others = {{"gpu", 1}}};
        const std::optional<double> expected = EveryUse(chain, cores).least_period_us(most_us);
        std::optional<PacedSchedule> made;
        try {
            made = within_latency(most_us, chain, platform);
        } catch (const ScheduleError&) {
            CHECK(!expected);
            continue;
        }
        check(made->schedule, chain);
        CHECK(made->period_us >= Approx(period_us(made->schedule, chain)));
        with_device += std::ranges::any_of(made->schedule.stages,
                                           [](const Stage& stage) { return stage.batch.has_value(); });
        with_neighbours += std::ranges::any_of(
            made->schedule.stages, [&](const Stage& stage) { return resident_us(stage, chain) > 0; });
        if (!expected) {
            CHECK(made->latency_us > most_us);
            continue;
        }
        ++met;
        CHECK(made->period_us == Approx(*expected));
        CHECK(made->latency_us <= Approx(most_us));
    }
    CHECK(with_device > 100);
    CHECK(with_neighbours > 20);
    CHECK(met > 300);
}

TEST_CASE("latency: the tighter the limit, the smaller the batches, until the device is of no use") {
    Chain chain{{"big", "gpu"}, {{"a", false, {10, kCannotRun}}, {"b", false, {100, 0}}}};
    chain.tasks[1].batches = {{.kind = "gpu", .batch_us = 64, .frame_us = 1, .most_frames = 64}};
    chain.tasks[1].weight_us[1] = chain.tasks[1].batches[0].weight_us(64);
    const Platform platform{.big = 2, .others = {{"gpu", 1}}};
    const PacedSchedule loose = within_latency(2000, chain, platform);
    CHECK(loose.period_us == 10);
    const PacedSchedule tight = within_latency(150, chain, platform);
    REQUIRE(tight.schedule.stages.back().batch);
    CHECK(*tight.schedule.stages.back().batch < 8);
    CHECK(tight.latency_us <= 150);
    CHECK(tight.period_us > 10);
    CHECK(tight.period_us < 100);
    const PacedSchedule alone = within_latency(60, chain, platform);
    CHECK(alone.latency_us > 60);
}

TEST_CASE("latency: a frame on a device takes what its batch takes, and waits for it to fill") {
    Chain chain{{"big", "gpu"}, {{"a", false, {10, kCannotRun}}, {"b", false, {100, 0}}}};
    chain.tasks[1].batches = {
        {.kind = "gpu", .batch_us = 24, .frame_us = 2, .frames = 0.5, .most_frames = 8}};
    chain.tasks[1].weight_us[1] = chain.tasks[1].batches[0].weight_us(8);
    Schedule schedule{.stages = {{.first_task = 0, .task_count = 1, .core_kind = "big"},
                                 {.first_task = 1, .task_count = 1, .core_kind = "gpu", .batch = 4}}};
    CHECK(executions_per_batch(schedule.stages[1], chain) == 8);
    CHECK(latency_us(schedule, chain) == 10 + 8 * 4 + 7 * 10);  // a period of 10 us while seven more come
    CHECK(paced(schedule, chain).frames == 12);
}

}  // namespace tidemill
