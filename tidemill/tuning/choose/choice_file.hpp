#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill {

/// Conditions of a choice; it is worth nothing where any of this is another.
struct ChoiceKey {
    std::string graph;    ///< identity_of()
    std::string machine;  ///< 16 hexadecimal digits of the topology and the cores that may be used
    std::string version;  ///< of the library

    bool operator==(const ChoiceKey&) const = default;
};

/// A choice that is remembered from one run to the next.
struct RememberedChoice {
    ChoiceKey key;
    Choice choice;
};

/// The key of a graph on cores of a machine, for this library.
ChoiceKey choice_key(const Graph& graph, const Topology& topology, const Platform& cores);

/// Throws RunError saying where the text is not such a file; `source` is what it is called there.
std::vector<RememberedChoice> parse_choices(std::string_view text, std::string_view source);
std::string to_json(const std::vector<RememberedChoice>& choices);

/// The choice for a key, if the file is there and knows one. Throws RunError for a file that is damaged.
std::optional<Choice> remembered_choice(const std::filesystem::path& path, const ChoiceKey& key);

/// Puts the choice into the file in place of another for the same key; of a hundred the oldest goes. A file
/// that is damaged is written anew. Throws RunError when it cannot be written.
void remember_choice(const std::filesystem::path& path, const RememberedChoice& choice);

/// Takes a choice out again that was not as good as it had been. Throws RunError when that cannot be written.
void forget_choice(const std::filesystem::path& path, const ChoiceKey& key);

/// Where programs of this user keep their choices: in TIDEMILL_CHOICES, or in the user's folder for caches;
/// empty where there is none.
std::string usual_choice_file();

}  // namespace tidemill
