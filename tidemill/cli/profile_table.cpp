#include "tidemill/cli/profile_table.hpp"

#include <fmt/format.h>

namespace tidemill::cli {

std::string profile_table(const Profile& profile) {
    std::string table = fmt::format("{:<28}  {:<10}", "task", "replicable");
    for (const std::string& kind : profile.kinds) table += fmt::format("  {:>12}", kind + " us");
    table += "\n";
    for (const ChainTask& task : profile.tasks) {
        table += fmt::format("{:<28}  {:<10}", task.name, task.replicable ? "yes" : "no");
        for (const double weight_us : task.weight_us) table += fmt::format("  {:>12.2f}", weight_us);
        table += "\n";
    }
    return table + missing_words(profile);
}

}  // namespace tidemill::cli
