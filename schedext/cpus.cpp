#include "schedext/cpus.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "schedext/scheduler_error.hpp"
#include <fmt/format.h>

namespace tidemill::schedext {

namespace {

using std::filesystem::path;

template <typename Word>
std::optional<Word> word_in(const path& file) {
    std::ifstream in(file);
    Word word;
    return in >> word ? std::optional(word) : std::nullopt;
}

// "0-7" or "0,2-7": the numbers have no gaps that matter to us.
unsigned possible_cpus(const path& folder) {
    const std::string list = word_in<std::string>(folder / "possible").value_or("");
    const std::size_t last = list.find_last_of("-,") + 1;
    if (last >= list.size())
        throw SchedulerError(
            fmt::format("{}: tells no CPUs; is it mounted?", (folder / "possible").string()));
    const unsigned cpus = static_cast<unsigned>(std::stoul(list.substr(last))) + 1;
    if (cpus > kMaxCpus)
        throw SchedulerError(
            fmt::format("{} CPUs are possible; the scheduler is made for {}", cpus, +kMaxCpus));
    return cpus;
}

// Not every CPU can be taken off line, and those have no such file.
bool is_online(const path& cpu) {
    return word_in<int>(cpu / "online").value_or(1) != 0;
}

// CPUs by capacity, the largest first.
std::map<int, std::vector<unsigned>, std::greater<>> by_capacity(const path& folder) {
    std::map<int, std::vector<unsigned>, std::greater<>> cpus;
    for (unsigned cpu = 0; cpu < possible_cpus(folder); ++cpu) {
        const path its = folder / fmt::format("cpu{}", cpu);
        const auto capacity = word_in<int>(its / "cpu_capacity");
        if (capacity && *capacity > 0 && is_online(its)) cpus[*capacity].push_back(cpu);
    }
    return cpus;
}

// Cores of one design are sold in speed bins: what differs by less than a tenth is one kind.
bool is_another_kind(const Cpus& cpus, int largest, int capacity) {
    return cpus.kinds.empty() || 10LL * capacity <= 9LL * largest;
}

void begin_kind(Cpus& cpus, unsigned first_cpu, double usual_factor) {
    const std::size_t kind = cpus.kinds.size();
    if (kind == kMaxKinds)
        throw SchedulerError(
            fmt::format("more than {} kinds of CPUs; the scheduler is made for no more", kind));
    cpus.machine.first_cpu_of[kind] = first_cpu;
    const std::string name = kind == 0 ? "big" : kind == 1 ? "little" : fmt::format("kind{}", kind + 1);
    cpus.kinds.push_back({name, {.usual_factor = usual_factor}});
}

}  // namespace

std::string Cpus::describe() const {
    std::vector<std::string> kinds_in_words;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        kinds_in_words.push_back(fmt::format("{} {} from cpu{} on", kinds[kind].cores.cores, kinds[kind].name,
                                             machine.first_cpu_of[kind]));
    return fmt::format("{}", fmt::join(kinds_in_words, ", "));
}

Cpus read_cpus(const path& folder) {
    Cpus cpus;
    const auto found = by_capacity(folder);
    int largest = 0;
    for (const auto& [capacity, members] : found) {
        if (is_another_kind(cpus, largest, capacity)) {
            begin_kind(cpus, members.front(), static_cast<double>(found.begin()->first) / capacity);
            largest = capacity;
        }
        cpus.kinds.back().cores.cores += static_cast<unsigned>(members.size());
        for (const unsigned cpu : members)
            cpus.machine.kind_of_cpu[cpu] = static_cast<__u8>(cpus.kinds.size() - 1);
    }
    cpus.machine.cpus = possible_cpus(folder);
    cpus.machine.kinds = static_cast<__u32>(cpus.kinds.size());
    return cpus;
}

}  // namespace tidemill::schedext
