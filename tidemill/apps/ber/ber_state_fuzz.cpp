#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>

#include "tidemill/apps/ber/ber_state.hpp"
#include "tidemill/io/io_error.hpp"

namespace {

using namespace tidemill;

/// A file of its own for each process, since BerState reads by name.
class StateFile {
  public:
    StateFile() {
        std::string name = (std::filesystem::temp_directory_path() / "tidemill-fuzz-XXXXXX").string();
        if (!mkdtemp(name.data())) std::abort();
        folder_ = name;
    }
    StateFile(const StateFile&) = delete;
    StateFile& operator=(const StateFile&) = delete;
    ~StateFile() { std::filesystem::remove_all(folder_); }

    std::filesystem::path path() const { return folder_ / "state.json"; }

  private:
    std::filesystem::path folder_;
};

}  // namespace

/// Any file holds counts or is an IoError; counts that were added are there when it is read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const StateFile file;
    std::ofstream(file.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    const dvbs2::BerPoint point{.pls = {4, dvbs2::FrameSize::short_, false}, .esn0_db = 1.5};
    try {
        cli::BerState state(file.path());
        dvbs2::BerCounts counts = state.counts_of(point);
        ++counts.frames;
        state.put(point, counts);
        if (cli::BerState(file.path()).counts_of(point).frames != counts.frames) std::abort();
    } catch (const io::IoError&) {
    }
    return 0;
}
