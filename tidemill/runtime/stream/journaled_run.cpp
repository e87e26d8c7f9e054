#include "tidemill/runtime/stream/journaled_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/graph/identity.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/stream/knob_record.hpp"

namespace tidemill {

namespace {

// Else those that are missing would begin as the program has them, not as the run had.
void check_begins_whole(const JournalRecord& record, const KnobLayout& knobs) {
    if (knobs.places.empty()) return;
    const bool is_whole = !record.settings.empty() && record.settings.front().frame == record.first_frame &&
                          record.settings.front().values.size() == knobs.places.size();
    if (is_whole) return;
    throw JournalError(
        fmt::format("the journal does not begin with the values of all {} knobs at frame {}: it is "
                    "not whole",
                    knobs.places.size(), record.first_frame));
}

}  // namespace

std::vector<KnobSettings> settings_of(const JournalRecord& record, const Graph& graph,
                                      const KnobLayout& knobs) {
    const std::string identity = identity_of(graph);
    if (record.graph != identity) {
        throw JournalError(fmt::format(
            "the journal is of another graph ({}, this one is {}): replay it with the program and "
            "the options that wrote it",
            record.graph, identity));
    }
    std::vector<KnobSettings> all;
    for (const JournalRecord::Setting& each : record.settings) {
        try {
            all.push_back(settings_of(each, graph, knobs));
        } catch (const GraphError& error) {
            throw JournalError(fmt::format("the journal's knobs at frame {}: {}", each.frame, error.what()));
        }
    }
    return all;
}

JournaledRun::JournaledRun(const RunOptions& options, const Graph& graph, KnobBook& knobs,
                           std::uint64_t first_frame)
    : journal_(options.journal), knobs_(knobs), frames_(options.frames), finishes_(options.finish) {
    if (!options.knobs.settings.empty()) knobs_.set(options.knobs);
    if (options.replay) replay(*options.replay, graph, first_frame);
    if (!journal_) return;
    journal_->begin(graph, first_frame);
    if (knobs_.layout().places.empty()) return;
    knobs_.listen(
        [this](const KnobSettings& settings, std::uint64_t frame) { journal_->set(settings, frame); },
        first_frame);
}

void JournaledRun::replay(const JournalRecord& record, const Graph& graph, std::uint64_t first_frame) {
    const std::vector<KnobSettings> all = settings_of(record, graph, knobs_.layout());
    if (record.first_frame != first_frame) {
        throw JournalError(
            fmt::format("the journal begins at frame {}, this run at frame {}: replay it with run()",
                        record.first_frame, first_frame));
    }
    check_begins_whole(record, knobs_.layout());
    for (const KnobSettings& settings : all) knobs_.set(settings);
    finishes_ |= record.finished;
    if (record.end) frames_ = std::min(frames_, *record.end - std::min(*record.end, first_frame));
}

// A run that failed is recorded as one that a task ended: a replay fails at the same place.
JournaledRun::~JournaledRun() {
    if (!journal_ || ended_) return;
    internal::thrown_by([this] { end(0, /*by_a_task=*/true); });  // the run's own failure is reported
}

void JournaledRun::end(std::uint64_t next_frame, bool by_a_task) {
    if (!journal_) return;
    ended_ = true;
    knobs_.listen({}, 0);
    journal_->end(by_a_task ? std::nullopt : std::optional(next_frame), finishes_ && !by_a_task);
}

}  // namespace tidemill
