#include "tidemill/options/outside_verb.hpp"

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

/// Another program's name, and where its own words begin.
struct OutsideCall {
    std::string name;
    int first_word = 2;
};

OutsideCall outside_call(int argc, char** argv) {
    const std::string verb = argv[1];
    if (verb == "bench" && argc > 2 && std::ranges::count(kOutsideBenchmarks, std::string_view(argv[2])) > 0)
        return {"bench-" + std::string(argv[2]), 3};
    return {verb};
}

}  // namespace

std::optional<fs::path> outside_program(const std::string& name, const std::string& path) {
    for (const fs::path& folder : folders_of(path)) {
        const fs::path file = folder / ("tidemill-" + name);
        if (is_executable(file)) return file;
    }
    return {};
}

std::string outside_program_missing(const std::string& name) {
    return fmt::format(
        "there is no tidemill-{} beside this program or in an absolute folder of the path: "
        "Python's package brings it (./x python, docs/guides/many-machines.md)",
        name);
}

std::optional<fs::path> program_of_verb(const Verb& program, const std::string& verb,
                                        const std::string& path) {
    if (!may_be_verb(verb) || has_verb(program, verb)) return {};
    return outside_program(verb, path);
}

void become_program_of_verb(const Verb& program, int argc, char** argv) {
    const char* const path = std::getenv("PATH");
    if (argc < 2) return;
    const OutsideCall call = outside_call(argc, argv);
    const auto file = program_of_verb(program, call.name, path == nullptr ? "" : path);
    if (!file) return;
    std::string name = file->string();
    std::vector<char*> words{name.data()};
    words.insert(words.end(), argv + call.first_word, argv + argc + 1);  // with the null pointer at the end
    execv(name.c_str(), words.data());
}

}  // namespace tidemill::cli
