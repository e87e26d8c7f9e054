#include "tidemill/apps/reception/page/rx_show.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::cli {

RxShow::RxShow(Receivers& receivers, const CountedSource& samples, BandTap* band, IqSaver* iq)
    : run_(receivers, samples, band), receivers_(receivers), samples_(samples), iq_(iq) {}

void RxShow::add(const RxStatus& status, const io::TsServices& services, RxLabel place) {
    views_.push_back(std::make_unique<RxViews>(receivers_, status, services, std::move(place), run_.live()));
}

void RxShow::step(double now_s) {
    run_.step();
    for (const auto& view : views_) view->step(samples_.time_s(now_s));
}

void RxShow::draw() {
    for (const auto& view : views_) view->draw();
    run_.draw();
}

bool RxShow::locked() const {
    return std::ranges::any_of(views_, [](const auto& view) { return view->locked(); });
}

std::string RxShow::status() const {
    if (views_.size() == 1) return to_text(views_.front()->status());
    Json carriers = Json::array();
    for (const auto& view : views_) {
        Json status = view->status();
        status["carrier"] = view->number();
        carriers.push_back(std::move(status));
    }
    return to_text(Json{{"carriers", std::move(carriers)}});
}

std::string RxShow::metrics(std::size_t viewers) const {
    std::vector<RxMetrics> carriers;
    for (const auto& view : views_) carriers.push_back(view->metrics());
    return metrics_text(carriers, viewers);
}

Json RxShow::in_common(bool of_all_times) const {
    Json masks = Json::array();
    for (const auto& view : views_) masks.push_back(view->mask());
    return Json{{"stages", run_.stages(of_all_times)},
                {"carriers", std::move(masks)},
                {"band",
                 {{"spectrum_db", run_.band_db()},
                  {"rate_hz", run_.band_rate_hz()},
                  {"centre_hz", band_centre_hz_}}}};
}

std::string RxShow::event(std::size_t carrier) const {
    const RxViews& view = *views_.at(carrier);
    Json event = view.now();
    event.update(in_common(false));
    event["moment"] = view.moment();
    event["knobs"] = run_.knobs().describe();
    event["can_save"] = iq_ != nullptr;
    return to_text(event);
}

std::string RxShow::history(std::size_t carrier) const {
    return carrier < views_.size() ? to_text(views_[carrier]->past()) : "{}";
}

std::string RxShow::whole() const {
    Json whole = in_common(true);
    whole["graph_svg"] = run_.graph_svg(true);
    whole["runs"] = Json::array();
    for (const auto& view : views_) whole["runs"].push_back(view->whole());
    return to_text(whole);
}

}  // namespace tidemill::cli
