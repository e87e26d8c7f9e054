#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/verify/testing/pipeline_runs.hpp"

namespace tidemill::explore {

/// Compares the threads' reports, and each end, with what the sequence would have done.
class PipelineJudge {
  public:
    struct TokenState {
        std::uint8_t held;   // by a thread that works on it
        std::uint8_t stage;  // that worked on it last, + 1
    };
    struct Ledger {
        std::array<std::array<TokenState, kSpare + 1>, 2> tokens{};
        std::uint8_t padding[4]{};
        std::uint64_t begun = 0;      // frames
        std::uint64_t dropped = 0;    // one bit per frame of the first segment
        std::uint64_t delivered = 0;  // of the last one
    };

    PipelineJudge(const Scenario& scenario, ExploredRun& run, std::array<std::uint32_t, 2> stages)
        : scenario_(scenario), run_(run), stages_(stages), words_(scenario) {}

    std::string name_of(Location at) const { return words_.name_of(at); }

    /// Threads that begin batches raise a number to their own: in any order, all may, and the highest stays.
    static bool is_claim(const Operation& operation) {
        return operation.at == WordNames::kBegun &&
               (operation.act == Act::load || operation.act == Act::exchange);
    }

    /// The thread that has the turn keeps it while it looks at the end, and one that has not looks at both
    /// again; unless it looks for other turns meanwhile.
    bool is_one_look(const Operation& turn, const Operation& end) const {
        return !scenario_.has_owners() && turn.act == Act::load && turn.order == std::memory_order_acquire &&
               words_.is_turn(turn.at) && end.act == Act::load && words_.is_end(end.at);
    }

    void note(Ledger& ledger, std::size_t thread, const Operation& operation) const {
        const auto remark = std::bit_cast<Remark>(operation.value);
        TokenState& token = ledger.tokens[remark.segment][remark.token];
        const auto holder = static_cast<std::uint8_t>(thread + 1);
        switch (remark.told) {
            case Told::begins:
                ledger.begun = std::max<std::uint64_t>(ledger.begun, remark.frame + 1);
                return;
            case Told::works:
                return works(token, remark, holder);
            case Told::emits:
                if (token.held != 0) throw Violation("two threads hold one token");
                return;
            case Told::drops:
                return drop(ledger, remark.frame);
            case Told::delivers:
                return deliver(ledger, remark.frame, remark.content);
            case Told::is_through:
                if (token.held == holder) token.held = 0;
        }
    }

    template <typename Memory>
    void end(const Ledger& ledger, const Memory& memory) const {
        Reading<Memory> reading(memory);
        const RunsOn on(reading);
        for (std::uint32_t segment = 0; segment < run_.segments(); ++segment) check_home(segment);
        const Expected expected =
            in_order(scenario_.late == Late::wait ? run_.ring(0).end() : ledger.begun, ledger.dropped);
        if (run_.outcome() != expected.outcome) throw Violation("the run ended otherwise than the sequence");
        const std::uint64_t missing = expected.delivered & ~ledger.delivered;
        std::uint64_t extra = ledger.delivered & ~expected.delivered;
        // A replica of the last stage may be ahead of the one that fails, and so may what it has under way:
        // what was done stays done.
        const StageShape& last = scenario_.stages.back();
        const bool may_be_ahead = (last.threads > 1 || last.under_way > 1) && expected.outcome &&
                                  expected.outcome->error && expected.outcome->segment + 1 == run_.segments();
        if (may_be_ahead) extra &= (std::uint64_t{1} << expected.outcome->frame) - 1;
        if (missing != 0) throw Violation(fmt::format("frames {:#b} were lost", missing));
        if (extra != 0) throw Violation(fmt::format("frames {:#b} were not to be delivered", extra));
    }

  private:
    struct Expected {
        std::uint64_t delivered = 0;
        std::optional<Outcome> outcome{};
    };

    void works(TokenState& token, const Remark& remark, std::uint8_t holder) const {
        if (token.held != 0) throw Violation("two threads hold one token");
        token.held = holder;
        if (remark.stage > 0 && token.stage != remark.stage) {
            throw Violation("a token came from the wrong stage");
        }
        token.stage = static_cast<std::uint8_t>(remark.stage + 1);
    }

    // In the order of their numbers, as a journal has them.
    void drop(Ledger& ledger, std::uint64_t frame) const {
        const std::uint64_t bit = std::uint64_t{1} << frame;
        if (ledger.dropped >= bit)
            throw Violation(fmt::format("frame {} was dropped behind a later one", frame));
        ledger.dropped |= bit;
    }

    void deliver(Ledger& ledger, std::uint64_t frame, std::uint8_t content) const {
        const std::uint64_t bit = std::uint64_t{1} << frame;
        if (ledger.delivered & bit) throw Violation(fmt::format("frame {} was delivered twice", frame));
        ledger.delivered |= bit;
        const auto expected = run_.segments() == 1 ? content_of(frame, 0) : emitted_as(frame, ledger.dropped);
        if (content != expected) throw Violation("a frame holds another's data");
    }

    // Output of the sequence as frame `number` of the second segment.
    std::uint8_t emitted_as(std::uint64_t number, std::uint64_t dropped) const {
        std::uint64_t emitted = 0;
        for (std::uint64_t frame = 0; frame < scenario_.frames; ++frame) {
            bool hole = dropped >> frame & 1;
            for (std::uint32_t stage = 0; stage < stages_[0]; ++stage) {
                hole |= scenario_.flow_at(0, stage, frame) == 'h';
            }
            for (std::size_t i = 0; !hole; ++i) {
                const char flow = scenario_.emission_at(frame, i);
                if ((flow == 'a' || flow == 'o') && emitted++ == number) return content_of(frame, i);
                if (flow != 'a') break;
            }
        }
        return 0xff;
    }

    // Every token is free for the first frame behind the end that uses it.
    void check_home(std::uint32_t segment) const {
        ExploredRing& ring = run_.ring(segment);
        for (std::uint64_t frame = ring.end(); frame < ring.end() + ring.size(); ++frame) {
            const ExploredToken* token = ring.try_take(ring.at(frame), 0);
            if (!token) throw Violation("a token did not come home");
            if (token->sleepers.load(std::memory_order_relaxed) != 0) {
                throw Violation("a sleeper was counted and never discounted");
            }
        }
    }

    // The definition: frame after frame, task after task; of one that is dropped the source's alone.
    Expected in_order(std::uint64_t frames, std::uint64_t dropped) const {
        Expected expected;
        std::uint64_t number = 0;
        for (std::uint64_t frame = 0; frame < frames && !expected.outcome; ++frame) {
            const bool is_lost = dropped >> frame & 1;
            if (!survives(0, frame, expected, is_lost ? 1 : stages_[0]) || is_lost) continue;
            if (run_.segments() == 1) {
                expected.delivered |= std::uint64_t{1} << frame;
            } else {
                emit_in_order(frame, number, expected);
            }
        }
        return expected;
    }

    bool survives(std::uint32_t segment, std::uint64_t frame, Expected& expected,
                  std::uint32_t stages) const {
        for (std::uint32_t stage = 0; stage < stages; ++stage) {
            const char flow = scenario_.flow_at(segment, stage, frame);
            if (flow == 'o') continue;
            if (flow != 'h') expected.outcome = outcome(flow, segment, frame);
            return false;
        }
        return true;
    }

    void emit_in_order(std::uint64_t frame, std::uint64_t& number, Expected& expected) const {
        for (std::size_t i = 0; !expected.outcome; ++i) {
            const char flow = scenario_.emission_at(frame, i);
            if (flow == 'S' || flow == 'T') expected.outcome = outcome(flow, 0, frame);
            if (flow != 'a' && flow != 'o') return;
            if (survives(1, number, expected, stages_[1])) expected.delivered |= std::uint64_t{1} << number;
            ++number;
            if (flow == 'o') return;
        }
    }

    static Outcome outcome(char flow, std::uint32_t segment, std::uint64_t frame) {
        std::optional<ToldError> error;
        if (flow == 'T' || flow == 'B') error = ToldError{segment, frame};
        return {segment, frame, error};
    }

    const Scenario& scenario_;
    ExploredRun& run_;
    std::array<std::uint32_t, 2> stages_;
    WordNames words_;
};

}  // namespace tidemill::explore
