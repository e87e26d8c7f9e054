#include "tidemill/cli/outside_verb.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace tidemill::cli {

namespace {

namespace fs = std::filesystem;

bool may_be_verb(std::string_view word) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return !word.empty() && word.front() != '-' && std::ranges::all_of(word, fits);
}

bool has_verb(const Verb& program, std::string_view word) {
    return std::ranges::any_of(program.verbs(), [=](const Verb& verb) { return verb.name() == word; });
}

bool is_executable(const fs::path& file) {
    std::error_code none;
    return fs::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0;
}

// This program's own, then those of the path that do not depend on where one stands.
std::vector<fs::path> folders_of(const std::string& path) {
    std::error_code none;
    std::vector<fs::path> folders{fs::read_symlink("/proc/self/exe", none).parent_path()};
    for (const auto part : std::views::split(path, ':')) {
        folders.emplace_back(std::string(part.begin(), part.end()));
    }
    std::erase_if(folders, [](const fs::path& folder) { return !folder.is_absolute(); });
    return folders;
}

}  // namespace

std::optional<fs::path> program_of_verb(const Verb& program, const std::string& verb,
                                        const std::string& path) {
    if (!may_be_verb(verb) || has_verb(program, verb)) return {};
    for (const fs::path& folder : folders_of(path)) {
        const fs::path file = folder / fmt::format("{}-{}", program.name(), verb);
        if (is_executable(file)) return file;
    }
    return {};
}

void become_program_of_verb(const Verb& program, int argc, char** argv) {
    const char* const path = std::getenv("PATH");
    if (argc < 2) return;
    const auto file = program_of_verb(program, argv[1], path == nullptr ? "" : path);
    if (!file) return;
    std::string name = file->string();
    std::vector<char*> words{name.data()};
    words.insert(words.end(), argv + 2, argv + argc + 1);  // with the null pointer at the end
    execv(name.c_str(), words.data());
}

}  // namespace tidemill::cli
