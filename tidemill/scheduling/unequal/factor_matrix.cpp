#include "tidemill/scheduling/unequal/factor_matrix.hpp"

namespace tidemill::bridge {

const char* to_string(Quality quality) {
    switch (quality) {
        case Quality::absent:
            return "absent";
        case Quality::estimated:
            return "estimated";
        case Quality::measured:
            return "measured";
    }
    return "";
}

}  // namespace tidemill::bridge
