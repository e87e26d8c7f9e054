#include "bindings/json_object.hpp"

#include <string>

namespace tidemill::python {

namespace {

struct ToPython {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(const Json::Array& elements) const {
        nb::list list;
        for (const Json& each : elements) list.append(to_python(each));
        return list;
    }
    nb::object operator()(const Json::Object& members) const {
        nb::dict dict;
        for (const auto& [key, member] : members) dict[nb::cast(key)] = to_python(member);
        return dict;
    }
    nb::object operator()(const auto& plain) const { return nb::cast(plain); }
};

}  // namespace

nb::object to_python(const Json& value) {
    return value.visit(ToPython{});
}

nb::dict to_dict(const Json& object) {
    return nb::cast<nb::dict>(to_python(object));
}

}  // namespace tidemill::python
