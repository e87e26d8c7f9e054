#pragma once

#include <cstdint>

#include "tidemill/dvbs2/receiver/raw_windows.hpp"
#include "tidemill/dvbs2/receiver/source_module.hpp"

namespace tidemill::dvbs2 {

/// Reads raw samples and hands them on in overlapping blocks; after the last sample it sends blocks of
/// nothing until all filters have run empty.
class RxSource final : public SourceModule {
    const RawLayout layout_;
    const bool live_;

  public:
    /// `live`: what was read once does not come again.
    RxSource(io::SampleSource& source, const RawLayout& layout, bool live = false);

    Out<std::byte> raw = out<std::byte>("raw", layout_.window_bytes());
    Out<RawInfo> info = out<RawInfo>("info");
    Task read = task("read", &RxSource::read_block, TaskOptions{.may_wait = live_});

    /// A source that can be read again is read up to where it was; a live one goes on with what comes.
    void keep(Archive& archive) override;

    /// Samples read so far.
    std::uint64_t samples() const { return windows_.samples(); }

  private:
    Flow read_block(Frame f);
    std::size_t fill(std::span<std::byte> to);

    void read_up_to(std::uint64_t samples);

    RawWindows windows_;
    bool all_read_ = false;
};

}  // namespace tidemill::dvbs2
