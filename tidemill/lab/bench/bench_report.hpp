#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemill/base/error.hpp"
#include "tidemill/base/json.hpp"

namespace tidemill::cli {

/// A benchmark's output that cannot be read.
class WrongReport : public Error {
  public:
    using Error::Error;
};

/// One case of a benchmark: medians over its runs, in the unit of its group.
struct BenchCase {
    std::string name;   ///< without the family; its own words where the benchmark has a label
    std::string error;  ///< why there are no numbers; empty when all went well
    double ours = 0;
    std::optional<double> baseline{};
    std::optional<double> ratio{};           ///< ours to the baseline, the median over pairs of runs
    std::optional<double> spread_percent{};  ///< half the distance between the quartiles; not of one run
    double least = 0;
    int runs = 1;
    std::optional<double> published{};
    std::optional<double> target{};
    std::vector<std::pair<std::string, double>> more{};  ///< further counters, their units in their names
};

/// The cases that answer one question.
struct BenchGroup {
    std::string family;
    std::string question;
    std::string unit;
    std::string baseline;   ///< what it is
    std::string published;  ///< by whom
    std::vector<BenchCase> cases{};
    std::vector<std::string> conclusions{};  ///< sentences that the program read from its numbers
};

/// Reads the output of a program of Google Benchmark with --benchmark_format=json, grouped by the questions
/// that bench::ask() put into its context. Cases of one name, which are repetitions, become one with their
/// median. Throws WrongReport when it is something else.
std::vector<BenchGroup> read_benchmarks(std::string_view json);

/// A sentence and a table per group, three significant digits.
std::string to_text(const std::vector<BenchGroup>& groups);

/// [{"family", "question", "unit", "baseline", "published", "cases": [every number of a case],
/// "conclusions"}].
Json to_json(const std::vector<BenchGroup>& groups);

}  // namespace tidemill::cli
