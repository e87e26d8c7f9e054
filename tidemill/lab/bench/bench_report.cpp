#include "tidemill/lab/bench/bench_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/base/json.hpp"
#include "tidemill/base/json_error.hpp"
#include "tidemill/lab/bench/runs.hpp"
#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

namespace {

// Fields that Google Benchmark itself writes about a run; every other number is a counter of ours.
constexpr std::array<std::string_view, 17> kNotCounters{"family_index",
                                                        "per_family_instance_index",
                                                        "repetitions",
                                                        "repetition_index",
                                                        "threads",
                                                        "iterations",
                                                        "real_time",
                                                        "cpu_time",
                                                        "items_per_second",
                                                        "ours",
                                                        "baseline",
                                                        "ratio",
                                                        "spread_percent",
                                                        "least",
                                                        "runs",
                                                        "published",
                                                        "target"};

// A text of an object, empty when it has none of that name.
std::string text_of(const Json& object, std::string_view name) {
    const Json* const found = object.find(name);
    const auto* const text = found ? found->get_if<std::string>() : nullptr;
    return text ? *text : "";
}

std::optional<double> number_in(const Json& value) {
    if (const auto* number = value.get_if<double>()) return *number;
    if (const auto* number = value.get_if<std::uint64_t>()) return static_cast<double>(*number);
    if (const auto* number = value.get_if<std::int64_t>()) return static_cast<double>(*number);
    return {};
}

std::optional<double> number_of(const Json& object, std::string_view name) {
    const Json* const found = object.find(name);
    return found ? number_in(*found) : std::nullopt;
}

// The name without what Google Benchmark appends about how it was run.
std::string plain_name(const Json& run) {
    std::string name = text_of(run, "run_name");
    for (const char* ending : {"/iterations:", "/repeats:", "/min_time:", "/manual_time", "/real_time"}) {
        name.erase(std::min(name.find(ending), name.size()));
    }
    return name;
}

// The longest family with a question that the name belongs to; without one, what stands before the first
// slash.
std::string family_of(const std::string& name, const Json& context) {
    std::string family = name;
    while (!context.find(family + ": question")) {
        const std::size_t slash = family.rfind('/');
        if (slash == std::string::npos) return name.substr(0, name.find('/'));
        family.resize(slash);
    }
    return family;
}

// Names of cases are made of words that C++ and command lines can bear.
std::string in_words(std::string name) {
    for (char& letter : name) {
        if (letter == '_' || letter == ':' || letter == '/') letter = ' ';
    }
    return name;
}

/// All runs of one name.
class Runs {
  public:
    explicit Runs(std::vector<Json> runs) : runs_(std::move(runs)) {}

    std::optional<double> median(const std::string& counter) const {
        const std::vector<double> values = all(counter);
        return values.empty() ? std::nullopt : std::optional(quantile(values, 0.5));
    }

    BenchCase summary(const std::string& name) const {
        const Json& first = runs_.front();
        BenchCase result{.name = label().empty() ? name : label(), .error = text_of(first, "error_message")};
        if (!result.error.empty()) return result;
        result.ours = *median(ours());
        result.baseline = median("baseline");
        result.ratio = median("ratio");
        result.spread_percent = median("spread_percent");
        if (!result.spread_percent && runs_.size() > 1) result.spread_percent = spread_percent();
        result.least = median("least").value_or(quantile(all(ours()), 0));
        result.runs = static_cast<int>(median("runs").value_or(static_cast<double>(runs_.size())));
        result.published = median("published");
        result.target = median("target");
        for (const auto& [key, value] : *first.get_if<Json::Object>()) {
            if (!number_in(value) || std::ranges::find(kNotCounters, key) != kNotCounters.end()) continue;
            result.more.emplace_back(key, *median(key));
        }
        return result;
    }

    /// A run of one iteration without the counter `ours` reports what the others have shown.
    bool is_conclusion() const {
        return !label().empty() && !runs_.front().find("ours") && number_of(runs_.front(), "iterations") == 1;
    }
    std::string label() const { return text_of(runs_.front(), "label"); }

    std::string default_unit() const { return text_of(runs_.front(), "time_unit"); }

  private:
    std::string ours() const { return runs_.front().find("ours") ? "ours" : "cpu_time"; }

    std::vector<double> all(const std::string& counter) const {
        std::vector<double> values;
        for (const Json& run : runs_) {
            if (const auto value = number_of(run, counter)) values.push_back(*value);
        }
        return values;
    }

    double spread_percent() const {
        const std::vector<double> values = all(ours());
        return 50 * (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5);
    }

    std::vector<Json> runs_;
};

BenchGroup& group_of(const std::string& family, const Json& context, std::vector<BenchGroup>& groups) {
    const auto known = std::ranges::find(groups, family, &BenchGroup::family);
    if (known != groups.end()) return *known;
    const auto told = [&](const char* what) { return text_of(context, family + ": " + what); };
    return groups.emplace_back(
        BenchGroup{family, told("question"), told("unit"), told("baseline"), told("published")});
}

void add(const std::string& name, const Runs& runs, const Json& context, std::vector<BenchGroup>& groups) {
    const std::string family = family_of(name, context);
    BenchGroup& group = group_of(family, context, groups);
    if (runs.is_conclusion()) {
        group.conclusions.push_back(runs.label());
        return;
    }
    if (group.unit.empty()) group.unit = runs.default_unit();
    const std::string rest = name.substr(std::min(family.size() + 1, name.size()));
    group.cases.push_back(runs.summary(in_words(rest.empty() ? family : rest)));
}

// Enough that the smallest of the numbers keeps three digits, at most four decimals, none for whole numbers.
int decimals_of(const std::vector<Cell>& cells) {
    double smallest = INFINITY;
    for (const Cell& cell : cells) {
        const auto* number = std::get_if<double>(&cell);
        if (number && *number != std::floor(*number)) smallest = std::min(smallest, std::abs(*number));
    }
    return std::isinf(smallest) ? 0
                                : std::clamp(2 - static_cast<int>(std::floor(std::log10(smallest))), 0, 4);
}

Cell cell(const std::optional<double>& number) {
    return number ? Cell(*number) : Cell();
}

// A column that no case has anything for is left out.
void add_column(ResultTable& table, const std::string& name, const std::vector<Cell>& cells,
                std::optional<int> decimals = {}) {
    if (std::ranges::all_of(cells, [](const Cell& each) { return each.index() == 0; })) return;
    table.columns.push_back({name, decimals.value_or(decimals_of(cells))});
    for (std::size_t r = 0; r < cells.size(); ++r) table.rows[r].push_back(cells[r]);
}

std::vector<std::string> further_counters(const BenchGroup& group) {
    std::vector<std::string> names;
    for (const BenchCase& each : group.cases) {
        for (const auto& [name, value] : each.more) {
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

std::optional<double> counter(const BenchCase& each, const std::string& name) {
    const auto found = std::ranges::find(each.more, name, &std::pair<std::string, double>::first);
    return found == each.more.end() ? std::nullopt : std::optional(found->second);
}

ResultTable table_of(const BenchGroup& group) {
    ResultTable table{group.question.empty() ? group.family : group.question, {}};
    table.rows.resize(group.cases.size());
    const auto column = [&](const std::string& name, auto value, std::optional<int> decimals = {}) {
        std::vector<Cell> cells;
        for (const BenchCase& each : group.cases) {
            cells.push_back(each.error.empty() ? Cell(value(each)) : Cell());
        }
        add_column(table, name, cells, decimals);
    };
    std::vector<Cell> names;
    for (const BenchCase& each : group.cases) names.emplace_back(each.name);
    add_column(table, "case", names);
    column(group.unit, [](const BenchCase& each) { return each.ours; });
    column(group.baseline.empty() ? "baseline" : group.baseline,
           [](const BenchCase& each) { return cell(each.baseline); });
    column("ratio", [](const BenchCase& each) { return cell(each.ratio); });
    column(
        "+-%", [](const BenchCase& each) { return cell(each.spread_percent); }, 1);
    column(
        "runs", [](const BenchCase& each) { return static_cast<double>(each.runs); }, 0);
    column(group.published.empty() ? "published" : group.published,
           [](const BenchCase& each) { return cell(each.published); });
    column("target", [](const BenchCase& each) { return cell(each.target); });
    for (const std::string& name : further_counters(group)) {
        column(in_words(name), [&](const BenchCase& each) { return cell(counter(each, name)); });
    }
    for (const BenchCase& each : group.cases) {
        if (!each.error.empty()) table.notes.push_back(fmt::format("{} failed: {}", each.name, each.error));
    }
    table.notes.insert(table.notes.end(), group.conclusions.begin(), group.conclusions.end());
    return table;
}

Json to_json(const BenchCase& each) {
    Json json{{"name", each.name}};
    if (!each.error.empty()) {
        json["error"] = each.error;
        return json;
    }
    const auto put = [&](const char* name, const std::optional<double>& value) {
        if (value) json[name] = *value;
    };
    put("ours", each.ours);
    put("baseline", each.baseline);
    put("ratio", each.ratio);
    put("spread_percent", each.spread_percent);
    put("least", each.least);
    json["runs"] = each.runs;
    put("published", each.published);
    put("target", each.target);
    for (const auto& [name, value] : each.more) json[name] = value;
    return json;
}

constexpr const char* kNoReport = "this is not what Google Benchmark writes with --benchmark_format=json";

Json parse_report(std::string_view json) {
    try {
        return parse_json(json, "benchmarks");
    } catch (const JsonError&) {
        throw WrongReport(kNoReport);
    }
}

}  // namespace

std::vector<BenchGroup> read_benchmarks(std::string_view json) {
    const Json document = parse_report(json);
    const Json* const context = document.find("context");
    const Json* const benchmarks = document.find("benchmarks");
    const auto* const all = benchmarks ? benchmarks->get_if<Json::Array>() : nullptr;
    if (!context || !all) throw WrongReport(kNoReport);
    std::vector<std::pair<std::string, std::vector<Json>>> runs;  // in the order of the program
    for (const Json& run : *all) {
        if (!run.get_if<Json::Object>()) throw WrongReport(kNoReport);
        if (text_of(run, "run_type") == "aggregate") continue;
        const std::string name = plain_name(run);
        const auto known = std::ranges::find(runs, name, &decltype(runs)::value_type::first);
        if (known != runs.end()) {
            known->second.push_back(run);
        } else {
            runs.emplace_back(name, std::vector{run});
        }
    }
    std::vector<BenchGroup> groups;
    for (auto& [name, repeated] : runs) add(name, Runs(std::move(repeated)), *context, groups);
    return groups;
}

std::string to_text(const std::vector<BenchGroup>& groups) {
    std::string text;
    for (const BenchGroup& group : groups) {
        if (!text.empty()) text += '\n';
        text += to_text(table_of(group));
    }
    return text;
}

Json to_json(const std::vector<BenchGroup>& groups) {
    Json json = Json::array();
    for (const BenchGroup& group : groups) {
        Json each{{"family", group.family}, {"question", group.question}, {"unit", group.unit}};
        if (!group.baseline.empty()) each["baseline"] = group.baseline;
        if (!group.published.empty()) each["published"] = group.published;
        each["cases"] = Json::array();
        for (const BenchCase& one : group.cases) each["cases"].push_back(to_json(one));
        if (!group.conclusions.empty()) each["conclusions"] = group.conclusions;
        json.push_back(std::move(each));
    }
    return json;
}

}  // namespace tidemill::cli
