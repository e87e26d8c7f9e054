#include "tidemill/fec/llr_information.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tidemill/fec/ldpc_settings.hpp"

namespace tidemill::fec {

namespace {

using InformationTable = std::array<float, 129>;  // by magnitude

InformationTable information_table(const Dvbs2Code& code) {
    InformationTable table{};
    for (std::size_t i = 1; i < table.size(); ++i) {
        const double wrong = 1 / (1 + std::exp(static_cast<double>(i) / llr_scale(code)));
        table[i] = static_cast<float>(1 + wrong * std::log2(wrong) + (1 - wrong) * std::log2(1 - wrong));
    }
    return table;
}

const InformationTable& table_of(const Dvbs2Code& code) {
    static const std::vector<InformationTable> kInformation = [] {
        std::vector<InformationTable> tables;
        for (const Dvbs2Code& each : dvbs2_codes()) tables.push_back(information_table(each));
        return tables;
    }();
    return kInformation[static_cast<std::size_t>(&code - dvbs2_codes().data())];
}

}  // namespace

double llr_information(const Dvbs2Code& code, std::span<const Llr> llrs, std::size_t stride) {
    const InformationTable& table = table_of(code);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < llrs.size(); i += stride, ++count)
        sum += double{table[static_cast<std::size_t>(std::abs(int{llrs[i]}))]};
    return sum / static_cast<double>(std::max<std::size_t>(count, 1));
}

bool tell_too_little(const Dvbs2Code& code, std::span<const Llr> llrs) {
    constexpr std::size_t kGlance = 61, kLook = 3;  // of all bits of a symbol
    constexpr double kMargin = 0.01;
    const double carried = static_cast<double>(code.k_bch) / code.n;
    if (llr_information(code, llrs, kGlance) > carried + kMargin) return false;
    return llr_information(code, llrs, kLook) < carried - kMargin;
}

}  // namespace tidemill::fec
