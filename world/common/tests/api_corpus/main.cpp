// api_corpus [PART OF A NAME]: runs all cases, or those whose names contain it, and prints a line of JSON for each.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/tests/api_corpus/api_corpus.h"

namespace api_corpus {
namespace {

std::vector<ListedCase>& registry() {
    static std::vector<ListedCase> all;
    return all;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

std::string as_list(const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + quoted(value);
    return "[" + list + "]";
}

/// Values in a row that are the same stand there once: "3*0000 3f80". The record of a GPU is half as long by that.
std::string as_runs(const std::vector<std::string>& values) {
    std::string runs;
    for (std::size_t i = 0; i < values.size();) {
        std::size_t end = i + 1;
        while (end < values.size() && values[end] == values[i]) ++end;
        runs += (i == 0 ? "" : " ") + (end - i > 1 ? std::to_string(end - i) + "*" : "") + values[i];
        i = end;
    }
    return quoted(runs);
}

}  // namespace

Case::Case(std::string name, std::function<Results()> run) { registry().push_back({std::move(name), std::move(run)}); }

std::vector<ListedCase> cases() {
    std::vector<ListedCase> all = registry();
    std::sort(all.begin(), all.end(), [](const ListedCase& a, const ListedCase& b) { return a.name < b.name; });
    return all;
}

}  // namespace api_corpus

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "";
    for (const api_corpus::ListedCase& one : api_corpus::cases()) {
        if (one.name.find(wanted) == std::string::npos) continue;
        const api_corpus::Results results = one.run();
        std::string line = "{\"case\": " + api_corpus::quoted(one.name) + ", \"type\": \"" + results.type + "\"";
        char bounds[80];
        std::snprintf(bounds, sizeof bounds, ", \"ulp\": %g, \"absolute\": %g, \"results\": ", results.ulp,
                      results.absolute);
        line += bounds +
                (results.type == "text" ? api_corpus::as_list(results.values) : api_corpus::as_runs(results.values));
        std::printf("%s}\n", line.c_str());
        std::fflush(stdout);
    }
    return 0;
}
