// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_TRANSMITTER_H
#define TIDEMILL_GR_TRANSMITTER_H

#include <memory>

#include <gnuradio/block.h>

namespace gr::tidemill {

//! Bytes of whole transport stream packets in, complex samples of a DVB-S2 signal out.
class GR_RUNTIME_API transmitter : virtual public block {
  public:
    using sptr = std::shared_ptr<transmitter>;

    //! `modcod` is a number from 1 to 28. Throws std::invalid_argument.
    static sptr make(int modcod, bool short_frames, bool pilots, double rolloff, int gold_code,
                     int samples_per_symbol);
};

}  // namespace gr::tidemill

#endif
