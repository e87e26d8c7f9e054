#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/send/byte_shaper.hpp"
#include "tidemill/dvbs2/send/multiplexer.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

inline constexpr std::size_t kMaxBbframeBytes = 58192 / 8;  // of the normal 9/10 code

/// A transmitter's data on a frame besides its payload.
struct TxFrame {
    std::int32_t pls_code = 0;
    std::uint8_t behind_rest = 0;  ///< 1: the pulses of the frame before die away first, then nothing is sent
    std::uint64_t rest_samples = 0;  ///< for so long
};

/// BBFRAMEs to the symbols of their PLFRAMEs.
class TxModulator final : public Module {
    const std::size_t most_symbols_;

  public:
    explicit TxModulator(const Multiplexer& multiplexer);

    InUpTo<std::uint8_t> bbframe = in<std::uint8_t>("bbframe", upto(kMaxBbframeBytes));
    Label<const TxFrame> about = label<const TxFrame>("about");
    OutUpTo<dsp::Iq> symbols = out<dsp::Iq>("symbols", upto(most_symbols_));
    Task modulate = task("modulate", &TxModulator::modulate_frame, pure);

  private:
    void modulate_frame(Frame f) const;

    const Multiplexer& multiplexer_;
};

/// Hands the end of each frame's symbols to the next one, into whose samples their pulses reach: so frames
/// can be shaped apart.
class TxTails final : public Module {
    const std::size_t most_symbols_;

  public:
    TxTails(std::size_t most_symbols, std::size_t history);

    InUpTo<dsp::Iq> symbols = in<dsp::Iq>("symbols", upto(most_symbols_));
    OutUpTo<dsp::Iq> before = out<dsp::Iq>("before", upto(2 * PulseShaper::kReachSymbols));
    Task keep_end = task("keep", &TxTails::keep_tail, sequential);

    /// Samples of the last frame.
    std::span<const dsp::Iq> last() const { return last_; }

  private:
    void keep_tail(Frame f);

    std::vector<dsp::Iq> last_;
};

/// Symbols to samples. Behind a rest those come first that the frame before it still had: it begins where the
/// last pulse has died away.
class TxPulse final : public Module {
    const std::size_t most_symbols_, most_samples_;

  public:
    TxPulse(std::size_t most_symbols, const PulseShaper& shaper);

    InUpTo<dsp::Iq> symbols = in<dsp::Iq>("symbols", upto(most_symbols_));
    InUpTo<dsp::Iq> before = in<dsp::Iq>("before", upto(2 * PulseShaper::kReachSymbols));
    Label<const TxFrame> about = label<const TxFrame>("about");
    OutUpTo<dsp::Iq> samples = out<dsp::Iq>("samples", upto(most_samples_));
    Task shape = task("shape", &TxPulse::shape_frame, pure);

  private:
    void shape_frame(Frame f) const;

    const PulseShaper& shaper_;
    std::vector<dsp::Iq> silence_;
};

/// As TxPulse, to the bytes of a format.
class TxBytePulse final : public Module {
    const std::size_t most_symbols_, most_bytes_;

  public:
    TxBytePulse(std::size_t most_symbols, const PulseShaper& shaper, dsp::SampleFormat format, float gain);

    InUpTo<dsp::Iq> symbols = in<dsp::Iq>("symbols", upto(most_symbols_));
    InUpTo<dsp::Iq> before = in<dsp::Iq>("before", upto(2 * PulseShaper::kReachSymbols));
    Label<const TxFrame> about = label<const TxFrame>("about");
    OutUpTo<std::uint8_t> stored = out<std::uint8_t>("stored", upto(most_bytes_));
    Out<std::uint64_t> limited = out<std::uint64_t>("limited");
    Task shape = task("shape", &TxBytePulse::shape_frame, pure);

  private:
    void shape_frame(Frame f) const;

    ByteShaper shaper_;
    std::vector<dsp::Iq> silence_;
};

/// The stages of a transmitter in a graph, from BBFRAMEs to samples or their bytes. The maker of the frames
/// binds `modulator.bbframe`, gives the label "about", and asks the multiplexer from one thread.
struct TxStages {
    struct Rounded {
        dsp::SampleFormat format;
        float gain;
    };

    /// `rounded`: none where samples are wanted as they are. Multiplexer and shaper outlive the
    /// graph.
    TxStages(Graph& graph, const Multiplexer& multiplexer, const PulseShaper& shaper,
             const std::optional<Rounded>& rounded);

    TxModulator& modulator;
    TxTails& tails;
    std::size_t most_samples;  ///< of a frame
    TxPulse* pulse = nullptr;  ///< one of both
    TxBytePulse* byte_pulse = nullptr;
};

}  // namespace tidemill::dvbs2
