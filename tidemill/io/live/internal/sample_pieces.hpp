#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace tidemill::io::internal {

/// Samples that came, with silence between them, to be given out in pieces of another size.
class SamplePieces {
  public:
    void add(std::vector<std::byte> samples) { pieces_.push_back({0, std::move(samples)}); }
    void add_silence(std::uint64_t bytes) { pieces_.push_back({bytes, {}}); }

    /// Gives out as many whole samples as there are and fit; silence is zeros.
    std::size_t read(std::span<std::byte> to, std::size_t sample_bytes) {
        to = to.first(to.size() - to.size() % sample_bytes);
        std::size_t done = 0;
        while (done < to.size() && !pieces_.empty()) done += read_first(to.subspan(done));
        return done;
    }

  private:
    struct Piece {
        std::uint64_t silent_bytes = 0;
        std::vector<std::byte> samples;
    };

    std::size_t read_first(std::span<std::byte> to) {
        Piece& piece = pieces_.front();
        const auto silent = static_cast<std::size_t>(std::min<std::uint64_t>(piece.silent_bytes, to.size()));
        std::memset(to.data(), 0, silent);
        piece.silent_bytes -= silent;
        const std::size_t some = std::min(to.size() - silent, piece.samples.size() - taken_);
        if (some > 0) std::memcpy(to.data() + silent, piece.samples.data() + taken_, some);
        taken_ += some;
        if (piece.silent_bytes == 0 && taken_ == piece.samples.size()) {
            pieces_.pop_front();
            taken_ = 0;
        }
        return silent + some;
    }

    std::deque<Piece> pieces_;
    std::size_t taken_ = 0;  // of the first piece's samples, in bytes
};

}  // namespace tidemill::io::internal
