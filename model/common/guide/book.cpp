#include "common/guide/book.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "common/guide/command.h"
#include "common/guide/commands.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using warpwise::Style;

constexpr int oldest_node = 18;

/// Throws Refusal unless Node.js is here, new enough, and has npm.
void require_node() {
    const std::string how = fmt::format(
        "The book needs Node.js {} or newer with npm: apt-get install nodejs npm (or see nodejs.org). "
        "Without them, './warpwise docs PAGE' shows one page in the terminal; docs/README.md lists the pages",
        oldest_node);
    if (!has_program("node")) throw Refusal("there is no Node.js here. " + how);
    if (!has_program("npm")) throw Refusal("there is Node.js here, and no npm. " + how);
    const std::string why = why_not_this_node(run_command({"node", "--version"}, {.limit_seconds = 20}).output);
    if (!why.empty()) throw Refusal(why + ". " + how);
}

CommandResult npm(const fs::path& docs, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "npm");
    // npm's own news and requests for money are not for readers.
    return run_command(arguments, {.folder = docs,
                                   .variables = {{"NPM_CONFIG_UPDATE_NOTIFIER", "false"},
                                                 {"NPM_CONFIG_FUND", "false"},
                                                 {"NPM_CONFIG_AUDIT", "false"},
                                                 {"NPM_CONFIG_LOGLEVEL", "error"}},
                                   .owns_terminal = true});
}

}  // namespace

bool has_book_packages(const fs::path& docs) {
    std::error_code error;
    const auto fetched = fs::last_write_time(docs / "node_modules" / ".package-lock.json", error);
    if (error) return false;
    const auto wanted = fs::last_write_time(docs / "package-lock.json", error);
    return !error && fetched >= wanted;
}

std::string why_not_this_node(const std::string& version) {
    const std::size_t digits = version.find_first_of("0123456789");
    const int major = digits == std::string::npos ? 0 : std::atoi(version.c_str() + digits);
    if (major >= oldest_node) return {};
    const std::string first_line = version.substr(0, version.find('\n'));
    return fmt::format("Node.js here is {}", first_line.empty() ? "of an unknown version" : first_line);
}

int show_book(const Project& project, const BookOptions& options, const warpwise::Terminal& terminal) {
    require_node();
    const fs::path docs = project.root / "docs";
    const auto say = [&](const std::string& text) {
        fmt::print("{}\n", terminal.paint(Style::heading, text));
        std::fflush(stdout);
    };
    if (!has_book_packages(docs)) {
        say("Fetching what builds the book (once)");
        const CommandResult fetched = npm(docs, {"ci"});
        if (fetched.status != 0) {
            fmt::print(stderr, "npm could not fetch it (status {}); is there a network?\n", fetched.status);
            return fetched.status;
        }
        // npm keeps an old time where nothing had to be changed.
        std::error_code error;
        fs::last_write_time(docs / "node_modules" / ".package-lock.json", fs::file_time_type::clock::now(), error);
    }
    if (options.markdown) {
        const fs::path folder =
            options.folder.empty() ? project.root / "build" / "markdown" : project.caller / options.folder;
        return npm(docs, {"run", "--silent", "markdown", "--", "-o", folder.lexically_normal().string()}).status;
    }
    const std::string port = std::to_string(options.port);
    if (options.live) return npm(docs, {"run", "dev", "--", "--port", port}).status;
    const CommandResult built =
        npm(docs, {"run", "--silent", "build"});  // says itself whether there is anything to build
    if (built.status != 0) return built.status;
    if (options.build_only) {
        fmt::print("The site is in {}: any web server can show it.\n", project.shown(docs / ".vitepress" / "dist"));
        return 0;
    }
    say(fmt::format("The book is at http://localhost:{}/   (Ctrl-C ends it)", options.port));
    const CommandResult served = npm(docs, {"run", "serve", "--", "--port", port});
    return served.status == interrupted_status ? 0 : served.status;
}

}  // namespace guide
