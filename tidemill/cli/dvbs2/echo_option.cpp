#include "tidemill/cli/dvbs2/echo_option.hpp"

#include <numbers>

#include "tidemill/options/number_list.hpp"

namespace tidemill::cli {

dvbs2::Echo echo_of(const std::string& text) {
    const auto [symbols, db, degrees] = few_numbers(text, "--echo", 2, 3);
    return {symbols, db, degrees * std::numbers::pi / 180};
}

}  // namespace tidemill::cli
