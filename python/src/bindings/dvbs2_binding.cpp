#include "bindings/dvbs2_binding.hpp"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/json_object.hpp"
#include "bindings/owned_array.hpp"
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "tidemill/apps/ber/ber_job.hpp"
#include "tidemill/apps/reception/rx_job.hpp"
#include "tidemill/apps/reception/rx_report.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/dsp/instruction_set.hpp"
#include "tidemill/dvbs2/ber/proportion.hpp"
#include "tidemill/dvbs2/receiver/constellation_tap.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/dvbs2/streams/stream_sorter.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

/// Data that a reception keeps for Python beside its report: without a copy, they become arrays.
struct Kept {
    std::vector<std::uint8_t> packets{};
    std::vector<float> esn0_db{};
    std::vector<float> margin_db{};
    std::vector<std::uint8_t> good{};
    std::vector<std::int32_t> ldpc_iterations{};
    std::vector<std::uint64_t> start{};
    std::vector<std::int32_t> symbols{};
    std::vector<std::uint8_t> pls_code{};
    std::vector<std::uint8_t> gap{};
    std::vector<std::uint64_t> bbframe_bytes{};
    std::vector<std::uint8_t> bbframes{};  // of the good ones, one behind the other
};

void keep_frame(const dvbs2::ReceivedFrame& frame, Kept& kept) {
    kept.esn0_db.push_back(frame.esn0_db);
    const auto* const modcod = dvbs2::find_modcod(frame.info.pls.modcod);
    kept.margin_db.push_back(frame.esn0_db - static_cast<float>(modcod->esn0_threshold_db));
    kept.good.push_back(frame.good ? 1 : 0);
    kept.ldpc_iterations.push_back(frame.ldpc_iterations);
}

// Where a frame was, and what it held: for a reader that puts parts of a reception together.
void keep_place(const dvbs2::ReceivedFrame& frame, Kept& kept) {
    kept.start.push_back(frame.info.start);
    kept.symbols.push_back(frame.info.symbols);
    kept.pls_code.push_back(static_cast<std::uint8_t>(frame.info.pls.code()));
    kept.gap.push_back(frame.gap ? 1 : 0);
    const auto bbframe = frame.good ? frame.bbframe : std::span<const std::uint8_t>();
    kept.bbframe_bytes.push_back(bbframe.size());
    kept.bbframes.insert(kept.bbframes.end(), bbframe.begin(), bbframe.end());
}

void keep_all_in(Kept& kept, cli::RxOptions& options) {
    options.outputs.also.streams.packets = [&kept](auto packets, std::uint8_t) {
        kept.packets.insert(kept.packets.end(), packets.begin(), packets.end());
    };
    options.outputs.also.frames = [&kept](const dvbs2::ReceivedFrame& frame) { keep_frame(frame, kept); };
}

nb::dict arrays_of(Kept kept) {
    nb::dict arrays;
    arrays["packets"] = owned_array(std::move(kept.packets), NPY_UINT8);
    arrays["frame_esn0_db"] = owned_array(std::move(kept.esn0_db), NPY_FLOAT32);
    arrays["frame_margin_db"] = owned_array(std::move(kept.margin_db), NPY_FLOAT32);
    arrays["frame_good"] = owned_array(std::move(kept.good), NPY_BOOL);
    arrays["frame_ldpc_iterations"] = owned_array(std::move(kept.ldpc_iterations), NPY_INT32);
    return arrays;
}

// A caller gets a whole value or none: the failure that ended the reception is thrown.
cli::RxOutcome whole_reception(const cli::RxOptions& options) {
    cli::RxOutcome outcome = cli::receive(options);
    if (outcome.failure) std::rethrow_exception(outcome.failure);
    return outcome;
}

// Report, text, and arrays; throws what the verb would end with.
nb::tuple receive(cli::RxOptions options, std::uint64_t constellation_frames) {
    Kept kept;
    keep_all_in(kept, options);
    dvbs2::ConstellationTap tap(constellation_frames);
    if (constellation_frames > 0) options.run.observers.push_back(&tap);
    std::stop_source stop;
    options.reception.stop = options.run.running.stop = stop.get_token();
    std::optional<cli::RxOutcome> outcome;
    do_interruptibly(stop, [&] {
        outcome = whole_reception(options);
        if (!outcome->received()) throw cli::JobFailed(cli::failure_text(*outcome));
    });
    nb::dict arrays = arrays_of(std::move(kept));
    arrays["constellation"] = owned_array(tap.symbols(), NPY_COMPLEX64);
    return nb::make_tuple(to_dict(parse_json(cli::report_json(*outcome), "the report")),
                          cli::report_text(*outcome, false), arrays);
}

// A part of a recording in order on this thread: its report, and its frames as arrays.
nb::tuple receive_part(cli::RxOptions options) {
    Kept kept;
    options.outputs.also.frames = [&kept](const dvbs2::ReceivedFrame& frame) {
        keep_frame(frame, kept);
        keep_place(frame, kept);
    };
    std::stop_source stop;
    options.reception.stop = options.run.running.stop = stop.get_token();
    options.run.running.how.executor = ExecutorKind::sequence;
    std::optional<cli::RxOutcome> outcome;
    do_interruptibly(stop, [&] { outcome = whole_reception(options); });
    nb::dict frames;
    frames["start"] = owned_array(std::move(kept.start), NPY_UINT64);
    frames["symbols"] = owned_array(std::move(kept.symbols), NPY_INT32);
    frames["pls_code"] = owned_array(std::move(kept.pls_code), NPY_UINT8);
    frames["gap"] = owned_array(std::move(kept.gap), NPY_BOOL);
    frames["good"] = owned_array(std::move(kept.good), NPY_BOOL);
    frames["bbframe_bytes"] = owned_array(std::move(kept.bbframe_bytes), NPY_UINT64);
    frames["bbframes"] = owned_array(std::move(kept.bbframes), NPY_UINT8);
    return nb::make_tuple(to_dict(parse_json(cli::report_json(*outcome), "the report")), frames);
}

/// BBFRAMEs in order to the packets of a transport stream: the first input stream's.
class PacketSorter {
  public:
    void push(const nb::bytes& bbframe) {
        if (bbframe.size() < dvbs2::kBbHeaderBytes)
            throw cli::WrongUsage("a BBFRAME has a header of 10 bytes at least");
        sorter_.push({reinterpret_cast<const std::uint8_t*>(bbframe.c_str()), bbframe.size()});
    }
    void lose() { sorter_.lose(); }
    void finish() { sorter_.finish(); }
    nb::bytes take() {
        const std::vector<std::uint8_t> taken = std::exchange(packets_, {});
        return nb::bytes(taken.data(), taken.size());
    }

  private:
    std::vector<std::uint8_t> packets_;
    dvbs2::StreamSorter sorter_{{}, {.packets = [this](auto packets, std::uint8_t) {
                                    packets_.insert(packets_.end(), packets.begin(), packets.end());
                                }}};
};

// Facts of a recording before it is received, its searches done.
nb::dict examine(cli::ReceptionOptions options) {
    std::stop_source stop;
    options.stop = stop.get_token();
    cli::ReceptionJob job;
    do_interruptibly(stop, [&] { job = cli::prepare(options); });
    if (job.stream) throw cli::WrongUsage(options.recording + " streams in: give a file");
    nb::dict known;
    known["samples"] = job.recording.samples;
    known["sample_rate_hz"] = *job.recording.sample_rate_hz;
    known["symbol_rate_hz"] = job.config.symbol_rate_hz;
    known["rolloff"] = job.config.rolloff;
    known["gold_code"] = job.config.gold_code;
    known["offset_hz"] = job.tuning ? nb::cast(job.config.tuned_hz) : nb::none();
    return known;
}

ExecutorKind executor_of(const std::string& name) {
    for (const ExecutorKind executor : {ExecutorKind::automatic, ExecutorKind::pipeline,
                                        ExecutorKind::sequence, ExecutorKind::threads, ExecutorKind::dynamic})
        if (name == to_string(executor)) return executor;
    throw cli::WrongUsage("executor '" + name + "': give auto, pipeline, sequence, threads or dynamic");
}

// A number, or "auto".
template <class T>
cli::OrAuto<T> or_auto(const char* name, const nb::object& given) {
    if (nb::isinstance<nb::str>(given) && nb::cast<std::string>(given) == "auto") return {};
    T value{};
    if (nb::try_cast(given, value)) return {value};
    throw cli::WrongUsage(fmt::format("{}={}: give a number or 'auto'", name, nb::repr(given).c_str()));
}

cli::ReceptionOptions reception_options(const std::string& recording, std::optional<std::string> format,
                                        std::optional<double> sample_rate_hz,
                                        const nb::object& symbol_rate_hz, std::optional<double> offset_hz,
                                        const nb::object& rolloff, const nb::object& gold_code) {
    cli::ReceptionOptions options;
    options.recording = recording;
    if (format) options.format = cli::sample_format_of(*format);
    options.sample_rate_hz = sample_rate_hz;
    if (!symbol_rate_hz.is_none()) options.symbol_rate_hz = or_auto<double>("symbol_rate_hz", symbol_rate_hz);
    options.offset_hz = offset_hz;
    options.rolloff = or_auto<double>("rolloff", rolloff);
    options.gold_code = or_auto<int>("gold_code", gold_code);
    return options;
}

Profile profile_receiver(cli::ReceptionOptions options, double seconds) {
    cli::ReceptionProfile found;
    do_up_to_interruption([&] {
        options.stop = interruption();
        found = cli::profile_reception(cli::prepare(options), Topology::here(), {.seconds = seconds});
        if (found.info_bits_per_block == 0) {
            throw cli::JobFailed(
                "nothing was received, so the later tasks have no weight: check with "
                "tidemill.dvbs2.receive()");
        }
    });
    return found.profile;
}

nb::dict count_errors(cli::BerOptions options) {
    std::stop_source stop;
    options.stop = stop.get_token();
    std::vector<cli::BerResult> results;
    do_interruptibly(stop, [&] { results = cli::count_errors(options); });
    return to_dict(cli::to_json(cli::ber_table(options, results)));
}

nb::list published_rates(const std::string& modcod, const std::string& frame) {
    const auto size = frame == "short" ? dvbs2::FrameSize::short_ : dvbs2::FrameSize::normal;
    const dvbs2::Pls pls{cli::modcod_number_of(modcod), size, false};
    nb::list rates;
    for (const auto& rate : cli::published_rates(pls.modcod, pls.size)) {
        nb::dict row;
        row["who"] = nb::cast(std::string(cli::kPublishedBy));
        row["ebn0_db"] = rate.ebn0_db;
        row["esn0_db"] = rate.ebn0_db + cli::bits_per_symbol_db(pls);
        row["frame_error_rate"] = rate.frame_error_rate;
        rates.append(row);
    }
    return rates;
}

dvbs2::FrameSize frame_size_of(const std::string& name) {
    for (const auto& [word, size] : cli::frame_size_words())
        if (word == name) return size;
    throw cli::WrongUsage("frame '" + name + "': give normal or short");
}

void bind_ber(nb::module_& module) {
    nb::class_<cli::BerOptions>(module, "BerOptions")
        .def(
            "__init__",
            [](cli::BerOptions* self, const std::vector<std::string>& modcods, const std::string& frame,
               std::vector<double> esn0_db, std::vector<double> ebn0_db, std::vector<double> margin_db,
               std::uint64_t frames, std::uint64_t errors, int iterations, int threads, std::uint64_t seed,
               bool full, bool pilots, std::uint64_t first_frame, std::uint64_t burst,
               const std::string& target) {
                cli::BerOptions options;
                options.frame = frame_size_of(frame);
                options.pilots = pilots;
                for (const std::string& modcod : modcods)
                    options.modcods.push_back(cli::modcod_number_of(modcod));
                options.esn0_db = std::move(esn0_db);
                options.ebn0_db = std::move(ebn0_db);
                options.margin_db = std::move(margin_db);
                options.is_full = full;
                options.limits = {frames, errors};
                options.iterations = iterations;
                options.threads = threads;
                options.seed = seed;
                options.first_frame = first_frame;
                options.full_sync.frames_per_burst = burst;
                options.target = target;
                new (self) cli::BerOptions(std::move(options));
            },
            nb::kw_only(), "modcods"_a, "frame"_a, "esn0_db"_a, "ebn0_db"_a, "margin_db"_a, "frames"_a,
            "errors"_a, "iterations"_a, "threads"_a, "seed"_a, "full"_a, "pilots"_a, "first_frame"_a,
            "burst"_a, "target"_a);
    module.def("count_errors", &count_errors, "options"_a);
    module.def("published_rates", &published_rates, "modcod"_a, "frame"_a);
    module.def("instruction_sets", &dsp::instruction_sets);
    module.def("number_list", &cli::number_list, "text"_a, "name"_a);
    module.def(
        "modcod_name", [](const std::string& text) { return cli::modcod_name(cli::modcod_of(text)); },
        "text"_a);
    module.def("modcods", [] {
        std::vector<std::string> names;
        for (const dvbs2::Modcod& modcod : dvbs2::all_modcods()) names.push_back(cli::modcod_name(modcod));
        return names;
    });
    module.def(
        "proportion_interval",
        [](std::uint64_t events, std::uint64_t trials) {
            const dvbs2::Interval interval = dvbs2::proportion_interval(events, trials);
            return std::pair(interval.low, interval.high);
        },
        "events"_a, "trials"_a);
}

}  // namespace

void bind_dvbs2(nb::module_& module) {
    nb::class_<cli::ReceptionOptions>(module, "ReceptionOptions")
        .def(
            "__init__",
            [](cli::ReceptionOptions* self, const std::filesystem::path& recording,
               std::optional<std::string> format, std::optional<double> sample_rate_hz,
               nb::object symbol_rate_hz, std::optional<double> offset_hz, nb::object rolloff,
               nb::object gold_code) {
                new (self) cli::ReceptionOptions(reception_options(
                    recording.string(), std::move(format), sample_rate_hz, std::move(symbol_rate_hz),
                    offset_hz, std::move(rolloff), std::move(gold_code)));
            },
            "recording"_a, nb::kw_only(), "format"_a.none(), "sample_rate_hz"_a.none(),
            "symbol_rate_hz"_a.none(), "offset_hz"_a.none(), "rolloff"_a, "gold_code"_a);
    module.def(
        "receive",
        [](const cli::ReceptionOptions& reception, std::uint64_t constellation_frames,
           const std::optional<std::string>& executor, const std::optional<Schedule>& schedule,
           double profile_s, const std::string& output) {
            cli::RxOptions options;
            options.reception = reception;
            if (executor) options.run.running.how.executor = executor_of(*executor);
            options.run.running.how.schedule = schedule;
            options.run.running.how.profile_s = profile_s;
            if (!output.empty()) options.outputs.packets = {output};
            return receive(std::move(options), constellation_frames);
        },
        "reception"_a, nb::kw_only(), "constellation_frames"_a, "executor"_a.none(), "schedule"_a.none(),
        "profile_s"_a, "output"_a);
    module.def(
        "receive_part",
        [](const cli::ReceptionOptions& reception, std::uint64_t first, std::uint64_t count) {
            cli::RxOptions options;
            options.reception = reception;
            options.reception.part = cli::RecordingPart{first, count};
            return receive_part(std::move(options));
        },
        "reception"_a, nb::kw_only(), "first"_a, "count"_a);
    module.def("examine", &examine, "reception"_a);
    nb::class_<PacketSorter>(module, "PacketSorter", "BBFRAMEs in order to transport stream packets.")
        .def(nb::init<>())
        .def("push", &PacketSorter::push, "bbframe"_a, nb::lock_self())
        .def("lose", &PacketSorter::lose, nb::lock_self())
        .def("finish", &PacketSorter::finish, nb::lock_self())
        .def("take", &PacketSorter::take, nb::lock_self());
    module.def("profile_receiver", &profile_receiver, "reception"_a, nb::kw_only(), "seconds"_a);
    bind_ber(module);
}

}  // namespace tidemill::python
