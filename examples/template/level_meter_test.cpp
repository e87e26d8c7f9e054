#include "level_meter.hpp"

#include "tidemill/tidemill.hpp"

int main() {
    tidemill::Testbench<LevelMeter> b{4};
    b.feed(b->samples, {10, -10, 10, -10}).step();
    return std::abs(b->level_db() - 20) < 1e-9 ? 0 : 1;
}
