#include "tidemill/lab/reproduce/reproduction.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/lab/reproduce/micro_benchmarks.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/function_task.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli {

namespace {

std::size_t rows_ending_with(const ResultTable& table, const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(table.rows, [&](const auto& row) { return row.back() == Cell{text}; }));
}

std::set<std::string> keys_of(const ResultTable& table) {
    std::set<std::string> keys;
    for (const ResultTable::Column& column : table.columns)
        keys.insert(column.key.empty() ? column.name : column.key);
    return keys;
}

std::string in_small_letters(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

// The last column says whether what was published comes out, and one note by which rule.
void check_verdicts(const ResultTable& table) {
    CHECK(table.columns.back().name == kReproduces);
    const auto is_rule = [](const std::string& note) { return note.starts_with("reproduces: "); };
    CHECK(std::ranges::count_if(table.notes, is_rule) == 1);
    for (const std::vector<Cell>& row : table.rows) {
        const Cell& said = row.back();
        CHECK((said == Cell{"yes"} || said == Cell{"no"} || said == Cell{"cannot tell"}));
    }
}

// Subjects of the chapters of the language's two documents: their titles' words, without the last letter,
// which may be a plural's.
std::vector<std::string> words_of_chapters() {
    const std::string docs = internal::data_folder() + "/../docs";
    std::stringstream chapters;
    for (const char* const part : {"/guides/language.md", "/reference/language.md"})
        chapters << std::ifstream(docs + part).rdbuf();
    std::vector<std::string> words;
    for (std::string line; std::getline(chapters, line);) {
        if (!line.starts_with("## ") || !std::isdigit(static_cast<unsigned char>(line[3]))) continue;
        std::istringstream title(in_small_letters(line.substr(3)));
        for (std::string word; title >> word;) {
            std::erase(word, ',');
            if (word.size() > 4) words.push_back(word.substr(0, word.size() - 1));
        }
    }
    return words;
}

// Whether a note says that something is not here of which the language has a chapter.
bool says_that_language_lacks_something(const std::string& note) {
    static const std::vector<std::string> kWords = words_of_chapters();
    const std::string text = in_small_letters(note);
    const auto is_in = [&](const std::string& word) { return text.find(word) != std::string::npos; };
    constexpr const char* kLacks[] = {"otherwise here", "we have no", "are not here", "no such"};
    return std::ranges::any_of(kLacks, is_in) && std::ranges::any_of(kWords, is_in);
}

}  // namespace

TEST_CASE("a note that says the language had no loops would be found") {
    CHECK(words_of_chapters().size() > 20);
    CHECK(
        says_that_language_lacks_something("Loops and switches are made otherwise here (tasks that skip)."));
    CHECK(says_that_language_lacks_something("We have no such pipeline to run."));
    CHECK_FALSE(says_that_language_lacks_something("All four micro-benchmarks are measured, loops too."));
}

TEST_CASE("Table 3 comes out as published, all 40 solutions and the four optima") {
    const std::vector<ResultTable> tables = table3({.frames = 500});
    REQUIRE(tables.size() == 2);
    CHECK(rows_ending_with(tables[0], "yes") == 40);
    CHECK(tables[1].rows.size() == 4);
    CHECK(rows_ending_with(tables[1], "yes") == 4);
}

TEST_CASE("Table 1 has a row for each strategy and setting, and nearly all agree") {
    const std::vector<ResultTable> tables = table1({.chains = 300});
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].rows.size() == 45);
    CHECK(rows_ending_with(tables[0], "yes") >= 40);
}

TEST_CASE("Table 4.3: every worst case comes out within one percent of its formula") {
    const std::vector<ResultTable> tables = table4_3({});
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].rows.size() == 51);
    CHECK(rows_ending_with(tables[0], "yes") == tables[0].rows.size());
}

TEST_CASE("Fig. 4.1: static is shorter for the balanced program, dynamic for the other, as published") {
    const ResultTable table = fig4_1({}).front();
    CHECK(table.rows.size() == 2);
    for (const auto& row : table.rows) CHECK(row[3] == row[4]);
}

TEST_CASE("Fig. 4.4: the metrics of all its tasks agree") {
    const std::vector<ResultTable> tables = fig4_4({});
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].rows.size() == 4);
    CHECK(rows_ending_with(tables[0], "yes") == 4);
}

TEST_CASE("Fig. 2: FERTAC cuts the example as published") {
    const std::vector<ResultTable> tables = fig1_to_4({});
    REQUIRE(tables.size() == 9);
    const auto& stages = tables[1].rows;
    REQUIRE(stages.size() == 4);
    CHECK(stages[0][1] == Cell{"t1"});
    CHECK(stages[0][2] == Cell{"1 little"});
    CHECK(stages[1][1] == Cell{"t2"});
    CHECK(stages[1][2] == Cell{"1 little"});
    CHECK(stages[2][1] == Cell{"t3"});
    CHECK(stages[2][2] == Cell{"1 big"});
    CHECK(stages[3][1] == Cell{"t4 to t5"});
    CHECK(stages[3][2] == Cell{"1 little"});
    const std::vector<Cell>& last = tables[7].rows.back();
    CHECK(last[last.size() - 2] == Cell{10.0});
    CHECK(rows_ending_with(tables[1], "yes") == 4);
    CHECK(rows_ending_with(tables[8], "yes") == tables[8].rows.size());
}

TEST_CASE("Fig. 9: the note is the schedule's file, which names the published cores") {
    const ResultTable table = fig9({}).front();
    const Schedule read = parse_schedule(table.notes.front(), "fig9.json");
    CHECK(read.stages.size() == table.rows.size());
    REQUIRE(read.resources.size() == 2);
    CHECK(read.resources[0] == CoreResource{"big", {{NodeRange::Unit::kCore, 0, 2}}, 1, {}});
    CHECK(read.resources[1] == CoreResource{"little", {{NodeRange::Unit::kCore, 3, 5}}, 1, {}});
}

TEST_CASE("StreamPU, Table 1 and Fig. 5: all four micro-benchmarks are measured, loops and switches too") {
    const ResultTable costs = streampu_table1({}).front();
    REQUIRE(costs.rows.size() == 4);
    for (const std::vector<Cell>& row : costs.rows) {
        for (const Cell& cell : row) CHECK(cell.index() != 0);
        CHECK(std::get<double>(row[2]) > 0);
    }
    for (const auto& [row, ns] : {std::pair{1U, 78.0}, {2U, 107.0}, {3U, 114.0}})
        CHECK(std::get<double>(costs.rows[row][3]) == doctest::Approx(ns).epsilon(0.01));
    const ResultTable overheads = streampu_fig5({}).front();
    for (const std::vector<Cell>& row : overheads.rows)
        for (std::size_t benchmark = 1; benchmark <= 4; ++benchmark)
            CHECK(std::get<double>(row[benchmark]) > 0);
}

TEST_CASE("a task of a micro-benchmark waits as often as was published") {
    for (const MicroBenchmark& each : micro_benchmarks()) {
        CAPTURE(each.name);
        std::uint64_t calls = 0;
        Graph graph;
        const GraphPart part = each.build(graph, std::chrono::nanoseconds(0));
        auto& end = graph.add(task("end", in<int>("x"), [](std::span<const int>) {}));
        graph.bind(std::vector<int>{0}, part.input);
        graph.bind(part.output, end["x"]);
        const RunReport report = Sequence(graph).run({.frames = 10 * each.frames});
        for (const TaskReport& one : report.tasks)
            if (one.name.starts_with("wait")) calls += one.calls.count;
        CHECK(calls == 10 * each.tasks);
    }
}

TEST_CASE("StreamPU: tasks and stages have the published throughputs, cut as they are and as gr-dvbs2rx is") {
    for (const auto make : {streampu_table3, streampu_table5}) {
        for (const ResultTable& table : make({})) {
            CAPTURE(table.title);
            const auto columns = table.columns.size() - 1;
            const bool of_tasks = table.columns[columns - 1].name == "% publ.";
            for (const auto& row : table.rows) {
                const double ours = std::get<double>(row[columns - (of_tasks ? 3 : 2)]);
                const double theirs = std::get<double>(row[columns - (of_tasks ? 2 : 1)]);
                CHECK(ours == doctest::Approx(theirs).epsilon(0.01));
            }
        }
    }
    const auto simulated = streampu_table4({.frames = 500}).front().rows[2];
    CHECK(std::get<double>(simulated[3]) == doctest::Approx(4.1).epsilon(0.01));
    CHECK(std::get<double>(simulated[5]) == doctest::Approx(55).epsilon(0.01));
}

TEST_CASE("StreamPU, Fig. 10: more iterations and more signal are fewer wrong frames") {
    const ResultTable table = streampu_fig10({.frames = 100}).front();
    REQUIRE(table.rows.size() == 18);
    check_verdicts(table);
    const auto rate = [&](std::size_t row, std::size_t column) {
        return std::get<double>(table.rows[row][column]);
    };
    double min_sum = 0, ours = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        min_sum += rate(row, 3);
        ours += rate(row, 6);
    }
    CHECK(ours < min_sum);
    for (std::size_t first = 0; first < table.rows.size(); first += 6)
        CHECK(rate(first + 5, 3) < rate(first, 3));
    CHECK(table.rows[4][2] == Cell{0.25});  // QPSK 3/5 at 2.3 dB
    CHECK(table.rows[17][2] == Cell{5e-3});
}

TEST_CASE("Fig. 4.10: a ends with one busy thread, the others with 3.7 or so, and a is the bottleneck") {
    const ResultTable table = fig4_10({}).front();
    REQUIRE(table.rows.size() == 10);
    CHECK(table.rows.front() == std::vector<Cell>{"a", 3.0, 1.0, "yes"});
    CHECK(table.rows.back().back() == Cell{"yes"});
    CHECK(std::get<double>(table.rows.back()[2]) == doctest::Approx(3.7).epsilon(0.15));
    CHECK(table.notes.front().starts_with("The bottleneck is a."));
}

TEST_CASE("Fig. 4.13: macroblock decoding waits for its own tasks 20.7 before on average, or a little less") {
    const ResultTable edges = fig4_13({}).back();
    const auto own = std::ranges::find_if(edges.rows, [](const auto& row) {
        return row[0] == Cell{"macroblock-decode"} && row[1] == Cell{"macroblock-decode"};
    });
    REQUIRE(own != edges.rows.end());
    CHECK(std::get<double>((*own)[3]) == doctest::Approx(20.4).epsilon(0.02));
}

TEST_CASE("sbridge.fig4: a gain stands beside its control and what was published of the same program") {
    const std::vector<ResultTable> tables = s_bridge_fig4({.runs = 24});
    REQUIRE(tables.size() == 4);
    const auto gain_of = [&](std::size_t row) { return std::get<double>(tables[0].rows[row][1]); };
    CHECK(tables[0].rows[1][0] == Cell{"the same again"});
    CHECK(std::abs(gain_of(1)) < 3);
    CHECK(tables[0].rows[2][0] == Cell{"layer"});
    CHECK(gain_of(2) > 8);
    const auto& programs = tables[3].rows;
    CHECK(programs.size() == 23);
    const auto patricia =
        std::ranges::find(programs, Cell{"patricia_l"}, [](const auto& row) { return row[0]; });
    REQUIRE(patricia != programs.end());
    CHECK((*patricia)[6] == Cell{71.4});
}

TEST_CASE("every row of a reproduction has a cell for each column") {
    const ReproduceOptions small{.chains = 5,
                                 .timed = 1,
                                 .frames = 100,
                                 .tasks = 300,
                                 .runs = 1,
                                 .mixes = 1,
                                 .device_bytes = std::size_t{1} << 20U,
                                 .most_bytes = 4096};
    for (const auto make : {table1,
                            fig7,
                            poster_locality,
                            poster_dvbs2,
                            fig4_14,
                            s_bridge_fig5,
                            s_bridge_fig6,
                            table2,
                            table4_1,
                            table4_5,
                            fig4_1,
                            fig4_2,
                            fig4_5,
                            fig1_to_4,
                            fig8,
                            fig9,
                            fig12,
                            fig15,
                            streampu_table1,
                            streampu_table3,
                            streampu_table4,
                            streampu_table5,
                            streampu_fig5,
                            streampu_fig11,
                            fig5,
                            fig6,
                            table3,
                            fig11,
                            fig13,
                            fig14,
                            table4_2,
                            table4_4,
                            fig4_3,
                            fig4_4,
                            fig4_8,
                            fig4_9,
                            fig4_10,
                            fig4_13,
                            fig4_18,
                            s_bridge_fig4,
                            s_bridge_fig7,
                            s_bridge_fig8,
                            s_bridge_fig9,
                            s_bridge_fig10,
                            s_bridge_fig11,
                            s_bridge_systems,
                            s_bridge_overhead}) {
        for (const ResultTable& table : make(small)) {
            CAPTURE(table.title);
            CHECK_FALSE(table.rows.empty());
            for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
            CHECK(keys_of(table).size() == table.columns.size());  // in JSON no column hides another
            check_verdicts(table);
            for (const std::string& note : table.notes) {
                CAPTURE(note);
                CHECK_FALSE(says_that_language_lacks_something(note));
            }
        }
    }
}

TEST_CASE("the poster's receiver: energies in its order, and as it tells them for 13.6 kbit") {
    const std::vector<ResultTable> tables = poster_dvbs2({.frames = 500});
    REQUIRE(tables.size() == 1);
    REQUIRE(tables[0].rows.size() == 3);
    const auto number = [&](std::size_t row, std::size_t column) {
        return std::get<double>(tables[0].rows[row][column]);
    };
    for (std::size_t row = 0; row < 3; ++row) {
        CAPTURE(row);
        CHECK(number(row, 7) == doctest::Approx(number(row, 6)).epsilon(0.01));
    }
    CHECK(number(0, 3) == doctest::Approx(number(0, 2)).epsilon(0.1));
    CHECK(number(1, 3) == doctest::Approx(59.86).epsilon(0.001));  // HeRAD's optimum there
    CHECK(number(2, 3) >= number(2, 2));                           // the wanted rate
    CHECK(number(1, 9) < number(0, 9));
    CHECK(number(2, 9) <= number(1, 9));
}

TEST_CASE("the poster's memory policies say why there is no device, or have a row for each policy and size") {
    for (const ResultTable& table : poster_memory({.device_bytes = std::size_t{1} << 20U})) {
        CHECK((!table.rows.empty() || table.notes.size() > 1));
        std::set<std::vector<Cell>> policies_and_sizes;
        for (const auto& row : table.rows) {
            CHECK(row.size() == table.columns.size());
            CHECK(policies_and_sizes.insert({row[0], row[1]}).second);
        }
        if (!table.rows.empty()) CHECK(table.rows.back()[1] == Cell{"1 MiB"});
    }
}

TEST_CASE("tables stand in columns, numbers to the right, and say where nothing is known") {
    const ResultTable table{"T", {{"name"}, {"x", 1}}, {{"a", 1.25}, {"long", {}}}, {"note"}};
    CHECK(to_text(table) == "T\nname    x\na     1.2\nlong    -\nnote\n");
    const auto json = nlohmann::json::parse(to_text(to_json(table)));
    CHECK(json["rows"][0]["x"] == 1.25);
    CHECK(json["rows"][1]["x"].is_null());
    CHECK(json["notes"][0] == "note");
}

}  // namespace tidemill::cli
