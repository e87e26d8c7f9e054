// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_RECEIVER_H
#define TIDEMILL_GR_RECEIVER_H

#include <memory>

#include <gnuradio/block.h>

namespace gr::tidemill {

//! Complex samples of a DVB-S2 signal in, bytes of transport stream packets out; messages "status" and
//! "symbols".
class GR_RUNTIME_API receiver : virtual public block {
  public:
    using sptr = std::shared_ptr<receiver>;

    //! A symbol rate of 0 is half the sample rate. `threads` share the work; with 0 the block's own does it. Throws
    //! std::invalid_argument.
    static sptr make(double sample_rate, double symbol_rate, double rolloff, int gold_code, int threads,
                     bool symbols);
};

}  // namespace gr::tidemill

#endif
