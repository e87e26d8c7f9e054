#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// How much of a published experiment to repeat.
struct ReproduceOptions {
    std::size_t chains = 1000;  ///< random chains per setting
    std::size_t timed = 50;     ///< random chains per measured run time
    std::uint64_t frames = 2000;
    std::uint64_t seed = 1;
    std::uint64_t tasks = 10000;  ///< per worker, of each StreamIt benchmark
    std::size_t runs = 480;       ///< of each simulated operating system
    std::uint64_t mixes =
        10;  ///< of programs on such systems; only tests have fewer than the table's title says
    std::size_t device_bytes = std::size_t{256} << 20U;  ///< of a device's largest buffer
    std::size_t most_bytes = std::size_t{16} << 20U;     ///< of the largest buffer of streaming increments

    /// Called while long experiments run, with what comes next and what share is done.
    std::function<void(std::string_view next, double done)> progress{};
};

/// A published table or figure that we make again.
struct Reproduction {
    std::string_view name;
    std::string_view summary;
    std::vector<ResultTable> (*make)(const ReproduceOptions& options);
};

/// All there are, in the order of the papers.
std::span<const Reproduction> reproductions();

/// The one of that name; throws WrongUsage where there is none.
const Reproduction& reproduction_of(std::string_view name);

// Tables of random chains.
std::vector<ResultTable> table1(const ReproduceOptions& options);
std::vector<ResultTable> fig5(const ReproduceOptions& options);
std::vector<ResultTable> fig6(const ReproduceOptions& options);
std::vector<ResultTable> fig7(const ReproduceOptions& options);

// Tables of the DVB-S2 receiver's chain.
std::vector<ResultTable> table2(const ReproduceOptions& options);
std::vector<ResultTable> table3(const ReproduceOptions& options);
std::vector<ResultTable> fig11(const ReproduceOptions& options);
std::vector<ResultTable> fig12(const ReproduceOptions& options);
std::vector<ResultTable> fig13(const ReproduceOptions& options);
std::vector<ResultTable> fig14(const ReproduceOptions& options);
std::vector<ResultTable> fig15(const ReproduceOptions& options);

// Figures of the paper's example.
std::vector<ResultTable> fig1_to_4(const ReproduceOptions& options);
std::vector<ResultTable> fig8(const ReproduceOptions& options);
std::vector<ResultTable> fig9(const ReproduceOptions& options);

// Tables of the article on StreamPU.
std::vector<ResultTable> streampu_table1(const ReproduceOptions& options);
std::vector<ResultTable> streampu_table3(const ReproduceOptions& options);
std::vector<ResultTable> streampu_table4(const ReproduceOptions& options);
std::vector<ResultTable> streampu_table5(const ReproduceOptions& options);
std::vector<ResultTable> streampu_fig5(const ReproduceOptions& options);
std::vector<ResultTable> streampu_fig10(const ReproduceOptions& options);
std::vector<ResultTable> streampu_fig11(const ReproduceOptions& options);

// Tables of the poster on streaming applications on systems on a chip.
std::vector<ResultTable> poster_memory(const ReproduceOptions& options);
std::vector<ResultTable> poster_locality(const ReproduceOptions& options);
std::vector<ResultTable> poster_dvbs2(const ReproduceOptions& options);

// Tables of dynamic scheduling.
std::vector<ResultTable> table4_1(const ReproduceOptions& options);
std::vector<ResultTable> table4_2(const ReproduceOptions& options);
std::vector<ResultTable> table4_3(const ReproduceOptions& options);
std::vector<ResultTable> table4_4(const ReproduceOptions& options);
std::vector<ResultTable> fig4_1(const ReproduceOptions& options);
std::vector<ResultTable> fig4_2(const ReproduceOptions& options);
std::vector<ResultTable> fig4_3(const ReproduceOptions& options);
std::vector<ResultTable> fig4_4(const ReproduceOptions& options);
std::vector<ResultTable> fig4_5(const ReproduceOptions& options);
std::vector<ResultTable> fig4_8(const ReproduceOptions& options);
std::vector<ResultTable> fig4_9(const ReproduceOptions& options);
std::vector<ResultTable> fig4_10(const ReproduceOptions& options);
std::vector<ResultTable> fig4_13(const ReproduceOptions& options);
std::vector<ResultTable> fig4_14(const ReproduceOptions& options);
std::vector<ResultTable> fig4_15(const ReproduceOptions& options);
std::vector<ResultTable> fig4_17(const ReproduceOptions& options);
std::vector<ResultTable> fig4_18(const ReproduceOptions& options);
std::vector<ResultTable> table4_5(const ReproduceOptions& options);

// Figures of the layer for unequal cores.
std::vector<ResultTable> s_bridge_fig4(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig5(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig6(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig7(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig8(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig9(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig10(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_fig11(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_systems(const ReproduceOptions& options);
std::vector<ResultTable> s_bridge_overhead(const ReproduceOptions& options);

}  // namespace tidemill::cli
