#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/outputs/held_back_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plain_text.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/soapy_list.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

struct RadioListOptions {
    std::string which;
    bool json = false;
    bool verbose = false;
};

/// The radios that were found, or why there are none.
struct RadioList {
    io::FoundRadios found{};
    std::string nothing{};
};

// Modules write what they miss, most of it about radios that nobody has.
io::FoundRadios found_radios(const RadioListOptions& options) {
    if (options.verbose) return io::find_radios(io::SoapyLibrary::installed(), options.which);
    const HeldBackOutput held;
    return io::find_radios(io::SoapyLibrary::installed(), options.which);
}

RadioList listed_radios(const RadioListOptions& options) {
    RadioList list;
    try {
        list.found = found_radios(options);
    } catch (const io::IoError& error) {
        list.nothing = error.what();
        return list;
    }
    if (!list.found.radios.empty()) return list;
    if (list.found.modules.empty())
        list.nothing =
            "SoapySDR has no module for any radio: install one, such as soapysdr0.8-module-rtlsdr, or "
            "soapysdr0.8-module-all";
    else
        list.nothing =
            "no radio found: is it plugged in, has its module been installed (soapysdr0.8-module-...), "
            "and may this user open it (see docs/guides/radio.md)? --verbose shows what the modules write";
    return list;
}

Json ranges_json(const std::vector<io::RadioRange>& ranges) {
    Json json = Json::array();
    for (const auto& [least, most] : ranges) json.push_back(std::vector<double>{least, most});
    return json;
}

Json list_json(const RadioList& list) {
    Json radios = Json::array();
    for (const io::FoundRadio& radio : list.found.radios) {
        Json entry{{"place", radio.place},
                   {"label", radio.label},
                   {"receives", radio.receives},
                   {"sends", radio.sends},
                   {"rates_hz", ranges_json(radio.rates)},
                   {"frequencies_hz", ranges_json(radio.frequencies)},
                   {"gain_db", std::vector<double>{radio.gain_db.least, radio.gain_db.most}},
                   {"antennas", radio.antennas},
                   {"settings", radio.settings}};
        if (!radio.problem.empty()) entry["problem"] = radio.problem;
        radios.push_back(entry);
    }
    Json json{{"radios", radios}, {"modules", list.found.modules}};
    if (!list.nothing.empty()) json["nothing"] = list.nothing;
    return json;
}

std::string words_of(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += " " + word;
    return text;
}

std::string abilities(const io::FoundRadio& radio) {
    if (!radio.problem.empty()) return radio.problem;
    std::string text = radio.receives && radio.sends ? "receives and sends"
                       : radio.sends                 ? "sends"
                                                     : "receives";
    constexpr double kMega = 1e-6;
    if (!radio.rates.empty()) text += fmt::format("; {} MS/s", io::ranges_text(radio.rates, kMega));
    if (!radio.frequencies.empty())
        text += fmt::format("; {} MHz", io::ranges_text(radio.frequencies, kMega));
    if (radio.gain_db.most > radio.gain_db.least)
        text += fmt::format("; gain {} dB", io::ranges_text({radio.gain_db}, 1));
    if (!radio.antennas.empty()) text += "; --antenna" + words_of(radio.antennas);
    if (!radio.settings.empty()) text += "; --setting" + words_of(radio.settings);
    return text;
}

// Everything in it may come from a device.
std::string list_text(const RadioList& list) {
    std::string text;
    for (const io::FoundRadio& radio : list.found.radios)
        text += fmt::format("{:<32} {}\n    {}\n", plain_line(radio.place), plain_line(radio.label),
                            plain_line(abilities(radio)));
    return text;
}

int run_radio(const RadioListOptions& options) {
    const RadioList list = listed_radios(options);
    if (options.json) print("{}", to_text(list_json(list), 2) + "\n");
    if (!list.nothing.empty() && !options.json) throw JobFailed(list.nothing);
    if (!options.json) print("{}", list_text(list));
    return list.nothing.empty() ? kDone : kJobFailed;
}

}  // namespace

void add_radio(Verb& program) {
    auto options = std::make_shared<RadioListOptions>();
    Verb& verb = program.verb("radio", "List the radios that SoapySDR finds, and what they can do");
    verb.footer(fmt::format("Example: {} radio driver=rtlsdr", program.name()));
    verb.option("which", options->which, "Only these, as SoapySDR writes it: driver=rtlsdr");
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.flag("--verbose", options->verbose, "Show what SoapySDR's modules write while they look");
    verb.does([options] { return run_radio(*options); });
}

}  // namespace tidemill::cli
