#pragma once

#include "tidemill/lab/sim/stream_program.hpp"

/// The stream programs with which the chapter on run-time decisions shows each policy at its worst, for `p`
/// workers; costs in units of `unit_us`. All can be scheduled with no worker ever idle.
namespace tidemill::worst_case {

/// Fig. 4.6a, exhaustion: task type a keeps state and costs 1; p-1 task types b of (p-1)/p and p-1 task types
/// c of 1/p wait for it. With `between`, a task that costs nothing stands between one a and the next, so that
/// a is ready last.
StreamGraph exhaustion(unsigned p, bool between, double unit_us);

/// Fig. 4.6b: b and c keep state too and are split in `parts` tasks an iteration each.
StreamGraph exhaustion_in_parts(unsigned p, unsigned parts, double unit_us);

/// Fig. 4.6a where each b and c has 2p children that cost nothing.
StreamGraph exhaustion_with_children(unsigned p, double unit_us);

/// Fig. 4.7a: a pipeline of p task types with state, then one that fires `f` times and cannot keep up.
StreamGraph slow_end(unsigned p, unsigned f, double unit_us);

/// Fig. 4.7b and c: p parallel rows with state that fire `f` times, then one row for all.
StreamGraph slow_join(unsigned p, unsigned f, double unit_us);

/// Fig. 4.7d: a pipeline of p task types with state of (p-1)/p, then one of 1.
StreamGraph slow_pipeline(unsigned p, double unit_us);

/// For fifo: a pipeline of p(p-1) task types with state of 1, then one of p and a little.
StreamGraph long_pipeline(unsigned p, double unit_us);

/// Figs. 4.7e and 4.8: a without state costs p-2, then b and c with state cost 1 each.
StreamGraph stolen_type(unsigned p, double unit_us);

/// Fig. 4.11: Fig. 4.6a and a task type that joins all b and c.
StreamGraph exhaustion_joined(unsigned p, double unit_us);

/// As Fig. 4.12: Fig. 4.6a with a short task type b between a and all others. It is b that ends with the
/// fewest threads busy, but raising b helps only where a is raised with it. The published costs are lost,
/// these are ours.
StreamGraph exhaustion_behind(unsigned p, double unit_us);

}  // namespace tidemill::worst_case
