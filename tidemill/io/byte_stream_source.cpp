#include "tidemill/io/byte_stream_source.hpp"

#include <utility>

#include "tidemill/io/recording.hpp"

namespace tidemill::io {

ByteStreamSource::ByteStreamSource(const std::filesystem::path& place, dsp::SampleFormat format,
                                   std::optional<double> sample_rate_hz, SetUp set_up,
                                   std::optional<Adjustment> adjustment, std::optional<Patience> patience)
    : stream_(place),
      format_(format),
      sample_rate_hz_(sample_rate_hz),
      set_up_(std::move(set_up)),
      adjustment_(std::move(adjustment)),
      patience_(patience),
      wanted_(adjustment_ ? adjustment_->control.value : 0),
      told_(wanted_) {
    if (patience_) stream_.give_up_after(patience_->first);
}

std::vector<SourceControl> ByteStreamSource::controls() const {
    if (!adjustment_) return {};
    return {adjustment_->control};
}

// Whoever reads tells the other end: one thread alone talks with it.
void ByteStreamSource::control(std::size_t /*index*/, double value) {
    wanted_ = value;
}

std::size_t ByteStreamSource::read(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    to = to.first(to.size() - to.size() % size);
    if (const double wanted = wanted_; wanted != told_) {
        told_ = wanted;
        adjustment_->tell(stream_, wanted);
    }
    std::size_t bytes = 0;
    do {
        const std::size_t got = stream_.read_some(to.subspan(bytes));
        if (got == 0) break;
        bytes += got;
    } while (bytes % size != 0);
    if (patience_ && bytes > 0) stream_.give_up_after(patience_->later);
    if (bytes % size != 0) cut_bytes_ = bytes % size;
    return bytes - bytes % size;
}

std::string ByteStreamSource::remarks() const {
    const std::size_t bytes = cut_bytes_;
    return bytes > 0 ? cut_sample_text(bytes, dsp::bytes_per_sample(format_)) : "";
}

}  // namespace tidemill::io
