#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tidemill/base/json.hpp"

namespace tidemill::cli {

/// A value in a table of results; nothing where nothing is known.
using Cell = std::variant<std::monostate, std::string, double, std::uint64_t>;

/// A table of results that people and machines read alike.
struct ResultTable {
    /// A column, with the decimals that its numbers have in text; JSON has all of them.
    struct Column {
        std::string name;
        int decimals = 2;
        bool scientific = false;  ///< 1.2e-03
        std::string key{};        ///< its name in JSON, for programs; empty: as people read it
        bool in_text = true;      ///< else in JSON and CSV only
    };

    std::string title;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows{};
    std::vector<std::string> notes{};
};

/// Aligned columns under a title, notes below.
std::string to_text(const ResultTable& table);

/// A line of column names, then a line per row; text in quotes, nothing where nothing is known.
std::string to_csv(const ResultTable& table);

/// {"title", "rows": [{key: value}], "notes"}.
Json to_json(const ResultTable& table);

}  // namespace tidemill::cli
