// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef TIDEMILL_GR_STREAM_H
#define TIDEMILL_GR_STREAM_H

#include <memory>
#include <string>

#include <gnuradio/block.h>

namespace gr::tidemill {

//! Any graph of Tidemill's between an inlet and an outlet, from a shared object: its elements in, its elements out.
class GR_RUNTIME_API stream : virtual public block {
  public:
    using sptr = std::shared_ptr<stream>;

    //! `library` makes its stream of `text` (see tidemill/c/plugin.h). Throws std::invalid_argument.
    static sptr make(const std::string& library, const std::string& text);
};

}  // namespace gr::tidemill

#endif
