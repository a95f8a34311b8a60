// The commands of the guide's command line: what each takes, what it does, and its help.
//
//     for (const Command& command : make_commands()) fmt::print("{}: {}\n", command.name, command.help);
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/book.h"
#include "common/guide/commands.h"
#include "common/guide/completion.h"
#include "common/guide/new_files.h"
#include "common/guide/report.h"
#include "common/guide/try_program.h"

namespace guide {

using Words = std::vector<std::string>;

/// What the options and arguments of a command say.
struct Values {
    std::string word;  ///< the one argument of many commands
    bool json = false;
    bool yes = false;
    bool catch2 = false;
    bool all = false;
    std::optional<int> level;
    ReportOptions report;
    BookOptions book;
    bool no_run = false;
    TryOptions program;
    Words files;  ///< of that program
    NewItem item;
    std::string keep;
    Words untouched;                    ///< of a command that hands its arguments on
    std::optional<Words> after_dashes;  ///< what follows "--"
};

struct Command {
    std::string name;
    std::string arguments;  ///< in the overview: "CHAPTER [LESSON..]"
    std::string help;
    Wants argument = Wants::nothing;
    std::function<void(CLI::App&, Values&)> configure;  ///< null: its arguments are handed on untouched
    std::function<int(Session&, const Values&)> run;    ///< null: it needs no project (help, completion)
    Words examples;                                     ///< without the guide's own name
    std::string more = {};                              ///< a paragraph for its help
    bool takes_dashes = false;                          ///< "-- options for another program" may follow
    std::string old_name = {};                          ///< of earlier versions; goes on working, with a note
};

/// All of them, in the order in which the help shows them.
std::vector<Command> make_commands();

}  // namespace guide
