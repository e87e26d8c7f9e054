#pragma once

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Letters of a word at most where threads own several stages: longer ones come nearer to the bound, but
/// frames come in bunches then, and threads with several stages wait for each other.
inline constexpr std::size_t kPackedLetters = 8;

/// The least period when a thread may own several stages, neighbours or not (Stage::owners): tasks are packed
/// on the cores, each on one thread or, where it is replicable, on several by a word of at most so many
/// letters. Few tasks on few cores are packed exactly, others by a search of bounded effort that is the same
/// on each call; where mixed() does as well with all the letters that it may have, its schedule is taken, and
/// where mixed() refuses the numbers, herad()'s. Where the model says how much slower a
/// core's two threads are than one, some of a kind's cores may have two: each number of up to four, or all.
/// Costs of stages and cuts are not searched for, but count where packings are compared with mixed(); cores
/// are as slow as when all are busy. Within a wanted period frames take as little as moving tasks one by one
/// brings about. mixed()'s schedule is taken, too, where tasks times cores are more than 100,000. A search of
/// less `effort` than 1 takes that part of the time at most. Throws ScheduleError when no cores are left, or
/// a task runs on none of them, for more letters than kMostLetters, and then as mixed().
Schedule packed(const Chain& chain, const Platform& platform, const Objective& objective = {},
                const CostModel& model = {}, std::size_t most_letters = kPackedLetters, double effort = 1);

}  // namespace tidemill
