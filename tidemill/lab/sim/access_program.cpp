#include "tidemill/lab/sim/access_program.hpp"

#include <algorithm>
#include <memory>

namespace tidemill {

namespace {

using Mode = TileAccess::Mode;

constexpr double kMillisecondUs = 1000;

struct TileWaits {
    ProgramTask& task;

    static bool in_flight(const std::optional<std::uint64_t>& number) { return number.has_value(); }
    void wait_for(const std::optional<std::uint64_t>& number) const {
        if (std::ranges::count(task.predecessors, *number, &Predecessor::number) > 0) return;
        task.predecessors.push_back({*number, false});
    }
};

}  // namespace

void AccessProgram::add(policy::TaskTypeId type, double work_us, std::uint64_t bytes,
                        const std::vector<TileAccess>& accesses) {
    ProgramTask task{.type = type, .iteration = iterations_ - 1, .work_us = work_us};
    for (const TileAccess& access : accesses) {
        if (access.mode == Mode::renamed || access.mode == Mode::reduction) task.output_bytes += bytes;
        note(task, access);
    }
    task.reserved_bytes = task.output_bytes;
    tasks_.push_back(std::move(task));
}

void AccessProgram::note(ProgramTask& task, const TileAccess& access) {
    const std::uint64_t number = tasks_.size();
    Past& past = tiles_[access.tile];
    const TileWaits around{task};
    switch (access.mode) {
        case Mode::in:
            past.history.read(number, around);
            break;
        case Mode::renamed:
            past = {{}, number};
            [[fallthrough]];
        case Mode::out:
        case Mode::inout:
            past.history.change(number, around);
            break;
        default: {
            const policy::SharedUse use{static_cast<std::uint8_t>(access.mode)};
            const std::uint32_t group = past.history.share(number, use, groups_, around);
            if (access.mode == Mode::commutative) task.exclusions.push_back(group);
        }
    }
    const auto maker =
        std::ranges::find(task.predecessors, past.renamed_by.value_or(number), &Predecessor::number);
    if (maker == task.predecessors.end() || maker->is_read) return;
    maker->is_read = true;
    ++tasks_[maker->number].readers;
}

std::unique_ptr<TaskProgram> pairs(PairsBy by, std::uint64_t particles, std::uint64_t steps) {
    enum Type : policy::TaskTypeId { kPair, kMove };
    enum Plane : std::uint64_t { kPlace, kForce };
    constexpr Mode kModes[]{Mode::inout, Mode::commutative, Mode::reduction};
    constexpr std::uint64_t kBytes = 24;
    const Mode mode = kModes[static_cast<std::size_t>(by)];
    const auto particle = [](Plane plane, std::uint64_t i) { return Tile{plane, i, 0}; };
    auto program = std::make_unique<AccessProgram>("pairs", std::vector<std::string>{"pair", "move"});
    for (std::uint64_t step = 0; step < steps; ++step) {
        if (step > 0) program->next_iteration();
        for (std::uint64_t i = 0; i < particles; ++i) {
            for (std::uint64_t j = i + 1; j < particles; ++j) {
                const double share = static_cast<double>((i * 7 + j * 13 + step * 5) % 11) / 10;
                program->add(kPair, (0.5 + share) * kMillisecondUs, kBytes,
                             {{particle(kPlace, i), Mode::in},
                              {particle(kPlace, j), Mode::in},
                              {particle(kForce, i), mode},
                              {particle(kForce, j), mode}});
            }
        }
        for (std::uint64_t i = 0; i < particles; ++i) {
            program->add(kMove, kMillisecondUs, 0,
                         {{particle(kPlace, i), Mode::inout}, {particle(kForce, i), Mode::inout}});
        }
    }
    return program;
}

std::unique_ptr<TaskProgram> buffer(bool renamed, std::uint64_t fills) {
    enum Type : policy::TaskTypeId { kFill, kLook };
    constexpr std::uint64_t kBytes = 4096;
    constexpr int kLooks = 3;
    const Tile source{0, 0, 0};
    const Tile filled{1, 0, 0};
    auto program = std::make_unique<AccessProgram>("buffer", std::vector<std::string>{"fill", "look"});
    for (std::uint64_t fill = 0; fill < fills; ++fill) {
        if (fill > 0) program->next_iteration();
        program->add(kFill, kMillisecondUs, kBytes,
                     {{source, Mode::inout}, {filled, renamed ? Mode::renamed : Mode::out}});
        for (int look = 0; look < kLooks; ++look)
            program->add(kLook, 2 * kMillisecondUs, 0, {{filled, Mode::in}});
    }
    return program;
}

}  // namespace tidemill
