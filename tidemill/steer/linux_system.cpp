#include "tidemill/steer/linux_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tidemill/machine/thread_affinity.hpp"
#include "tidemill/steer/internal/text_numbers.hpp"
#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

/// A file descriptor that closes itself; less than 0 where there is none.
class File {
  public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File& operator=(File&&) = delete;
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }

    static File of(const std::string& path) { return File(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }

    /// From its start, as much as fits; nothing when the thread that it is of has ended.
    template <std::size_t kBytes>
    std::optional<std::string_view> read(std::array<char, kBytes>& into) const {
        const ssize_t bytes = pread(descriptor_, into.data(), into.size(), 0);
        if (bytes <= 0) return std::nullopt;
        return std::string_view(into.data(), static_cast<std::size_t>(bytes));
    }

  private:
    int descriptor_;
};

/// All of a file of the kernel's, empty where there is none.
std::string text_of(const std::string& path) {
    const File file = File::of(path);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t bytes = 1; file.is_open() && bytes > 0;) {
        bytes = read(file.descriptor(), part.data(), part.size());
        if (bytes > 0) text.append(part.data(), static_cast<std::size_t>(bytes));
    }
    return text;
}

std::string line_of(const std::string& path) {
    std::string text = text_of(path);
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
}

/// The entries of a folder of /proc that are numbers.
std::vector<int> numbers_in(int folder) {
    std::vector<int> numbers;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = again < 0 ? nullptr : fdopendir(again);
    if (entries == nullptr) {
        if (again >= 0) close(again);
        return numbers;
    }
    while (const dirent* const entry = readdir(entries))
        if (const auto number = internal::whole_number<int>(entry->d_name)) numbers.push_back(*number);
    closedir(entries);
    return numbers;
}

class LinuxThread final : public HeldThread {
  public:
    LinuxThread(int number, File stat, File schedstat)
        : number_(number), stat_(std::move(stat)), schedstat_(std::move(schedstat)) {}

    std::optional<ThreadFacts> facts() override {
        std::array<char, 1024> text;
        const auto read = stat_.read(text);
        return read ? parse_stat(*read) : std::nullopt;
    }

    std::optional<ThreadTimes> times() override {
        std::array<char, 128> text;
        const auto read = schedstat_.read(text);
        return read ? parse_schedstat(*read) : std::nullopt;
    }

    // A thread that lives after a call had its number during it.
    std::optional<CpuSet> affinity() override {
        CpuSet set = affinity_of_thread(number_);
        if (set.empty() || !times()) return std::nullopt;
        return set;
    }

    Outcome set_affinity(const CpuSet& set) override {
        const auto before = affinity();
        if (!before) return Outcome::gone;
        const int code = set_affinity_of_thread(number_, set);
        if (!times()) {
            // The thread that has the number now is a stranger.
            if (code == 0) set_affinity_of_thread(number_, *before);
            return Outcome::gone;
        }
        return code == 0 ? Outcome::done : code == EINVAL ? Outcome::impossible : Outcome::refused;
    }

  private:
    int number_;
    File stat_;
    File schedstat_;
};

class LinuxSystem;

class LinuxProcess final : public HeldProcess {
  public:
    LinuxProcess(int number, File pidfd, File tasks, LinuxSystem& system)
        : number_(number), pidfd_(std::move(pidfd)), tasks_(std::move(tasks)), system_(system) {}

    bool has_ended() override {
        pollfd waiting{.fd = pidfd_.descriptor(), .events = POLLIN, .revents = 0};
        return poll(&waiting, 1, 0) == 1;
    }
    bool has_other_threads() override { return links() != links_; }
    std::vector<int> threads() override {
        links_ = links();
        return numbers_in(tasks_.descriptor());
    }
    std::unique_ptr<HeldThread> hold(int thread) override;
    std::optional<CpuSet> allowed() override;

  private:
    // The kernel counts a process's threads as links of their folder.
    std::uint64_t links() const {
        struct stat status {};
        return fstat(tasks_.descriptor(), &status) == 0 ? status.st_nlink : 0;
    }

    int number_;
    File pidfd_;
    File tasks_;
    LinuxSystem& system_;
    std::uint64_t links_ = 0;
};

class LinuxSystem final : public System {
  public:
    LinuxSystem()
        : root_(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), loadavg_(File::of("/proc/loadavg")) {
        if (text_of("/proc/self/schedstat").empty()) {
            throw SteerError(
                "there is no /proc/self/schedstat: mount /proc, on a kernel that keeps times of threads");
        }
        rlimit files{};
        if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }

    double now_s() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    double processor_s() override {
        timespec used{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    }
    std::uint64_t now_ticks() override {
        timespec now{};
        clock_gettime(CLOCK_BOOTTIME, &now);
        const auto per_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
        return static_cast<std::uint64_t>(now.tv_sec) * per_second +
               static_cast<std::uint64_t>(now.tv_nsec) * per_second / 1'000'000'000;
    }
    CpuSet online() override { return set_in("/sys/devices/system/cpu/online"); }
    CpuSet possible() override { return set_in("/sys/devices/system/cpu/possible"); }
    std::string boot_id() override { return line_of("/proc/sys/kernel/random/boot_id"); }

    // The last number of /proc/loadavg is the newest process's.
    bool has_new_processes() override {
        std::array<char, 128> text;
        const auto read = loadavg_.read(text);
        if (!read) return true;
        const std::string_view newest = read->substr(std::min(read->rfind(' '), read->size()));
        if (newest == newest_) return false;
        newest_ = newest;
        return true;
    }
    std::vector<int> processes() override { return numbers_in(root_.descriptor()); }
    std::vector<int> group(const std::filesystem::path& path) override;
    std::unique_ptr<HeldProcess> hold(int process) override;
    std::string shortage() override { return shortage_; }

    void note_shortage(int error) {
        if (error != EMFILE && error != ENFILE) return;
        shortage_ = "no more files can be opened, so some threads are left alone: raise ulimit -n";
    }
    std::optional<CpuSet> control_group(const std::string& path);

  private:
    static CpuSet set_in(const char* path) { return parse_cpu_set(text_of(path)).value_or(CpuSet{}); }

    struct KnownGroup {
        double since_s;
        std::optional<CpuSet> cpus;
    };

    File root_;
    File loadavg_;
    std::string newest_;
    std::string shortage_;
    std::map<std::string, KnownGroup> groups_;
};

std::unique_ptr<HeldThread> LinuxProcess::hold(int thread) {
    const std::string folder = fmt::format("/proc/{}/task/{}/", number_, thread);
    File stat = File::of(folder + "stat");
    File schedstat = File::of(folder + "schedstat");
    if (!stat.is_open() || !schedstat.is_open()) {
        system_.note_shortage(errno);
        return nullptr;
    }
    // If the process still lives, the folder was its own.
    if (has_ended()) return nullptr;
    return std::make_unique<LinuxThread>(thread, std::move(stat), std::move(schedstat));
}

std::optional<CpuSet> LinuxProcess::allowed() {
    const std::string group = line_of(fmt::format("/proc/{}/cpuset", number_));
    if (has_ended()) return std::nullopt;
    return system_.control_group(group);
}

std::optional<CpuSet> LinuxSystem::control_group(const std::string& path) {
    constexpr double kKnownFor_s = 0.5;
    KnownGroup& known = groups_.try_emplace(path, KnownGroup{-1, std::nullopt}).first->second;
    if (known.since_s >= 0 && now_s() - known.since_s < kKnownFor_s) return known.cpus;
    known = {now_s(), std::nullopt};
    for (const auto& file : {"/sys/fs/cgroup/cpuset" + path + "/cpuset.effective_cpus",
                             "/sys/fs/cgroup" + path + "/cpuset.cpus.effective"}) {
        const std::string text = text_of(file);
        if (!known.cpus && !text.empty()) known.cpus = parse_cpu_set(text);
    }
    if (!known.cpus && (path.empty() || path == "/")) known.cpus = online();
    return known.cpus;
}

std::vector<int> LinuxSystem::group(const std::filesystem::path& path) {
    std::error_code none;
    if (!std::filesystem::exists(path / "cgroup.procs", none)) {
        throw SteerError(fmt::format("{}: is no control group, which is a folder with a file cgroup.procs",
                                     path.string()));
    }
    std::vector<int> members = parse_numbers(text_of((path / "cgroup.procs").string()));
    for (auto below = std::filesystem::recursive_directory_iterator(path, none);
         below != std::filesystem::end(below); below.increment(none)) {
        if (none || !below->is_directory(none)) continue;
        const auto more = parse_numbers(text_of((below->path() / "cgroup.procs").string()));
        members.insert(members.end(), more.begin(), more.end());
    }
    return members;
}

std::unique_ptr<HeldProcess> LinuxSystem::hold(int process) {
    File pidfd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    File tasks(open(fmt::format("/proc/{}/task", process).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!pidfd.is_open() || !tasks.is_open()) {
        note_shortage(errno);
        return nullptr;
    }
    auto held = std::make_unique<LinuxProcess>(process, std::move(pidfd), std::move(tasks), *this);
    if (held->has_ended()) return nullptr;  // else the folder was that process's
    return held;
}

}  // namespace

std::unique_ptr<System> linux_system() {
    return std::make_unique<LinuxSystem>();
}

}  // namespace tidemill::steer
