#include "tidemill/options/places.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/input_stream.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/network/network_address.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::cli {

namespace {

namespace fs = std::filesystem;

struct Place {
    std::string user;  // readers and writers there
    std::string text;  // what it is called
    bool is_output;
    std::string identity;   // the same for the same place; empty: it may be shared
    bool runs_dry = false;  // an input of which one reader gets what another does not
};

std::string identity_of(const struct stat& status) {
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return {};
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

std::string identity_of_stream(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? identity_of(status) : std::string();
}

// Where a file would be made: links that lead to nothing yet are followed.
fs::path place_of_new(fs::path path) {
    constexpr int kMostLinks = 40;  // as the system does
    std::error_code none;
    for (int links = 0; links < kMostLinks && fs::is_symlink(path, none); ++links) {
        path = path.parent_path() / fs::read_symlink(path, none);
    }
    return fs::weakly_canonical(fs::absolute(path, none), none);
}

std::string identity_of_file(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0) return identity_of(status);
    return place_of_new(path).string();
}

bool is_on_network(const std::string& place) {
    constexpr const char* kSchemes[] = {"udp", "rtp", "tcp-listen"};
    return std::ranges::any_of(kSchemes,
                               [&](const char* scheme) { return io::is_network_url(scheme, place); });
}

std::string identity_of(const Option& option, const std::string& place) {
    if (is_on_network(place)) return place;
    if (!is_standard_stream(place) || option.kind == Kind::input_file) return identity_of_file(place);
    if (option.is_input()) return identity_of_stream(STDIN_FILENO);
    const std::string leads_to = identity_of_stream(STDOUT_FILENO);
    return leads_to.empty() ? "standard output" : leads_to;
}

// A recording may be named by either of its files, or by both without extension.
bool may_be_sigmf(const std::string& text) {
    const std::string extension = fs::path(text).extension();
    return !is_standard_stream(text) && (extension.empty() || extension.starts_with(".sigmf-"));
}

bool is_device(const std::string& text) {
    std::error_code none;
    return fs::exists(text, none) && !fs::is_regular_file(text, none);
}

std::vector<std::string> files_written(const Option& option, const std::string& text) {
    std::vector<std::string> files{text};
    if (may_be_sigmf(text) && !is_device(text)) {
        const io::SigmfPaths recording = io::sigmf_paths(text);
        files.insert(files.end(), {recording.meta, recording.data});
    }
    if (!option.more_places) return files;
    const std::vector<std::string> more = option.more_places(text);
    files.insert(files.end(), more.begin(), more.end());
    return files;
}

// Where the samples of a recording lie, its metadata may say. Its verb opens it again: how it is to be read,
// other options say, which are no values yet, and until then nothing of it is held but a few names.
std::vector<std::string> files_read(const std::string& text) {
    std::vector<std::string> files{text};
    if (io::live_kind_of(text)) return files;
    const auto equals = text.find('=');  // --stream takes NUMBER=INPUT
    if (equals != std::string::npos) files.push_back(text.substr(equals + 1));
    if (!may_be_sigmf(text)) return files;
    try {
        files.push_back(io::open_recording(text).data_path);  // which the metadata may name
        files.push_back(io::sigmf_paths(text).meta);
    } catch (const io::IoError&) {
        // No recording, or none that can be read: its reader reports it.
    }
    return files;
}

// Samples or packets that come once.
bool runs_dry(const std::string& place) {
    return io::live_kind_of(place) || io::InputStream::is_stream(place);
}

std::vector<Place> places_of(const Option& option) {
    std::vector<Place> places;
    for (const std::string& text : option.given) {
        std::map<std::string, bool> identities;  // the text itself may name one of its files
        for (const std::string& file : option.is_output() ? files_written(option, text) : files_read(text))
            identities[identity_of(option, file)] |= option.is_input() && runs_dry(file);
        for (const auto& [identity, runs_dry] : identities)
            places.push_back({option.name(), text, option.is_output(), identity, runs_dry});
    }
    return places;
}

// Results and progress go there whether they are named or not.
std::vector<Place> standard_places(const std::vector<Place>& named) {
    std::vector<Place> places{{"standard error", "", true, identity_of_stream(STDERR_FILENO)}};
    const bool output_is_named = std::ranges::any_of(
        named, [](const Place& place) { return place.is_output && is_standard_stream(place.text); });
    if (!output_is_named) places.push_back({"standard output", "", true, identity_of_stream(STDOUT_FILENO)});
    return places;
}

[[noreturn]] void refuse(const Place& output, const Place& other) {
    throw WrongUsage(fmt::format("{} {} is where {} {}: choose another", output.user, output.text, other.user,
                                 other.is_output ? "goes" : "comes from"));
}

}  // namespace

void check_places(const std::vector<const Option*>& options) {
    std::vector<Place> named;
    for (const Option* option : options) {
        if (!option->is_input() && !option->is_output()) continue;
        const std::vector<Place> more = places_of(*option);
        named.insert(named.end(), more.begin(), more.end());
    }
    std::stable_partition(named.begin(), named.end(), [](const Place& place) { return !place.is_output; });
    std::map<std::string, Place> taken;
    for (const Place& place : named) {
        if (place.identity.empty()) continue;
        const auto [other, is_new] = taken.emplace(place.identity, place);
        if (!is_new && (place.is_output || place.runs_dry)) refuse(place, other->second);
    }
    for (const Place& place : standard_places(named)) {
        const auto same = taken.find(place.identity);
        if (same == taken.end() || !same->second.is_output || is_standard_stream(same->second.text)) continue;
        refuse(same->second, place);
    }
}

}  // namespace tidemill::cli
