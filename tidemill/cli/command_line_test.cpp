#include "tidemill/options/command_line.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/cli/verbs.hpp"

namespace tidemill::cli {
namespace {

/// A program with a verb that has an option of each kind.
struct Sample {
    enum class Colour { red, green };

    int repeats = 1;
    double rate_hz = 1e6;
    double pause_s = 0.5;
    Colour colour = Colour::green;
    std::string input, output;
    std::vector<std::string> names;
    std::optional<OrAuto<double>> rolloff;
    bool loud = false;
    bool paced = true;
    std::vector<std::string> others;
    std::vector<std::string> command;
    bool done = false;
    Verb program{"mill", "Grinds."};

    Sample() {
        Verb& verb = program.verb("grind", "Grind once");
        verb.option("input", input, "What to grind").is(Kind::input_file).required();
        verb.option("-o,--output", output, "Where to").is(Kind::output_place);
        verb.option("--repeats", repeats, "How often").in(between(1, 64));
        verb.option("--rate", rate_hz, "In Hz").in(above(0));
        verb.option("--pause", pause_s, "Between two").is(Kind::seconds).in(at_least(0)).excludes("--rate");
        verb.choice("--colour", colour, {{"red", Colour::red}, {"green", Colour::green}}, "Which");
        verb.option("--name", names, "Of each");
        verb.option("--rolloff", rolloff, "Or search").in(between(0, 1));
        verb.flag("--loud", loud, "With noise").needs("--name");
        verb.flag("--unpaced", paced, "At once", false);
        verb.does([this] { return done = true, kDone; });
        program.verb("keep", "Keep words").keep_others(others);
        program.verbs().back().does([] { return kDone; });
        Verb& runner = program.verb("run", "Run a command");
        runner.command(command);
        runner.flag("--loud", loud, "With noise");
        runner.does([] { return kDone; });
    }

    int run(std::vector<const char*> words) {
        words.insert(words.begin(), "mill");
        return run_command_line(program, static_cast<int>(words.size()), words.data());
    }
};

/// Message of the error for a value of an option.
std::string refusal(const char* option, const char* value) {
    Sample sample;
    for (Option& each : sample.program.verbs().front().options()) {
        if (each.name() != option) continue;
        try {
            each.give(value);
            each.read();
        } catch (const WrongUsage& error) {
            return error.what();
        }
    }
    return "";
}

}  // namespace

TEST_CASE("command line: each option reaches its variable") {
    Sample sample;
    CHECK(sample.run({"grind", "rye", "-o", "-", "--repeats", "3", "--rate=2.4M", "--colour", "red", "--name",
                      "a", "--name", "b,c", "--rolloff", "0.2", "--loud", "--unpaced"}) == kDone);
    CHECK(sample.done);
    CHECK(sample.input == "rye");
    CHECK(sample.output == "-");
    CHECK(sample.repeats == 3);
    CHECK(sample.rate_hz == 2.4e6);
    CHECK(sample.colour == Sample::Colour::red);
    CHECK(sample.names == std::vector<std::string>{"a", "b,c"});
    CHECK(sample.rolloff->value == 0.2);
    CHECK(sample.loud);
    CHECK_FALSE(sample.paced);
}

TEST_CASE("command line: what is not given stays as it was, and auto is a value of its own") {
    Sample sample;
    CHECK(sample.run({"grind", "rye"}) == kDone);
    CHECK(sample.repeats == 1);
    CHECK_FALSE(sample.rolloff);
    CHECK(sample.run({"grind", "rye", "--rolloff", "auto"}) == kDone);
    CHECK(sample.rolloff->is_auto());
}

TEST_CASE("command line: a value that cannot be is refused by one sentence that says what can") {
    CHECK(refusal("--repeats", "65") == "--repeats 65: give a whole number from 1 to 64");
    CHECK(refusal("--repeats", "1.5") == "--repeats 1.5: give a whole number from 1 to 64");
    CHECK(refusal("--rate", "nan") == "--rate nan: give a number above 0");
    CHECK(refusal("--rate", "0") == "--rate 0: give a number above 0");
    CHECK(refusal("--rate", "") == "--rate '': give a number above 0");
    CHECK(refusal("--pause", "soon") ==
          "--pause soon: give a time in seconds, or like 200ms or 2min, from 0 on");
    CHECK(refusal("--colour", "blue") == "--colour blue: give one of red, green");
    CHECK(refusal("--rolloff", "Auto") == "--rolloff Auto: give a number from 0 to 1, or auto");
    CHECK(refusal("--output", "") == "--output '': give the name of a file, or - for standard output");
    CHECK(refusal("input", "") == "input '': give the name of a file");
}

TEST_CASE("command line: wrong words, and options that do not go together, are wrong usage") {
    const std::vector<std::vector<const char*>> wrong{
        {},
        {"grnd"},
        {"grind"},
        {"grind", "rye", "wheat"},
        {"grind", "rye", "--no-such-option"},
        {"grind", "rye", "--repeats"},
        {"grind", "rye", "--repeats", "2", "--repeats", "3"},
        {"grind", "rye", "--rate="},
        {"grind", "rye", "--output", ""},
        {"grind", "rye", "--rate", "5", "--pause", "1"},
        {"grind", "rye", "--loud"},
        {"grind", "rye", "--loud=3", "--name", "a"},
        {"grind", "rye", "--loud=", "--name", "a"},
    };
    for (const auto& words : wrong) {
        Sample sample;
        CHECK(sample.run(words) == kWrongUsage);
        CHECK_FALSE(sample.done);
    }
}

TEST_CASE("command line: a verb that keeps other words gets them all") {
    Sample sample;
    CHECK(sample.run({"keep", "--twice", "x"}) == kDone);
    CHECK(sample.others == std::vector<std::string>{"--twice", "x"});
}

TEST_CASE("command line: behind a verb, a word that is another verb's name is a word") {
    Sample sample;
    std::string what;
    Verb& sieve = sample.program.verb("sieve", "Sieve");
    sieve.option("what", what, "What to sieve");
    sieve.does([] { return kDone; });
    CHECK(sample.run({"sieve", "grind"}) == kDone);
    CHECK(what == "grind");
}

TEST_CASE("command line: what stands behind -- is a command for the verb that runs one") {
    Sample sample;
    CHECK(sample.run({"run", "--loud", "--", "grind", "--loud", "-x", "--", "--name="}) == kDone);
    CHECK(sample.loud);
    CHECK(sample.command == std::vector<std::string>{"grind", "--loud", "-x", "--", "--name="});
    CHECK(sample.run({"run", "grind"}) == kWrongUsage);
}

namespace {

void for_each_option(Verb& verb, const std::function<void(Verb&, Option&)>& look) {
    for (Option& option : verb.options()) look(verb, option);
    for (Verb& below : verb.verbs()) for_each_option(below, look);
}

}  // namespace

TEST_CASE(
    "command line: every option of tidemill says what it is for, and every number refuses what is none") {
    Verb program("tidemill", "");
    add_verbs(program);
    std::size_t options = 0;
    for_each_option(program, [&](Verb& verb, Option& option) {
        CAPTURE(verb.path());
        CAPTURE(option.name());
        ++options;
        CHECK_FALSE(option.help.empty());
        if (option.kind == Kind::flag) return;
        CHECK_THROWS_AS(option.give(""), WrongUsage);
        if (option.kind == Kind::text || option.is_input() || option.is_output()) return;
        for (const char* const bad : {"nan", "inf", "-inf", "1e999", "1e9999999", " 1", "x"})
            CHECK_THROWS_AS((option.given = {bad}, option.read()), WrongUsage);
    });
    CHECK(options > 150);
}

}  // namespace tidemill::cli
