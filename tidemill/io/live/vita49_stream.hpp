#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemill/io/live/internal/sample_pieces.hpp"
#include "tidemill/io/live/live_source.hpp"
#include "tidemill/io/live/vita49_packet.hpp"

namespace tidemill::io {

/// Packets to take, and the user's settings for them, which outweigh their own.
struct VitaSettings {
    std::optional<std::uint32_t> stream{};  ///< none: that of the first one
    bool any_class = false;                 ///< also others than DIFI's, and those that name none
    std::optional<dsp::SampleFormat> format{};
    std::optional<double> sample_rate_hz{};
};

/// Counts of the packets that came, by the reason why they were not taken.
struct VitaCounts {
    std::uint64_t data = 0;        ///< given out
    std::uint64_t contexts = 0;    ///< read
    std::uint64_t cut = 0;         ///< or no packets at all
    std::uint64_t other_kind = 0;  ///< neither data nor context
    std::uint64_t other_class = 0;
    std::uint64_t other_stream = 0;
    std::uint64_t early = 0;       ///< before rate and format were known
    std::uint64_t other_form = 0;  ///< of another rate or format than at the beginning
    std::uint64_t doubled = 0;
    std::uint64_t late = 0;             ///< behind those that had come in their place
    std::uint64_t out_of_time = 0;      ///< over a second away
    std::uint64_t restarts = 0;         ///< all that came was out of time, and became the new time
    std::uint64_t unmeasured_gaps = 0;  ///< without time stamps, so that nobody knows how long

    /// Oddities, in words; empty where there are none.
    std::string remarks() const;
};

/// Makes samples of VITA-49 packets as they come: those of one stream, put back in order within a few, each
/// gap given out as silence that is as long as their time stamps say. Knows no sockets and no clock.
class VitaStream {
  public:
    explicit VitaStream(const VitaSettings& settings);

    void take(std::span<const std::byte> datagram);

    /// No more will come: what waits for others is given out.
    void finish();

    /// Whether data came that are understood; from then on format and rate stay.
    bool has_begun() const { return begun_.has_value(); }
    dsp::SampleFormat format() const {
        return begun_ ? begun_->form.format : settings_.format.value_or(dsp::SampleFormat::ci16_be);
    }
    double sample_rate_hz() const { return begun_ ? begun_->rate_hz : 0; }
    std::optional<double> frequency_hz() const { return said_.frequency_hz; }

    /// Why data that came before cannot be read: missing context, or a format that is not read.
    std::string missing() const;

    /// Reason for which all that comes now is not taken, in words; empty: there is none.
    std::string trouble() const;

    /// Gives out whole samples, as many as there are and fit.
    std::size_t read(std::span<std::byte> to) { return pieces_.read(to, dsp::bytes_per_sample(format())); }

    const SampleLosses& losses() const { return losses_; }
    const VitaCounts& counts() const { return counts_; }

  private:
    struct Begun {
        VitaForm form;
        double rate_hz;

        bool operator==(const Begun&) const = default;
    };
    struct Place {
        VitaTime time;
        std::uint8_t count = 0;

        bool operator==(const Place&) const = default;
    };
    struct Held {
        Place place;
        std::vector<std::byte> samples;
    };
    struct Said {
        std::uint32_t stream;
        VitaContext context;
    };
    static constexpr std::size_t kMostStreams = 64;
    static constexpr std::size_t kMostHeld = 8;
    static constexpr std::size_t kMostHeldUntimed = 3;  // of the count's range
    static constexpr std::size_t kRemembered = 64;

    bool is_wanted(const VitaPacket& packet);
    void consider(std::uint32_t stream);
    VitaContext& said_of(std::uint32_t stream);
    void take_context(const VitaPacket& packet);
    std::optional<Begun> told() const;
    void place(Held packet);
    void place_untimed(Held packet);
    bool is_timed(const Place& place) const;
    double ahead(const Place& place) const;
    bool is_next(const Place& place, double ahead) const;
    void hold(Held packet);
    bool was_given(const Place& place) const;
    bool begins_anew(Held& packet);
    void give(Held packet);
    void give_next_held();
    void give_over_gap();
    std::uint64_t samples_of(const Held& packet) const;

    VitaSettings settings_;
    std::optional<std::uint32_t> stream_;
    VitaContext said_;
    std::vector<Said> said_before_;  // of streams, while none is chosen
    std::optional<Begun> begun_;
    std::optional<Place> last_;  // that was given out
    std::uint64_t last_samples_ = 0;
    std::array<Place, kRemembered> remembered_{};
    std::size_t remembered_count_ = 0;
    std::vector<Held> held_;
    int strays_ = 0;             // one after the other
    std::uint64_t misfits_ = 0;  // of another rate or format, one after the other
    internal::SamplePieces pieces_;
    SampleLosses losses_;
    VitaCounts counts_;
};

}  // namespace tidemill::io
