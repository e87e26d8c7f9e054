#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/runtime/observe/internal/drawing.hpp"

namespace tidemill {

namespace {

using namespace internal;

// All lengths in pixels.
constexpr double kMargin = 24;
constexpr double kBoxHeight = 48;
constexpr double kBoxGapX = 24;
constexpr double kBoxGapY = 36;
constexpr double kPadding = 20;   // inside a stage
constexpr double kTitle = 30;     // height of a stage's title
constexpr double kGroupGap = 72;  // between stages
constexpr double kBulge = 34;     // of links that pass by boxes
constexpr double kLegend = 44;
constexpr double kLegendWidth = 400;
constexpr double kCharacter = 7.2;  // width, at the size used for names

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

struct Box {
    double x;
    double y;
    double width;
    double height;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
    double middle_x() const { return x + width / 2; }
    double middle_y() const { return y + height / 2; }
};

class Picture {
  public:
    explicit Picture(const Drawing& drawing) : drawing_(drawing) {
        std::size_t longest = 16;
        for (const DrawnTask& task : drawing.tasks) longest = std::max(longest, task.name.size());
        box_width_ = static_cast<double>(longest) * kCharacter + 24;
        place_groups();
        for (const DrawnTask& task : drawing.tasks) boxes_.push_back(box_of(task));
    }

    std::string text() const {
        std::string svg = head();
        for (std::size_t g = 0; g < groups_.size(); ++g) svg += group(groups_[g], drawing_.groups[g].title);
        for (const DrawnLink& link : drawing_.links) svg += drawn(link);
        for (std::size_t t = 0; t < boxes_.size(); ++t) svg += drawn(boxes_[t], drawing_.tasks[t]);
        return svg + legend() + "</svg>\n";
    }

  private:
    void place_groups() {
        double x = kMargin;
        for (const DrawnGroup& group : drawing_.groups) {
            const auto columns = static_cast<double>(group.columns);
            const auto rows = static_cast<double>(group.rows);
            const double inside = columns * box_width_ + (columns - 1) * kBoxGapX;
            const double title = static_cast<double>(group.title.size()) * kCharacter;
            const double width = std::max(inside + 2 * (kPadding + kBulge), title + 2 * kPadding);
            const double height = kTitle + rows * kBoxHeight + (rows - 1) * kBoxGapY + 2 * kPadding;
            groups_.push_back({x, kMargin, width, height});
            x += width + kGroupGap;
            height_ = std::max(height_, height);
        }
        width_ = std::max(x - kGroupGap, kMargin + kLegendWidth) + kMargin;
    }

    Box box_of(const DrawnTask& task) const {
        const Box& group = groups_[task.group];
        const auto columns = static_cast<double>(drawing_.groups[task.group].columns);
        const double inside = columns * box_width_ + (columns - 1) * kBoxGapX;
        const double left = group.x + (group.width - inside) / 2;
        return {left + static_cast<double>(task.column) * (box_width_ + kBoxGapX),
                group.y + kTitle + kPadding + static_cast<double>(task.row) * (kBoxHeight + kBoxGapY),
                box_width_, kBoxHeight};
    }

    std::string head() const {
        const double height = height_ + 2 * kMargin + kLegend;
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
            "{0:.0f} "
            "{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<title>{2}</title>\n"
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
            "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            width_, height, escaped(drawing_.name));
    }

    static std::string group(const Box& box, const std::string& title) {
        return fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\" fill=\"#f6f6f6\" "
            "stroke=\"#bbb\"/>\n"
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n",
            box.x, box.y, box.width, box.height, box.middle_x(), box.y + 22, escaped(title));
    }

    std::string path_of(const DrawnLink& link) const {
        const Box& from = boxes_[link.from];
        const Box& to = boxes_[link.to];
        const DrawnTask& first = drawing_.tasks[link.from];
        const DrawnTask& last = drawing_.tasks[link.to];
        if (link.from >= link.to)
            return curve(from.x, from.middle_y(), -kBulge, to.x, to.middle_y(), -kBulge);
        if (first.group != last.group) {
            return curve(from.right(), from.middle_y(), kGroupGap, to.x, to.middle_y(), -kGroupGap);
        }
        if (last.row == first.row + 1) {
            return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.middle_x(), from.bottom(), to.middle_x(),
                               to.y);
        }
        const double pull = bulge(last.row - first.row);
        return curve(from.right(), from.middle_y(), pull, to.right(), to.middle_y(), pull);
    }

    // Longer links bend further out, so that they can be distinguished; a curve goes three quarters of its
    // pull.
    static double bulge(std::size_t rows) {
        return std::min(12 + 6 * static_cast<double>(rows), (kPadding + kBulge) / 0.8);
    }

    static std::string curve(double x1, double y1, double pull1, double x2, double y2, double pull2) {
        return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x1, y1, x1 + pull1, y1,
                           x2 + pull2, y2, x2, y2);
    }

    std::string drawn(const DrawnLink& link) const {
        std::string sockets;
        for (const std::string& each : link.sockets) sockets += (sockets.empty() ? "" : "\n") + each;
        return fmt::format(
            "<path d=\"{}\" fill=\"none\" stroke=\"#555\" stroke-width=\"1.4\"{} marker-end=\"url(#arrow)\">"
            "<title>{}</title></path>\n",
            path_of(link), link.crosses_segments ? " stroke-dasharray=\"5 4\"" : "", escaped(sockets));
    }

    static std::string drawn(const Box& box, const DrawnTask& task) {
        std::string svg = fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\" fill=\"{}\" "
            "stroke=\"#777\"/>\n",
            box.x, box.y, box.width, box.height, colour_of(task.replication));
        if (task.load) svg += bar(box, std::clamp(*task.load, 0.0, 1.0));
        if (task.ends_segment) {
            svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#b03030\" stroke-width=\"4\"/>\n",
                               box.x + 4, box.bottom(), box.right() - 4);
        }
        svg += fmt::format(
            "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\">{3}</text>\n"
            "<text x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"middle\" font-size=\"10\" "
            "fill=\"#444\">{4}</text>\n",
            box.middle_x(), box.y + 19, box.y + 34, escaped(task.name), escaped(caption_of(task)));
        return svg;
    }

    // How much of its stage's time a task takes.
    static std::string bar(const Box& box, double share) {
        return fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"5\" fill=\"#d07030\"/>\n", box.x + 4,
            box.bottom() - 9, share * (box.width - 8));
    }

    std::string legend() const {
        const double y = kMargin + height_ + kLegend - 8;
        double x = kMargin;
        std::string svg;
        const auto sample = [&](const char* colour, const char* what) {
            svg += fmt::format(
                "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"#777\"/>"
                "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\">{}</text>\n",
                x, y - 11, colour, x + 20, y, what);
            x += 90;
        };
        sample(colour_of(Replication::pure), "pure");
        sample(colour_of(Replication::cloned), "cloned");
        sample(colour_of(Replication::sequential), "sequential");
        sample("#b03030", "ends a segment");
        return svg;
    }

    const Drawing& drawing_;
    double box_width_ = 0;
    double width_ = 0;
    double height_ = 0;
    std::vector<Box> groups_;
    std::vector<Box> boxes_;
};

}  // namespace

std::string to_svg(const Graph& graph, const DrawingOptions& options) {
    const Drawing drawing = drawing_of(graph, options);
    return Picture(drawing).text();
}

}  // namespace tidemill
