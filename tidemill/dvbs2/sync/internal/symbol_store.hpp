#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// The latest part of an endless stream of symbols, in one piece; a symbol is known by its place in the
/// stream.
class SymbolStore {
  public:
    /// Has room for so many from the beginning, and takes more where more are kept.
    explicit SymbolStore(std::size_t room) : memory_(room) {}

    std::uint64_t begin() const { return begin_; }
    std::uint64_t end() const { return begin_ + count_; }

    std::span<const dsp::Iq> at(std::uint64_t place, std::size_t count) const {
        return std::span(memory_).subspan(first_ + (place - begin_), count);
    }

    void append(std::span<const dsp::Iq> symbols) {
        if (first_ > kMostForgotten * count_ || first_ + count_ + symbols.size() > memory_.size())
            make_room(symbols.size());
        dsp::copy_samples(symbols, std::span(memory_).subspan(first_ + count_));
        count_ += symbols.size();
    }

    void forget_before(std::uint64_t place) {
        first_ += place - begin_;
        count_ -= place - begin_;
        begin_ = place;
    }

    /// Writes its state into a checkpoint, or reads it from one.
    template <class Archive>
    void keep(Archive& archive) {
        const auto held = at(begin_, count_);
        std::vector<dsp::Iq> symbols(held.begin(), held.end());
        archive("symbols", symbols)("begin", begin_);
        if (!archive.gives_back()) return;
        first_ = count_ = 0;
        append(symbols);
    }

  private:
    // Most symbols that are forgotten: so few that they and what is kept stay in a core's cache, so many that
    // a symbol is seldom moved.
    static constexpr std::size_t kMostForgotten = 4;

    // A fifth of the memory comes free at least, so that a symbol is moved four times on average, or less.
    void make_room(std::size_t more) {
        const auto kept = std::span(memory_).subspan(first_, count_);
        const std::size_t needed = count_ + more;
        if (4 * memory_.size() >= 5 * needed) {
            dsp::copy_samples(kept, memory_);
        } else {
            dsp::AlignedVector<dsp::Iq> larger(2 * needed);
            dsp::copy_samples(kept, larger);
            memory_.swap(larger);
        }
        first_ = 0;
    }

    dsp::AlignedVector<dsp::Iq> memory_;
    std::size_t first_ = 0;  // where in memory_ the symbols kept begin
    std::size_t count_ = 0;
    std::uint64_t begin_ = 0;
};

}  // namespace tidemill::dvbs2::internal
