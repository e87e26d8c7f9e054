#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"

namespace {

using namespace tidemill::dvbs2;

/// The input's bytes one after the other, zeros behind its end.
class Bytes {
  public:
    explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t next() {
        if (bytes_.empty()) return 0;
        const std::uint8_t byte = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return byte;
    }
    std::span<const std::uint8_t> next(std::size_t most) {
        const auto some = bytes_.first(std::min(most, bytes_.size()));
        bytes_ = bytes_.subspan(some.size());
        return some;
    }
    bool empty() const { return bytes_.empty(); }

  private:
    std::span<const std::uint8_t> bytes_;
};

InputStream stream_of(Bytes& bytes) {
    InputStream stream;
    const std::uint8_t kind = bytes.next();
    stream.type = static_cast<StreamType>(kind % 4);
    stream.number = bytes.next();
    if (kind & 4) stream.packet_bytes = bytes.next();
    if (kind & 8) stream.sync = bytes.next();
    stream.delete_null_packets = kind & 16;
    stream.issy_bytes = kind >> 6;
    stream.packet_period_symbols = kind & 32 ? 10.0 * bytes.next() : 0;
    return stream;
}

// Short frames only: normal ones take too long to make.
MultiplexerConfig config_of(Bytes& bytes) {
    MultiplexerConfig config;
    config.streams.clear();
    const std::uint8_t sizes = bytes.next();
    for (int i = sizes % 4; i >= 0; --i) config.streams.push_back(stream_of(bytes));
    for (int i = sizes / 4 % 4; i >= 0; --i) {
        const std::uint8_t modcod = bytes.next();
        PlannedFrame frame{.pls = {modcod % 32, FrameSize::short_, modcod >= 128}};
        if (modcod & 64) frame.stream = bytes.next() % 8;
        config.plan.push_back(frame);
    }
    config.gold_code = sizes & 64 ? 1000 * bytes.next() : 0;
    config.rolloff = std::array{0.20, 0.25, 0.35, 0.5}[sizes >> 6];
    return config;
}

// Datagrams as they come: some with a sync byte at each packet's begin, some not.
std::vector<std::uint8_t> datagram(Bytes& bytes, std::size_t packet_bytes, std::uint8_t sync) {
    const std::uint8_t how = bytes.next();
    const auto some = bytes.next(how % 64U);
    std::vector<std::uint8_t> all;
    while (all.size() < 40U * how && !some.empty()) all.insert(all.end(), some.begin(), some.end());
    if (how & 128 && packet_bytes > 0) {
        all.resize(all.size() / packet_bytes * packet_bytes);
        for (std::size_t at = 0; at < all.size(); at += packet_bytes) all[at] = sync;
    }
    return all;
}

}  // namespace

/// Any input of any datagrams is refused with a Dvbs2Error or becomes finite symbols.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(std::span(data, size));
    try {
        const MultiplexerConfig config = config_of(bytes);
        Multiplexer multiplexer(config);
        std::vector<tidemill::dsp::Iq> symbols;
        for (int frame = 0; frame < 12 && !bytes.empty(); ++frame) {
            const std::size_t stream = bytes.next() % config.streams.size();
            multiplexer.feed(
                stream, datagram(bytes, config.streams[stream].packet_bytes, config.streams[stream].sync));
            if (!multiplexer.send(symbols)) multiplexer.skip();
        }
        while (multiplexer.next_stream() && multiplexer.send_padded(symbols) && symbols.size() < 200'000) {
        }
        for (const auto& symbol : symbols)
            if (!std::isfinite(symbol.real()) || !std::isfinite(symbol.imag())) std::abort();
    } catch (const Dvbs2Error&) {
    }
    return 0;
}
