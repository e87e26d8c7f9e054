#include "tidemill/loopback/shared_air.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tidemill/loopback/loopback_options.hpp"

namespace tidemill::loopback {

namespace {

constexpr std::uint64_t kMagic = 0x31726941'6c646954;  // "TidlAir1"
constexpr std::uint64_t kBlockSamples = 256;
constexpr std::uint64_t kLeastSamples = 1 << 16;
constexpr mode_t kOnlyForUser = 0600;

std::uint64_t samples_held(double sample_rate_hz) {
    return std::bit_ceil(std::max(kLeastSamples, static_cast<std::uint64_t>(sample_rate_hz)));
}

[[noreturn]] void fail(const std::string& name, const char* action) {
    throw LoopbackError(
        fmt::format("the loopback's shared memory {} cannot be {}: {}", name, action, std::strerror(errno)));
}

std::string system_name(const std::string& name) {
    return fmt::format("/tidemill-loopback-{}-{}", getuid(), name);
}

}  // namespace

// Lies at the beginning of the memory; behind it a word for each block, and the samples, each as one word, so
// that a reader beside a writer gets whole ones.
struct SharedAir::Memory {
    std::uint64_t magic;
    double sample_rate_hz;
    std::uint64_t fast;
    std::int64_t epoch_ns;
    std::uint64_t samples;
    std::atomic<double> frequency_hz;
    std::atomic<std::uint64_t> written, taken;  // up to which sample

    static std::size_t bytes(std::uint64_t samples) {
        return sizeof(Memory) + (samples / kBlockSamples + samples) * sizeof(std::uint64_t);
    }
    std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
    // 1 more than the number of the block that lies there; 0: none.
    std::atomic_ref<std::uint64_t> label(std::uint64_t block) {
        return std::atomic_ref(words()[block % (samples / kBlockSamples)]);
    }
    std::atomic_ref<std::uint64_t> sample(std::uint64_t number) {
        return std::atomic_ref(words()[samples / kBlockSamples + number % samples]);
    }
};

/// The memory, seen by this program. Every user holds a shared lock, so one that gets it alone knows that it
/// is the only one, also after a crash.
class SharedAir::Mapping {
  public:
    explicit Mapping(const AirConfig& config) : name_(system_name(config.name)) {
        while (!attach(config)) close(descriptor_);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    ~Mapping() {
        munmap(memory_, bytes_);
        if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) shm_unlink(name_.c_str());
        close(descriptor_);
    }

    Memory& memory() const { return *memory_; }

    void lock_sender() {
        struct flock whole {};
        whole.l_type = F_WRLCK;
        if (fcntl(descriptor_, F_OFD_SETLK, &whole) == 0) return;
        throw LoopbackError("another program is sending on this air: give air=NAME for one of your own");
    }
    void unlock_sender() {
        struct flock whole {};
        whole.l_type = F_UNLCK;
        fcntl(descriptor_, F_OFD_SETLK, &whole);
    }

  private:
    // False when others are just doing the same, or leaving: once more.
    bool attach(const AirConfig& config) {
        descriptor_ = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOnlyForUser);
        if (descriptor_ < 0) fail(name_, "opened");
        check_owner();
        const bool alone = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
        if (alone && was_used()) {
            shm_unlink(name_.c_str());
            return false;
        }
        if (alone) lay_out(config);
        if (flock(descriptor_, LOCK_SH) != 0) fail(name_, "locked");
        if (was_removed()) return false;
        map(0);
        check_agreement(config);
        return true;
    }

    void check_owner() const {
        struct stat status {};
        if (fstat(descriptor_, &status) != 0) fail(name_, "looked at");
        if (status.st_uid == getuid() && (status.st_mode & 0077) == 0) return;
        close(descriptor_);
        throw LoopbackError(fmt::format("the loopback's shared memory {} belongs to somebody else", name_));
    }

    bool was_used() const {
        struct stat status {};
        return fstat(descriptor_, &status) == 0 && status.st_size > 0;
    }
    bool was_removed() const {
        struct stat status {};
        return fstat(descriptor_, &status) != 0 || status.st_nlink == 0 || status.st_size == 0;
    }

    void lay_out(const AirConfig& config) {
        const std::uint64_t samples = samples_held(config.sample_rate_hz);
        if (ftruncate(descriptor_, static_cast<off_t>(Memory::bytes(samples))) != 0) fail(name_, "made");
        map(Memory::bytes(samples));
        memory_->sample_rate_hz = config.sample_rate_hz;
        memory_->fast = config.fast ? 1 : 0;
        memory_->epoch_ns = config.now_ns;
        memory_->samples = samples;
        memory_->magic = kMagic;
        munmap(memory_, bytes_);
    }

    void map(std::size_t bytes) {
        struct stat status {};
        if (bytes == 0 && fstat(descriptor_, &status) == 0) bytes = static_cast<std::size_t>(status.st_size);
        void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        if (begin == MAP_FAILED) fail(name_, "mapped");
        memory_ = static_cast<Memory*>(begin);
        bytes_ = bytes;
    }

    void check_agreement(const AirConfig& config) {
        const Memory& there = *memory_;
        if (there.magic == kMagic && there.sample_rate_hz == config.sample_rate_hz &&
            (there.fast != 0) == config.fast)
            return;
        const std::string text =
            there.magic != kMagic
                ? "another version of the loopback uses this air: give air=NAME for one of your own"
                : fmt::format(
                      "the other program on this air has {} samples per second and pace={}: take the "
                      "same, or give air=NAME for one of your own",
                      there.sample_rate_hz, there.fast != 0 ? "fast" : "real");
        munmap(memory_, bytes_);
        close(descriptor_);
        throw LoopbackError(text);
    }

    std::string name_;
    int descriptor_ = -1;
    Memory* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

SharedAir::SharedAir(const AirConfig& config) : mapping_(std::make_unique<Mapping>(config)) {}

SharedAir::~SharedAir() = default;

std::int64_t SharedAir::epoch_ns() const {
    return mapping_->memory().epoch_ns;
}

std::uint64_t SharedAir::capacity() const {
    return mapping_->memory().samples;
}

void SharedAir::begin_to_send(double frequency_hz) {
    mapping_->lock_sender();
    mapping_->memory().frequency_hz = frequency_hz;
}

void SharedAir::end_sending() {
    mapping_->unlock_sender();
}

double SharedAir::sent_frequency_hz() const {
    return mapping_->memory().frequency_hz;
}

void SharedAir::write(std::uint64_t first, std::span<const dsp::Iq> samples) {
    Memory& memory = mapping_->memory();
    for (std::uint64_t i = 0; i < samples.size(); ++i) {
        const std::uint64_t number = first + i, block = number / kBlockSamples;
        if ((i == 0 || number % kBlockSamples == 0) && memory.label(block) != block + 1) {
            memory.label(block).store(0, std::memory_order_release);
            for (std::uint64_t k = 0; k < kBlockSamples; ++k)
                memory.sample(block * kBlockSamples + k).store(0, std::memory_order_relaxed);
            // pairs with the acquire in read()
            memory.label(block).store(block + 1, std::memory_order_release);
        }
        memory.sample(number).store(std::bit_cast<std::uint64_t>(samples[i]), std::memory_order_relaxed);
    }
    // pairs with the acquire in written()
    memory.written.store(first + samples.size(), std::memory_order_release);
}

void SharedAir::read(std::uint64_t first, std::span<dsp::Iq> samples) const {
    Memory& memory = mapping_->memory();
    std::uint64_t done = 0;
    while (done < samples.size()) {
        const std::uint64_t number = first + done, block = number / kBlockSamples;
        const auto part =
            samples.subspan(done, std::min(samples.size() - done, (block + 1) * kBlockSamples - number));
        const auto is_there = [&] {
            return memory.label(block).load(std::memory_order_acquire) == block + 1;
        };
        const bool before = is_there();
        for (std::size_t k = 0; before && k < part.size(); ++k)
            part[k] = std::bit_cast<dsp::Iq>(memory.sample(number + k).load(std::memory_order_relaxed));
        std::atomic_thread_fence(std::memory_order_acquire);
        if (!before || !is_there()) std::ranges::fill(part, dsp::Iq{});
        done += part.size();
    }
}

std::uint64_t SharedAir::written() const {
    return mapping_->memory().written.load(std::memory_order_acquire);
}

std::uint64_t SharedAir::taken() const {
    return mapping_->memory().taken.load(std::memory_order_acquire);
}

void SharedAir::take(std::uint64_t until) {
    mapping_->memory().taken.store(until, std::memory_order_release);
}

}  // namespace tidemill::loopback
