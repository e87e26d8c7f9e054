#include "schedext/kernel_scheduler.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "schedext/scheduler_error.hpp"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

namespace tidemill::schedext {

namespace {

constexpr __u32 kFirst = 0;
constexpr __u32 kAtOnce = 256;                     // accounts in one system call
constexpr std::uint64_t kMayRestart = 1ULL << 48;  // in the kernel's exit code

struct CloseObject {
    void operator()(bpf_object* object) const { bpf_object__close(object); }
};
struct DestroyLink {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

// Messages of libbpf and the verifier while a scheduler is loaded; libbpf has one printer for the whole
// process.
std::string& words_of_libbpf() {
    static std::string words;
    return words;
}

[[gnu::format(printf, 2, 0)]] int keep_words(libbpf_print_level level, const char* format,
                                             va_list arguments) {
    if (level != LIBBPF_WARN) return 0;
    std::string line(4096, '\0');
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    words_of_libbpf().append(line, 0,
                             std::min(line.size() - 1, static_cast<std::size_t>(std::max(length, 0))));
    return length;
}

[[noreturn]] void refuse(const std::string& object, const char* step, int error) {
    const char* advice =
        error == EPERM   ? "; run it as root"
        : error == EBUSY ? "; another scheduler is in charge, end that first"
        : error == ENOENT || error == ESRCH
            ? "; or it has no sched_ext: Linux has it from 6.12 on, where CONFIG_SCHED_CLASS_EXT is set"
            : "";
    throw SchedulerError(fmt::format("{}: the kernel refuses to {} it ({}){}\n{}", object, step,
                                     std::strerror(error), advice, words_of_libbpf()));
}

bpf_map* scheduler_in(bpf_object* object) {
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, object) {
        if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS) return map;
    }
    return nullptr;
}

// Time that the thread wants since the scheduler last looked at it is not in the account yet.
std::uint64_t wanted_ns(const AccountEntry& entry, std::uint64_t now_ns) {
    const bool wants = entry.wants_since_ns != 0 && entry.wants_since_ns < now_ns;
    return entry.wanted_ns + (wants ? now_ns - entry.wants_since_ns : 0);
}

steer::ThreadAccount account_from(__u32 id, const AccountEntry& entry, std::size_t kinds,
                                  std::uint64_t now_ns) {
    return {.id = id,
            .started_ns = entry.started_ns,
            .program = fmt::format("{}.{}", entry.process, entry.thread),
            .weight = entry.weight / 100.0,
            .stays = entry.steerable == 0,
            .on_kind_ns = {entry.on_kind_ns, entry.on_kind_ns + kinds},
            .wanted_ns = wanted_ns(entry, now_ns)};
}

}  // namespace

struct KernelScheduler::Loaded {
    int map(const char* name) const {
        const int map = bpf_object__find_map_fd_by_name(object.get(), name);
        if (map < 0) throw SchedulerError(fmt::format("the scheduler has no map '{}'; build it anew", name));
        return map;
    }

    std::unique_ptr<bpf_object, CloseObject> object;
    std::unique_ptr<bpf_link, DestroyLink> link{};
    std::size_t kinds;
    int threads = -1;
    int wishes = -1;
    int ended = -1;
};

KernelScheduler::KernelScheduler(const std::string& object, const Cpus& cpus) {
    words_of_libbpf().clear();
    libbpf_set_print(keep_words);
    loaded_ = std::make_unique<Loaded>(
        Loaded{.object = {bpf_object__open_file(object.c_str(), nullptr), {}}, .kinds = cpus.kinds.count()});
    if (!loaded_->object) refuse(object, "open", errno);
    if (const int error = bpf_object__load(loaded_->object.get())) refuse(object, "load", -error);
    loaded_->threads = loaded_->map("threads");
    loaded_->wishes = loaded_->map("wishes");
    loaded_->ended = loaded_->map("ended");
    bpf_map_update_elem(loaded_->map("machine"), &kFirst, &cpus.machine, BPF_ANY);
    bpf_map* scheduler = scheduler_in(loaded_->object.get());
    if (scheduler == nullptr) throw SchedulerError(fmt::format("{}: there is no scheduler in it", object));
    loaded_->link.reset(bpf_map__attach_struct_ops(scheduler));
    if (!loaded_->link) refuse(object, "attach", errno);
}

KernelScheduler::~KernelScheduler() = default;

std::vector<steer::ThreadAccount> KernelScheduler::accounts(std::uint64_t now_ns) const {
    std::vector<steer::ThreadAccount> accounts;
    std::vector<__u32> ids(kAtOnce);
    std::vector<AccountEntry> entries(kAtOnce);
    __u32 place = 0;
    int error = 0;
    for (__u32* from = nullptr; error == 0; from = &place) {  // -ENOENT: these were the last
        __u32 count = kAtOnce;
        error =
            bpf_map_lookup_batch(loaded_->threads, from, &place, ids.data(), entries.data(), &count, nullptr);
        for (__u32 i = 0; i < count && (error == 0 || error == -ENOENT); ++i)
            if (entries[i].started_ns != 0)
                accounts.push_back(account_from(ids[i], entries[i], loaded_->kinds, now_ns));
    }
    return accounts;
}

void KernelScheduler::tell(const steer::Wish& wish) {
    if (!wish.kind) {
        bpf_map_delete_elem(loaded_->wishes, &wish.thread);
        return;
    }
    const WishEntry entry{.started_ns = wish.started_ns, .kind = static_cast<__u32>(*wish.kind)};
    bpf_map_update_elem(loaded_->wishes, &wish.thread, &entry, BPF_ANY);
}

std::optional<Ending> KernelScheduler::ending() const {
    EndEntry entry{};
    bpf_map_lookup_elem(loaded_->ended, &kFirst, &entry);
    if (entry.kind == 0) return std::nullopt;
    const std::string message = *entry.message ? fmt::format(": {}", entry.message) : "";
    return Ending{(entry.code & kMayRestart) != 0, entry.reason + message};
}

}  // namespace tidemill::schedext
