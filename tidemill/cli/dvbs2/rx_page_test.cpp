// The page of a reception, asked as browsers and programs ask it.
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/apps/reception/page/rx_views.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;

std::vector<std::string> rx_with(const std::vector<std::string>& more) {
    std::vector<std::string> words{"dvbs2",      "rx",      small_recording().meta, "-o", "/dev/null",
                                   "--executor", "sequence"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// The data in a report.
nlohmann::json recorded_in(const std::string& page) {
    const std::string begin = "id=\"recorded\">";
    const std::size_t from = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

// Built without a page, the program says so, and that is all there is to see.
bool is_built(const Ended& ended) {
    return !says(ended.err, "was built without its page");
}

}  // namespace

TEST_CASE("rx --page: for others than this machine it is refused without a password, and without a name") {
    unsetenv("TIDEMILL_PAGE_PASSWORD");
    const Ended open = run_program(rx_with({"--page", "0.0.0.0"}));
    CHECK(open.status == 2);
    CHECK(says(open.err, "--page-password-file"));
    const ScratchFolder folder;
    folder.put("secret", "correct horse\n");
    const Ended nameless =
        run_program(rx_with({"--page", "0.0.0.0", "--page-password-file", folder / "secret"}));
    CHECK(nameless.status == 2);
    CHECK(says(nameless.err, "--page-host"));
    const Ended no_folder = run_program(rx_with({"--page", "--page-dir", folder / "missing"}));
    CHECK(no_folder.status == 1);
    CHECK(says(no_folder.err, "there is no such folder"));
}

TEST_CASE("rx --page: its address has a token, unless nothing can be changed") {
    const Ended here = run_program(rx_with({"--page"}));
    if (!is_built(here)) return;
    CHECK(here.status == 0);
    CHECK(says(here.err, "look       http://127.0.0.1:8"));
    CHECK(says(here.err, "/#"));
    setenv("TIDEMILL_PAGE_PASSWORD", "correct horse", 1);
    const std::vector<std::string> elsewhere{"--page", "0.0.0.0", "--page-host", "radio.local"};
    const Ended there = run_program(rx_with(elsewhere));
    CHECK(says(there.err, "look       http://radio.local:8"));
    CHECK_FALSE(says(there.err, "/#"));
    std::vector<std::string> control = elsewhere;
    control.emplace_back("--page-control");
    CHECK(says(run_program(rx_with(control)).err, "/#"));
    unsetenv("TIDEMILL_PAGE_PASSWORD");
}

TEST_CASE("rx --report: the whole run is in one file, also of a recording that is over at once") {
    const ScratchFolder folder;
    CHECK(run_program(rx_with({"--report", folder / "run.html"})).status == 0);
    const std::string page = ScratchFolder::content_of(folder / "run.html");
    CHECK(says(page, "id=\"recorded\""));
    CHECK(says(page, "\"modcods\":{\"QPSK 8/9 short pilots\":"));
    CHECK(says(page, "\"moments\":[{"));
    CHECK(run_program(rx_with({"--report", "/nowhere/run.html"})).status == 1);
}

TEST_CASE(
    "rx --report: of a recording its time is that of the samples, and each view has something to show") {
    const double recorded_s = static_cast<double>(small_recording().samples) / 2e6;
    for (const char* executor : {"sequence", "pipeline"}) {
        CAPTURE(executor);
        const ScratchFolder folder;
        const Ended ended =
            run_program({"dvbs2", "rx", small_recording().meta, "-o", "/dev/null", "--executor", executor,
                         "--profile-seconds", "0.01", "--report", folder / "run.html"});
        REQUIRE_MESSAGE(ended.status == 0, ended.err);
        const auto whole = recorded_in(ScratchFolder::content_of(folder / "run.html"));
        const auto& run = whole["runs"][0];
        CHECK(run["status"]["time_s"].get<double>() == doctest::Approx(recorded_s));
        CHECK(run["status"]["frames"].get<int>() >= 40);
        CHECK(run["moments"].size() > 3);
        double before_s = 0;
        int frames = 0;
        for (const auto& moment : run["moments"]) {
            CHECK(moment["time_s"].get<double>() >= before_s);
            before_s = moment["time_s"].get<double>();
            frames += moment["frames"].get<int>();
        }
        CHECK(before_s == doctest::Approx(recorded_s).epsilon(0.01));
        CHECK(frames == run["status"]["frames"].get<int>());
        CHECK(run["waterfall"].size() > 2);
        for (const char* view : {"eye", "constellation", "turned", "spectrum_db"}) {
            CAPTURE(view);
            CHECK_FALSE(run[view].empty());
        }
        REQUIRE_FALSE(whole["stages"].empty());
        for (const auto& stage : whole["stages"]) CHECK(stage["threads"].get<int>() >= 1);
    }
}

TEST_CASE("rx --report: a disk that is full is told behind the account of what was received") {
    const Ended ended = run_program(rx_with({"--report", "/dev/full"}));
    CHECK(ended.status == 1);
    CHECK(says(ended.err, "No space left"));
    CHECK(says(ended.out, "bad frames"));
}

TEST_CASE("rx --report: a file that could not be written to its end is not left") {
    const ScratchFolder folder;
    const std::string call = fmt::format(
        "trap '' XFSZ; ulimit -f 20; exec '{}' dvbs2 rx '{}' --executor sequence --report '{}' >'{}' 2>'{}'",
        program_path(), small_recording().meta, (folder / "run.html").string(), (folder / "out").string(),
        (folder / "log").string());
    CHECK(WEXITSTATUS(std::system(call.c_str())) == 1);
    CHECK(says(ScratchFolder::content_of(folder / "log"), "File too large"));
    CHECK(says(ScratchFolder::content_of(folder / "out"), "bad frames"));
    CHECK_FALSE(std::filesystem::exists(folder / "run.html"));
}

TEST_CASE("metrics: what comes off the air is a label that ends no line and commands no terminal") {
    CHECK(label_text("plain") == "plain");
    CHECK(label_text("a\"b\\c") == "a\\\"b\\\\c");
    CHECK(label_text("\x1b[31m\n") == "\\\\x1b[31m\\\\x0a");
    const Json status{{"frames", 3}, {"esn0_db", 7.5}, {"modcod", "QPSK"}, {"lock", true}};
    CHECK(metrics_text({{.status = status}}, 2) ==
          "# TYPE tidemill_rx_frames_total counter\ntidemill_rx_frames_total 3\n"
          "# TYPE tidemill_rx_esn0_db gauge\ntidemill_rx_esn0_db 7.5\n"
          "# TYPE tidemill_rx_lock gauge\ntidemill_rx_lock 1\n"
          "# TYPE tidemill_rx_viewers gauge\ntidemill_rx_viewers 2\n");
}

TEST_CASE("metrics: of several carriers each has a label, and a name one type") {
    CHECK(metrics_text(
              {{.carrier = 1, .status = Json{{"frames", 3}}},
               {.carrier = 3, .status = Json{{"frames", 4}}, .services = {{.number = 7, .packets = 9}}}},
              0) ==
          "# TYPE tidemill_rx_frames_total counter\n"
          "tidemill_rx_frames_total{carrier=\"1\"} 3\ntidemill_rx_frames_total{carrier=\"3\"} 4\n"
          "# TYPE tidemill_rx_service_packets_total counter\n"
          "tidemill_rx_service_packets_total{carrier=\"3\",service=\"7\"} 9\n"
          "# TYPE tidemill_rx_service_info gauge\n"
          "tidemill_rx_service_info{carrier=\"3\",service=\"7\",name=\"\"} 1\n"
          "# TYPE tidemill_rx_viewers gauge\ntidemill_rx_viewers 0\n");
}

TEST_CASE("metrics: services that never stop coming with other numbers make a bounded number of series") {
    CountedServices counted;
    std::set<int> told;
    for (int number = 1; number < 5000; ++number)
        for (const io::TsService& service : counted.among({{.number = 1}, {.number = number}}))
            told.insert(service.number);
    CHECK(told.size() == CountedServices::kMost);
    CHECK(counted.among({{.number = 1}, {.number = 4999}}).size() == 1);
}

TEST_CASE("waterfall: however long it grows, each row is whole, and the first stays") {
    Waterfall waterfall;
    for (int row = 0; row < 5000; ++row) {
        waterfall.add(std::vector(2, row == 0 ? std::byte{7} : std::byte{0}));
        for (const Waterfall::Row& kept : waterfall.rows()) REQUIRE(kept.size() == 2);
    }
    CHECK(waterfall.rows().size() < Waterfall::kMostRows);
    CHECK(waterfall.rows().front() == std::vector(2, std::byte{7}));
}

}  // namespace tidemill::cli
