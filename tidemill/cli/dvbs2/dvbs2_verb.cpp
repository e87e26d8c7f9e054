#include "tidemill/cli/verbs.hpp"

namespace tidemill::cli {

void add_dvbs2(Verb& program) {
    Verb& dvbs2 = program.verb("dvbs2", "The DVB-S2 transceiver");
    dvbs2.footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    add_dvbs2_tx(dvbs2);
    add_dvbs2_channel(dvbs2);
    add_dvbs2_ber(dvbs2);
    add_dvbs2_rx(dvbs2);
    add_dvbs2_scan(dvbs2);
    add_dvbs2_profile(dvbs2);
}

}  // namespace tidemill::cli
