// Completion of the guide's command line: scripts for shells, and the answers to what the scripts ask.
//
//     fmt::print("{}", completion_script("bash"));                       // source <(./warpwise completion bash)
//     complete({"grade", "gri"}, commands, &catalog)                     // {{"grid_stride", "fill: any number ..."}}
#pragma once

#include <string>
#include <vector>

#include "common/guide/catalog.h"

namespace guide {

/// What a positional argument or an option's value can be.
enum class Wants {
    nothing,
    chapter,
    chapter_or_lesson,
    lesson,
    exercise,
    exercise_or_all,
    catalog_word,
    command,
    device,
    shell,
    hint_level,
    file
};

struct OptionWords {
    std::vector<std::string> names;  ///< "--json", "-o"
    std::string help;
    bool takes_value = false;
    Wants value = Wants::nothing;
};

struct CommandWords {
    std::string name;
    std::string help;
    std::vector<OptionWords> options;
    Wants argument = Wants::nothing;  ///< the first one; after a chapter come its lessons
};

struct Candidate {
    std::string word;
    std::string help;
    bool operator==(const Candidate&) const = default;
};

/// What the last of the words, perhaps empty, can become. `words`: those after the guide's name, "=" as a word of its
/// own or not. `global_options` may stand everywhere. Empty: a file's name, or nothing that is known. `catalog` may be
/// null.
std::vector<Candidate> complete(std::vector<std::string> words, const std::vector<CommandWords>& commands,
                                const std::vector<OptionWords>& global_options, const Catalog* catalog);

/// A line for each: the word, a tab, its help.
std::string candidate_lines(const std::vector<Candidate>& candidates);

/// For bash, zsh or fish; throws Refusal for other shells.
std::string completion_script(const std::string& shell);

}  // namespace guide
