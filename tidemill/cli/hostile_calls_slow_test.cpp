#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tidemill/cli/verbs.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/small_recording.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A short job of each verb, so that a value which it should refuse, and does not, is found out by the result.
// In a folder with the files below; what is written there is called "out".
const std::map<std::string, Words> kSmallJobs = {
    {"topo", {}},
    {"profile", {"rec.sigmf-meta", "--seconds", "0.01"}},
    {"schedule", {"chain.json", "--cores", "big=1"}},
    {"pareto", {"chain.json", "--cores", "big=1", "--watts", "big=1"}},
    {"calibrate", {"--seconds", "0.01"}},
    {"simulate", {"schedule.json", "--profile", "chain.json", "--frames", "10"}},
    {"rehearse", {"chain.json", "--cores", "big=1", "--frames", "3"}},
    {"tasks", {"fm", "--simulate", "--iterations", "1"}},
    {"dvbs2 profile", {"rec.sigmf-meta", "--seconds", "0.01"}},
    {"dvbs2 tx", {"b.ts", "-o", "out.sigmf-meta", "--frame", "short", "--seconds", "0.1"}},
    {"dvbs2 channel", {"rec.sigmf-meta", "-o", "out.sigmf-meta"}},
    {"dvbs2 scan", {"rec.sigmf-meta"}},
    {"dvbs2 ber", {"--modcod", "QPSK 8/9", "--frame", "short", "--frames", "1", "--threads", "1"}},
    {"dvbs2 rx", {"rec.sigmf-meta", "--executor", "sequence"}},
    {"bridge run", {"--pid", "999999999", "--seconds", "0.1", "--dry-run"}},
    {"bridge status", {"--name", "hostile"}},
    {"radio", {"driver=nothing"}},
    {"reproduce", {}},
    {"bench", {"nothing"}},
};

// One call, with what is known of how it has to end.
struct Call {
    Words words;
    std::string names;  // what the message must name; empty: nothing in particular
    bool is_usage;      // wrong usage, and nothing else; otherwise any end that the convention knows
};

Words without(Words words, const Option& option) {
    for (const std::string& name : {option.name(), option.names.substr(0, option.names.find(','))}) {
        const auto found = std::ranges::find(words, name);
        if (found != words.end()) words.erase(found, found + 2);
    }
    return words;
}

bool is_number(const Option& option) {
    return option.kind == Kind::whole || option.kind == Kind::real || option.kind == Kind::seconds;
}

Words bad_values(const Option& option) {
    if (option.is_input())
        return {"missing",
                "folder",
                "empty",
                "garbage",
                "/dev/null",
                "/dev/full",
                "unreadable",
                "1=missing",
                "\x1b[2J",
                " ",
                std::string(5000, 'x'),
                std::string(200, 'x') + ".sigmf-meta"};
    if (option.is_output())
        return {"/nowhere/out", "folder", "/dev/full", "/dev/null/out", "b.ts/out", std::string(5000, 'x')};
    if (is_number(option))
        return {"nan",
                "inf",
                "-inf",
                "1e400",
                "1e308",
                "-1e308",
                "-1",
                "0",
                "text",
                "1x",
                " ",
                " 1",
                "k",
                "0x",
                "9223372036854775808",
                "18446744073709551616",
                "1" + std::string(400, '0'),
                "\x1b[2J",
                "１"};
    return {"nonsense", "nan", std::string(20000, 'x'), "=,:;", "\xff\xfe", "%s%n", " ", "\x1b[2J",
            "-",        "--"};
}

// Whether the table itself says that the value cannot be.
bool is_refused_by_table(const Option& option, const std::string& value) {
    if (option.kind == Kind::choice) return true;
    if (!is_number(option)) return false;
    if (option.takes_auto && value == "auto") return false;
    const auto number = io::real_number(value);
    if (!number || !option.range.holds(*number)) return true;
    return option.kind == Kind::whole && !io::any_whole_number(value);
}

// Work that may rightly take long: so many frames were asked for.
bool may_take_long(const Option& option, const std::string& value) {
    static const std::set<std::string> kAmounts = {"--symbol-rate", "--frames"};
    return value.size() > 3 && kAmounts.contains(option.name()) && !is_refused_by_table(option, value);
}

class Calls {
  public:
    Calls() {
        Verb program("tidemill", "");
        add_verbs(program);
        add(program);
        calls_.push_back({{}, "", true});
        calls_.push_back({{"nonsense"}, "", true});
        calls_.push_back({{"--nonsense"}, "", true});
    }

    const std::vector<Call>& all() const { return calls_; }

  private:
    void add(Verb& verb) {
        for (Verb& below : verb.verbs()) add(below);
        if (!verb.verbs().empty()) return;
        const std::string name = verb.path().substr(verb.path().find(' ') + 1);
        REQUIRE_MESSAGE(kSmallJobs.contains(name), name);
        base_ = kSmallJobs.at(name);
        path_ = {name};
        if (const auto space = name.find(' '); space != std::string::npos)
            path_ = {name.substr(0, space), name.substr(space + 1)};
        if (verb.others() == nullptr) call({"--nonsense"}, base_, "--nonsense", true);
        places_ = 0;
        for (const Option& option : verb.options()) add(option);
    }

    void add(const Option& option) {
        if (option.kind == Kind::flag) {
            for (const char* value : {"=maybe", "=", "=\x1b[2J"})
                call({option.name() + value}, base_, option.name(), true);
            return;
        }
        give(option, "", true);
        for (const std::string& value : bad_values(option)) {
            if (!may_take_long(option, value)) give(option, value, is_refused_by_table(option, value));
        }
        if (option.is_positional()) {
            ++places_;
        } else {
            misplace(option);
        }
    }

    // Its value is missing, or it is given twice.
    void misplace(const Option& option) {
        if (!option.alone.empty()) return;
        const Words rest = without(base_, option);
        Words last = rest;
        last.push_back(option.name());
        call(last, {}, option.name(), true);
        if (option.is_repeatable) return;
        call({option.name(), "1", option.name(), "1"}, rest, option.name(), true);
    }

    void give(const Option& option, const std::string& value, bool is_usage) {
        const Words rest = without(base_, option);
        if (!option.is_positional())
            return call({option.name() + "=" + value}, rest, option.name(), is_usage);
        Words words(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(places_));
        words.push_back(value);
        const bool instead = places_ < rest.size() && !rest[places_].starts_with('-');
        words.insert(words.end(), rest.begin() + static_cast<std::ptrdiff_t>(places_ + (instead ? 1 : 0)),
                     rest.end());
        call(words, {}, option.name(), is_usage);
    }

    void call(const Words& first, const Words& rest, const std::string& names, bool is_usage) {
        Words words = path_;
        words.insert(words.end(), first.begin(), first.end());
        words.insert(words.end(), rest.begin(), rest.end());
        calls_.push_back({words, names, is_usage});
    }

    Words path_;
    Words base_;
    std::size_t places_ = 0;  // of options known by their place, before the one that is looked at
    std::vector<Call> calls_;
};

// A folder in which calls are made.
class Place {
  public:
    Place() {
        const SmallRecording& small = small_recording();
        folder_.put("rec.sigmf-meta", small.metadata());
        folder_.put("rec.sigmf-data", small.bytes());
        folder_.put("b.ts", small.packets);
        folder_.put("chain.json", R"({"tasks": [{"name": "a", "replicable": true, "weight": {"big": 5}}]})");
        folder_.put("empty", "");
        folder_.put("garbage", std::string(100000, '['));
        fs::create_symlink("unreadable", folder_ / "unreadable");  // root may read everything else
        fs::create_directory(folder_ / "folder");
        const std::string make =
            fmt::format("cd {} && '{}' schedule chain.json --cores big=1 -o schedule.json >/dev/null",
                        (folder_ / "").string(), internal::program_path());
        REQUIRE(std::system(make.c_str()) == 0);
        before_ = contents();
    }

    // Ends as the shell says it: 128 + signal for one that crashed or hung.
    Ended run(const Words& words, int number) const {
        const std::string errors = folder_ / fmt::format("out.err{}", number);
        const pid_t child = fork();
        if (child == 0) begin(words, errors);
        int status = 0;
        waitpid(child, &status, 0);
        const std::string said = ScratchFolder::content_of(errors);
        fs::remove(errors);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "", said};
    }

    // Files that are there now and were not, or hold something else.
    Words changed() const {
        Words names;
        const auto now = contents();
        for (const auto& [name, content] : now) {
            if (!before_.contains(name) || before_.at(name) != content) names.push_back(name);
        }
        if (now.size() < before_.size()) names.emplace_back("one is gone");
        return names;
    }

  private:
    [[noreturn]] void begin(const Words& words, const std::string& errors) const {
        constexpr rlimit kProcessor{10, 10};        // seconds of work
        constexpr unsigned kHungAfterSeconds = 60;  // of waiting, on a machine that has other things to do
        setrlimit(RLIMIT_CPU, &kProcessor);
        alarm(kHungAfterSeconds);
        if (chdir((folder_ / "").c_str()) != 0) _exit(127);
        dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
        dup2(STDIN_FILENO, STDOUT_FILENO);
        dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        // Modules of others look for their radios, and say in colours what they do not find.
        setenv("SOAPY_SDR_ROOT", "/nowhere", 1);
        std::vector<char*> arguments{const_cast<char*>(internal::program_path().c_str())};
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        execv(internal::program_path().c_str(), arguments.data());
        _exit(127);
    }

    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> all;
        for (const auto& file : fs::recursive_directory_iterator(folder_ / "")) {
            if (!file.path().filename().string().starts_with("out"))
                all[file.path()] = !file.is_symlink() && file.is_regular_file()
                                       ? ScratchFolder::content_of(file.path())
                                       : "";
        }
        return all;
    }

    ScratchFolder folder_;
    std::map<std::string, std::string> before_;
};

// Fault in the end of a call; empty: there is none.
std::string fault_of(const Call& call, const Ended& ended) {
    constexpr std::array kForeign = {"std::",     "vector::", "basic_string", "json.exception",
                                     "bad_alloc", "_M_",      "terminate",    "filesystem error",
                                     "stod",      "stoi",     "runtime error"};
    if (ended.status < 0 || ended.status > kUnusableInput) return fmt::format("ended with {}", ended.status);
    for (const char* word : kForeign) {
        if (says(ended.err, word)) return fmt::format("says {}", word);
    }
    if (call.is_usage && ended.status != kWrongUsage)
        return fmt::format("ended with {} where {} is due", ended.status, static_cast<int>(kWrongUsage));
    if (ended.status == kDone) return {};
    if (std::ranges::count(ended.err, '\n') == 0 || !says(ended.err, "tidemill: ")) return "does not say why";
    if (says(ended.err, "\x1b")) return "commands the terminal";
    if (ended.err.size() > 1500) return fmt::format("says it in {} bytes", ended.err.size());
    if (call.is_usage && !says(ended.err, call.names)) return "does not name " + call.names;
    return {};
}

std::string text_of(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += " '" + word.substr(0, 60) + "'";
    return text;
}

}  // namespace

TEST_CASE("hostile calls: each ends by the convention, says why in a sentence, and touches nothing else") {
    const Calls calls;
    CHECK(calls.all().size() >= 500);
    const Place place;
    std::vector<std::string> faults(calls.all().size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < faults.size(); i = next++) {
            const Call& call = calls.all()[i];
            const Ended ended = place.run(call.words, static_cast<int>(i));
            const std::string fault = fault_of(call, ended);
            if (!fault.empty())
                faults[i] =
                    fmt::format("tidemill{}: {}; {}", text_of(call.words), fault, ended.err.substr(0, 300));
        }
    };
    {
        const std::jthread other(work);
        work();
    }
    for (const std::string& fault : faults) CHECK_MESSAGE(fault.empty(), fault);
    CHECK(fmt::to_string(fmt::join(place.changed(), " ")) == "");
    MESSAGE(calls.all().size(), " calls");
}

}  // namespace tidemill::cli
