// `warpwise docs`: the book in docs/ as a web site on this machine; for one page in the terminal see book_page.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/guide/project.h"
#include "common/lesson/terminal.h"

namespace guide {

struct BookOptions {
    std::string page = {};    ///< of the book, to be shown in the terminal; empty: all of it as a site
    bool build_only = false;  ///< write the site and stop there
    bool live = false;        ///< show pages as they are written, with every change
    int port = 4173;          ///< of the server on this machine
    bool markdown = false;    ///< write plain Markdown instead of the site
    std::string folder = {};  ///< for that, from where the reader is; empty: build/markdown
};

/// Whether the packages in docs/node_modules are those that docs/package-lock.json names: they are as new.
bool has_book_packages(const std::filesystem::path& docs);

/// Why this version of Node.js, "v18.20.4", cannot build the book; empty when it can.
std::string why_not_this_node(const std::string& version);

/// Fetches the site generator the first time, builds the site, and serves it until Ctrl-C; or writes the book as plain
/// Markdown. Returns the exit status. Throws Refusal where Node.js is missing.
int show_book(const Project& project, const BookOptions& options, const warpwise::Terminal& terminal);

}  // namespace guide
