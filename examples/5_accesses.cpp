// Tasks that say how they share memory: a histogram, a sum of fractions, and a buffer that is filled anew.
#include <array>
#include <functional>

#include <fmt/core.h>

#include "tidemill/runtime/tasks/tasks.hpp"

using namespace tidemill;

int main() {
    Renamed<std::array<int, 4>> block;  // each write has memory of its own
    std::array<int, 3> histogram{};
    double total = 0;
    Reduction sum(total, std::plus<>{}, 0.0);  // each task adds to a copy that begins as 0

    Tasks tasks({.workers = 2});
    for (int i = 1; i <= 100; ++i) {
        const auto filled = block.write();  // need not wait for who reads the block before
        tasks.spawn({filled}, [filled, i] { *filled = {i, 2 * i, 3 * i, 5 * i}; });
        const auto seen = block.read();
        tasks.spawn({seen, commutes(histogram)}, [seen, &histogram] {  // in any order, one at a time
            for (const int number : *seen) ++histogram[static_cast<std::size_t>(number % 3)];
        });
        tasks.spawn({seen, reduces(sum)}, reducing(  // at the same time, combined in this order
                                              [seen](double& part) {
                                                  for (const int number : *seen) part += 1.0 / number;
                                              },
                                              sum));
    }
    tasks.wait();
    fmt::print("{} {} {}, {:.17g}\n", histogram[0], histogram[1], histogram[2], total);
}
