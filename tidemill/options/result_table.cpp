#include "tidemill/options/result_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/base/json.hpp"

namespace tidemill::cli {

namespace {

std::string shown(const Cell& cell, const ResultTable::Column& column) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* count = std::get_if<std::uint64_t>(&cell)) return std::to_string(*count);
    const auto* number = std::get_if<double>(&cell);
    if (!number) return "-";
    if (column.scientific && *number != 0) return fmt::format("{:.{}e}", *number, column.decimals);
    return fmt::format("{:.{}f}", *number, column.scientific ? 0 : column.decimals);
}

// Columns of text stand to the left, columns of numbers to the right.
bool is_text(const ResultTable& table, std::size_t column) {
    return std::ranges::any_of(
        table.rows, [=](const auto& row) { return std::holds_alternative<std::string>(row[column]); });
}

void append(std::string& line, const std::string& text, std::size_t width, bool left) {
    line += left ? fmt::format("{:<{}}  ", text, width) : fmt::format("{:>{}}  ", text, width);
}

void end_line(std::string& text, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
}

Json json_of(const auto& value) {
    return value;
}

Json json_of(std::monostate) {
    return {};
}

}  // namespace

std::string to_text(const ResultTable& table) {
    std::vector<std::string> lines(table.rows.size() + 1);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (!table.columns[c].in_text) continue;
        std::vector<std::string> cells{table.columns[c].name};
        for (const auto& row : table.rows) cells.push_back(shown(row[c], table.columns[c]));
        const std::size_t width = std::ranges::max_element(cells, {}, &std::string::size)->size();
        for (std::size_t r = 0; r < cells.size(); ++r) append(lines[r], cells[r], width, is_text(table, c));
    }
    std::string text = table.title + "\n";
    for (std::string& line : lines) end_line(text, std::move(line));
    for (const std::string& note : table.notes) text += note + "\n";
    return text;
}

std::string to_csv(const ResultTable& table) {
    std::string text;
    for (const auto& column : table.columns)
        text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", column.name);
    for (const auto& row : table.rows) {
        std::string line;
        for (const Cell& cell : row) {
            if (&cell != &row.front()) line += ",";
            if (const auto* name = std::get_if<std::string>(&cell)) line += fmt::format("\"{}\"", *name);
            if (const auto* number = std::get_if<double>(&cell)) line += fmt::format("{}", *number);
            if (const auto* count = std::get_if<std::uint64_t>(&cell)) line += std::to_string(*count);
        }
        text += "\n" + line;
    }
    return text + "\n";
}

Json to_json(const ResultTable& table) {
    Json json{{"title", table.title}, {"rows", Json::array()}};
    for (const auto& row : table.rows) {
        Json object;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const ResultTable::Column& column = table.columns[c];
            auto& place = object[column.key.empty() ? column.name : column.key];
            place = std::visit([](const auto& value) { return json_of(value); }, row[c]);
        }
        json["rows"].push_back(std::move(object));
    }
    json["notes"] = table.notes;
    return json;
}

}  // namespace tidemill::cli
