#include "bindings/transceiver_binding.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/numpy.hpp"
#include "bindings/owned_array.hpp"
#include <nanobind/stl/string.h>

#include "tidemill/c/packet_queue.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

// The package sees to type and layout.
template <class T>
std::span<const T> elements_of(nb::handle array) {
    auto* const given = reinterpret_cast<PyArrayObject*>(array.ptr());
    return {static_cast<const T*>(PyArray_DATA(given)), static_cast<std::size_t>(PyArray_SIZE(given))};
}

dvbs2::StreamOutputs into(c::PacketQueue& packets) {
    return {.packets = [&packets](std::span<const std::uint8_t> some, std::uint8_t) { packets.put(some); }};
}

/// A receiver, and the packets that wait to be taken.
class PyReceiver {
  public:
    PyReceiver(double sample_rate_hz, double symbol_rate_hz, double rolloff, int gold_code,
               std::size_t threads, std::size_t waiting_packets)
        : packets_(waiting_packets),
          receiver_(std::make_unique<dvbs2::PushedReceiver>(
              dvbs2::PushedConfig{.sample_rate_hz = sample_rate_hz,
                                  .threads = threads,
                                  .on_end = [this] { packets_.close(); }},
              dvbs2::ReceiverConfig{
                  .symbol_rate_hz = symbol_rate_hz, .rolloff = rolloff, .gold_code = gold_code},
              dvbs2::RxOutputs{.streams = into(packets_)})) {}
    ~PyReceiver() {
        if (process_.is_other()) {  // its threads are not here, and would be waited for
            static_cast<void>(receiver_.release());
            return;
        }
        const Unlocked unlocked;
        packets_.disable_backpressure();
        receiver_.reset();
    }
    PyReceiver(const PyReceiver&) = delete;
    PyReceiver& operator=(const PyReceiver&) = delete;

    // An interruption of a wait ends the reception.
    void push(nb::handle samples) {
        process_.check("the receiver");
        auto left = std::as_bytes(elements_of<dsp::Iq>(samples));
        {
            const Unlocked unlocked;
            left = left.subspan(receiver_->try_push(left));
        }
        if (!left.empty()) interruptibly([&] { receiver_->push(left); });
    }

    nb::object take(std::size_t room) {
        process_.check("the receiver");
        std::vector<std::uint8_t> packets(room * io::kTsPacketBytes);
        std::size_t got = packets_.take(packets, /*waits=*/false);
        if (got == 0) interruptibly([&] { got = packets_.take(packets, /*waits=*/true); });
        packets.resize(got * io::kTsPacketBytes);
        return owned_array(std::move(packets), NPY_UINT8);
    }

    void end() { receiver_->end(); }

    void stop() {
        packets_.disable_backpressure();
        receiver_->stop();
    }

    nb::dict finish() {
        process_.check("the receiver");
        packets_.disable_backpressure();
        dvbs2::ReceptionReport report;
        interruptibly([&] { report = receiver_->finish(); });
        nb::dict told = describe(report);
        told["samples"] = report.samples;
        told["packets"] = report.packets.packets;
        told["packets_dropped"] = report.packets.packets_dropped;
        told["locks"] = report.sync.locks;
        return told;
    }

    nb::dict now() const { return describe(receiver_->now()); }

  private:
    template <class Job>
    void interruptibly(Job job) {
        std::stop_source stop;
        const std::stop_callback give_up(stop.get_token(), [this] {
            this->stop();
            packets_.close();
        });
        do_interruptibly(stop, job);
    }

    static nb::dict describe(const dvbs2::ReceptionNow& now) {
        nb::dict told;
        told["found"] = now.found;
        told["locked"] = now.locked;
        told["frames"] = now.totals.frames;
        told["frames_bad"] = now.totals.frames_bad;
        told["esn0_db"] =
            now.totals.frames_good() > 0 ? nb::object(nb::float_(now.totals.esn0_db())) : nb::none();
        told["modcod"] = modcod_of(now.totals.last_pls);
        told["frequency_hz"] = now.frequency_hz;
        told["symbol_rate_hz"] = now.symbol_rate_hz;
        told["clock_ppm"] = now.clock_ppm;
        return told;
    }

    static nb::object modcod_of(const std::optional<dvbs2::Pls>& pls) {
        const dvbs2::Modcod* const modcod = pls ? dvbs2::find_modcod(pls->modcod) : nullptr;
        return modcod ? nb::cast(cli::modcod_name(*modcod)) : nb::none();
    }

    ProcessOfThreads process_;
    c::PacketQueue packets_;
    std::unique_ptr<dvbs2::PushedReceiver> receiver_;
};

class PyTransmitter {
  public:
    PyTransmitter(const std::string& modcod, bool short_frames, bool pilots, double rolloff, int gold_code,
                  int samples_per_symbol)
        : transmitter_({.pls = {.modcod = cli::modcod_number_of(modcod),
                                .size = short_frames ? dvbs2::FrameSize::short_ : dvbs2::FrameSize::normal,
                                .pilots = pilots},
                        .gold_code = gold_code,
                        .rolloff = rolloff,
                        .samples_per_symbol = samples_per_symbol}) {}

    nb::object send(nb::handle packets) {
        const auto bytes = elements_of<std::uint8_t>(packets);
        std::vector<dsp::Iq> samples;
        {
            const Unlocked unlocked;
            transmitter_.transmit(bytes, samples);
        }
        return owned_array(std::move(samples), NPY_COMPLEX64);
    }

    nb::object finish() {
        std::vector<dsp::Iq> samples;
        transmitter_.finish(samples);
        return owned_array(std::move(samples), NPY_COMPLEX64);
    }

  private:
    dvbs2::Transmitter transmitter_;
};

}  // namespace

void bind_transceiver(nb::module_& module) {
    nb::class_<PyReceiver>(module, "PushedReceiver")
        .def(nb::init<double, double, double, int, std::size_t, std::size_t>(), nb::kw_only(),
             "sample_rate_hz"_a, "symbol_rate_hz"_a, "rolloff"_a, "gold_code"_a, "threads"_a,
             "waiting_packets"_a)
        .def("push", &PyReceiver::push, "samples"_a)
        .def("take", &PyReceiver::take, "room"_a)
        .def("end", &PyReceiver::end)
        .def("stop", &PyReceiver::stop)
        .def("finish", &PyReceiver::finish)
        .def("now", &PyReceiver::now);
    nb::class_<PyTransmitter>(module, "Transmitter")
        .def(nb::init<const std::string&, bool, bool, double, int, int>(), nb::kw_only(), "modcod"_a,
             "short_frames"_a, "pilots"_a, "rolloff"_a, "gold_code"_a, "samples_per_symbol"_a)
        .def("send", &PyTransmitter::send, "packets"_a)
        .def("finish", &PyTransmitter::finish);
}

}  // namespace tidemill::python
