#pragma once

#include <span>
#include <vector>

#include "tidemill/dsp/resampler.hpp"

namespace tidemill::dvbs2 {

/// Another way from transmitter to receiver, beside the direct one.
struct Echo {
    double delay_symbols = 0.0;  // behind the direct way
    double gain_db = 0.0;        // over it
    double phase_rad = 0.0;
};

/// Adds up the direct way and echoes of a signal, whose end they outlast.
class Multipath {
  public:
    Multipath(std::span<const Echo> echoes, double samples_per_symbol);

    /// Takes more of the signal and appends the sums that it completes.
    void process(std::span<const dsp::Iq> in, std::vector<dsp::Iq>& out);

    /// Appends the sums that still depend on the signal, whose end is followed by silence.
    void finish(std::vector<dsp::Iq>& out);

  private:
    struct Path {
        dsp::Resampler delay;
        dsp::Iq gain;
        std::vector<dsp::Iq> arrived;  // not yet added up
    };

    void add_up(std::size_t count, std::vector<dsp::Iq>& out);

    std::vector<Path> paths_;
};

}  // namespace tidemill::dvbs2
