#include "tidemill/options/places.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/shell.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
namespace fs = std::filesystem;

// A folder with one of each input, links to them, and what it must still hold afterwards.
class Inputs {
  public:
    Inputs() {
        const SmallRecording& small = small_recording();
        folder_.put("rec.sigmf-meta", small.metadata());
        folder_.put("rec.sigmf-data", small.bytes());
        folder_.put("raw.ci8", small.bytes());
        folder_.put("b.ts", small.packets);
        folder_.put("p.json", R"({"tasks": [{"name": "a", "weight": {"big": 1}}]})");
        fs::create_hard_link(folder_ / "b.ts", folder_ / "hard.sigmf-data");
        folder_.put("raw.isi3.ci8", small.bytes());
        folder_.put("raw.c2.ci8", small.bytes());
        fs::create_symlink("raw.ci8", folder_ / "soft");
        fs::create_symlink("new", folder_ / "to-new");
        before_ = contents();
    }

    bool unchanged() const { return contents() == before_; }

    int run(const std::string& line) const {
        return run_shell(fmt::format("cd {} && $tidemill {}", (folder_ / "").string(), line));
    }

  private:
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> all;
        for (const auto& file : fs::directory_iterator(folder_ / ""))
            if (file.path().filename() != "log") all[file.path()] = ScratchFolder::content_of(file.path());
        return all;
    }

    ScratchFolder folder_;
    std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE(
    "places: two outputs in one place, or an output that is an input, are refused and nothing is touched") {
    const Inputs inputs;
    const std::vector<std::string> lines = {
        "dvbs2 rx rec.sigmf-meta -o - --status -",
        "dvbs2 rx rec.sigmf-meta -o - --bbframes -",
        "dvbs2 rx rec.sigmf-meta -o a --bbframes a",
        "dvbs2 rx rec.sigmf-meta -o a --generic ./a",
        "dvbs2 rx rec.sigmf-meta -o a --trace $PWD/a",
        "dvbs2 rx rec.sigmf-meta -o new --status to-new",
        "dvbs2 rx rec.sigmf-meta -o udp://127.0.0.1:65400 --bbframes udp://127.0.0.1:65400",
        "dvbs2 rx rec.sigmf-meta -o rec.sigmf-meta",
        "dvbs2 rx rec.sigmf-meta -o rec.sigmf-data",
        "dvbs2 rx rec -o rec.sigmf-data",
        "dvbs2 rx raw.ci8 --rate 2e6 --trace raw.ci8",
        "dvbs2 rx raw.isi3.ci8 --rate 2e6 -o raw.ci8 --isi all",
        "dvbs2 rx rec.sigmf-meta -o a.ts --isi all --bbframes a.isi255.ts",
        "dvbs2 rx raw.c2.ci8 --rate 2e6 -o raw.ci8 --carrier all",
        "dvbs2 rx rec.sigmf-meta -o a.ts --carrier all --report a.c1.ts",
        "dvbs2 rx rec.sigmf-meta -o a.ts --carrier all --isi all --status a.c12.isi255.ts",
        "dvbs2 rx rec.sigmf-meta -o udp://127.0.0.1:65400 --carrier all --generic udp://127.0.0.1:65402",
        "dvbs2 rx rec.sigmf-meta -o udp://127.0.0.1:65400 --isi all --generic udp://127.0.0.1:65402",
        "dvbs2 rx raw.ci8 --rate 2e6 --status soft",
        "dvbs2 rx rec.sigmf-meta -o a.svg --graph a.svg",
        "dvbs2 rx rec.sigmf-meta -o log 2>>log",
        "dvbs2 rx rec.sigmf-meta -o log >>log",
        "dvbs2 tx b.ts -o s --packets-output b.ts",
        "dvbs2 tx b.ts -o hard",
        "dvbs2 tx --stream 1=b.ts -o hard",
        "dvbs2 tx b.ts -o s.cf32 --packets-output s.cf32",
        "dvbs2 tx b.ts -o s --packets-output s.sigmf-data",
        "dvbs2 tx - -o raw.ci8 <raw.ci8",
        "dvbs2 channel rec.sigmf-meta -o rec",
        "dvbs2 channel raw.ci8 -o ./raw.ci8",
        "dvbs2 ber --csv a --state a",
        "schedule p.json --cores big=1 -o p.json",
        "profile rec.sigmf-meta -o rec.sigmf-data",
    };
    for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(inputs.run(line) == 2);
    }
    CHECK(inputs.unchanged());
}

TEST_CASE("places: devices may be shared, and a file may be read twice") {
    const Inputs inputs;
    CHECK(inputs.run("dvbs2 rx rec.sigmf-meta --executor sequence -o /dev/null --bbframes /dev/null "
                     ">/dev/null 2>&1") == 0);
    CHECK(inputs.run("dvbs2 tx --stream 1=b.ts --stream 2=b.ts -o - >/dev/null 2>&1") == 0);
    CHECK(inputs.unchanged());
}

TEST_CASE("places: an address of a kind that an option does not take is wrong usage, and no file is made") {
    const Inputs inputs;
    const std::string rx = "dvbs2 rx raw.ci8 --sample-rate 2M ";
    const std::pair<std::string, std::string> outputs[] = {
        {rx + "-o", "udp rtp tcp-listen"},
        {rx + "--bbframes", "udp rtp tcp-listen"},
        {rx + "--generic", "udp rtp tcp-listen"},
        {rx + "--ip-out", "tun"},
        {rx + "--status", ""},
        {rx + "--report", ""},
        {"dvbs2 channel raw.ci8 --sample-rate 2M -o", "vita49"},
        {"dvbs2 tx b.ts -o", "vita49"},
        {"schedule p.json --cores big=1 -o", ""},
    };
    for (const auto& [line, taken] : outputs)
        for (const std::string place : {"udp://127.0.0.1:4", "rtp://127.0.0.1:4", "tcp-listen://127.0.0.1:4",
                                        "vita49://127.0.0.1:4", "tun:x", "http://a", "ftp://x/y"}) {
            if (taken.find(place.substr(0, place.find(':'))) != std::string::npos) continue;
            const std::string call = fmt::format("{} {}", line, place);
            CAPTURE(call);
            CHECK(inputs.run(call) == kWrongUsage);
            CHECK(inputs.unchanged());
        }
}

TEST_CASE("places: a file that an option reads and cannot use is unusable input, whatever it is for") {
    const Inputs inputs;
    for (const char* line :
         {"dvbs2 rx raw.ci8 --sample-rate 2M --symbol-rate 1M --doppler b.ts -o out.ts",
          "dvbs2 rx raw.ci8 --sample-rate 2M --symbol-rate 1M --doppler none -o out.ts",
          "dvbs2 rx raw.ci8 --sample-rate 2M --page auto --page-password-file none -o out.ts"}) {
        CAPTURE(line);
        CHECK(inputs.run(line) == kUnusableInput);
        CHECK(inputs.unchanged());
    }
}

}  // namespace tidemill::cli
