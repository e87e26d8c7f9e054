// SPDX-License-Identifier: GPL-3.0-or-later
#include <pybind11/pybind11.h>
#include <tidemill_gr/receiver.h>
#include <tidemill_gr/stream.h>
#include <tidemill_gr/transmitter.h>

namespace py = pybind11;

PYBIND11_MODULE(gr_tidemill_python, module) {
    using namespace pybind11::literals;
    using gr::tidemill::receiver;
    using gr::tidemill::stream;
    using gr::tidemill::transmitter;
    py::module::import("gnuradio.gr");
    py::class_<receiver, gr::block, gr::basic_block, receiver::sptr>(module, "receiver")
        .def(py::init(&receiver::make), "sample_rate"_a, "symbol_rate"_a = 0., "rolloff"_a = 0.20,
             "gold_code"_a = 0, "threads"_a = 1, "symbols"_a = false,
             "A DVB-S2 receiver: complex samples in, bytes of transport stream packets out.\n\n"
             "A symbol rate of 0 is half the sample rate. Without threads the block's own receives. With "
             "symbols, each frame's are a message.");
    py::class_<stream, gr::block, gr::basic_block, stream::sptr>(module, "stream")
        .def(py::init(&stream::make), "library"_a, "text"_a = "",
             "Any graph between an inlet and an outlet, from a shared object, which makes it of the text.");
    py::class_<transmitter, gr::block, gr::basic_block, transmitter::sptr>(module, "transmitter")
        .def(py::init(&transmitter::make), "modcod"_a = 4, "short_frames"_a = false, "pilots"_a = false,
             "rolloff"_a = 0.20, "gold_code"_a = 0, "samples_per_symbol"_a = 2,
             "A DVB-S2 transmitter: bytes of whole packets in, complex samples out. MODCODs are numbers, 1 "
             "to 28.");
}
