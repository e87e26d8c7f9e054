// Alone in a file, so that all other tests are compiled alike wherever the sources lie.
#include "tidemill/testing/test_places.hpp"

namespace tidemill::cli::internal {

const std::string& program_path() {
    static const std::string path = TIDEMILL_PROGRAM;
    return path;
}

const std::string& data_folder() {
    static const std::string path = TIDEMILL_DATA;
    return path;
}

}  // namespace tidemill::cli::internal
