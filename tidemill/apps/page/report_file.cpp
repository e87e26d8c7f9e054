#include "tidemill/apps/page/report_file.hpp"

#include <algorithm>
#include <cassert>

#include "tidemill/apps/page/web_files.hpp"

namespace tidemill::page {

namespace {

std::string_view web_file(std::string_view path) {
    const auto files = web_files();
    const auto found =
        std::ranges::find(files, path, [](const WebFile& file) { return std::string_view(file.path); });
    assert(found != files.end());
    return found->text;
}

void replace(std::string& text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    assert(at != std::string::npos);
    text.replace(at, what.size(), by);
}

// A module as a part of another one.
std::string without_import_and_export(std::string_view module) {
    std::string text;
    while (!module.empty()) {
        const std::size_t end = std::min(module.find('\n'), module.size() - 1);
        std::string_view line = module.substr(0, end + 1);
        module.remove_prefix(line.size());
        if (line.starts_with("import ")) continue;
        if (line.starts_with("export ")) line.remove_prefix(7);
        text += line;
    }
    return text;
}

// Within a script's element, the only thing that could end it.
std::string without_tags(std::string_view json) {
    std::string text;
    for (const char c : json) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

}  // namespace

std::string report_file(std::string_view data) {
    std::string page(web_file("/"));
    replace(page, "<link rel=\"stylesheet\" href=\"/page.css\">",
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
            "'unsafe-inline'; "
            "script-src 'unsafe-inline'; img-src data:\">\n<style>\n" +
                std::string(web_file("/page.css")) + "</style>");
    replace(page, "<script type=\"module\" src=\"/page.js\"></script>",
            "<script type=\"application/json\" id=\"recorded\">" + without_tags(data) +
                "</script>\n<script type=\"module\">\n" + without_import_and_export(web_file("/views.js")) +
                without_import_and_export(web_file("/page.js")) + "</script>");
    return page;
}

}  // namespace tidemill::page
