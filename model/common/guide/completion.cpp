#include "common/guide/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/lesson/refusal.h"

namespace guide {
namespace {

/// Options of all chapters' programs (common/lesson/chapter.cpp), which `run` hands on.
const std::vector<OptionWords>& chapter_options() {
    static const std::vector<OptionWords> options = {
        {{"--list"}, "list the lessons and stop"},
        {{"--step"}, "only steps with this name or part of it", true},
        {{"--size"}, "size instead of the lesson's own: 1000, 16Mi, 1000x700", true},
        {{"--once"}, "each step once, at one size: for profilers"},
        {{"--repeat"}, "time each step at least so often", true},
        {{"--json"}, "write the results to this file", true, Wants::file},
        {{"--trace"}, "write what each warp of the first blocks did to this file (CPU device)", true, Wants::file},
        {{"--trace-brief"}, "with --trace: each kernel once, its first warps and what they did first"},
        {{"--counters"}, "count what kernels do (CPU device)"},
        {{"--no-counters"}, "full speed"},
        {{"--diagnose"}, "look for errors in kernels (CPU device)"},
        {{"--leaks"}, "the same, and memory that is never freed is an error, not only a note"},
        {{"--lines"}, "the kernels' source with the counts of each line"},
        {{"--all-blocks"}, "instrument all blocks of a launch, not a sample"},
        {{"--registers"}, "registers per thread, for the theoretical occupancy", true},
        {{"--gpu-model"}, "the GPU whose times are estimated", true},
        {{"--recorded"}, "whose recorded times to show where there is no GPU; none", true},
        {{"--pause"}, "wait for Enter between lessons"},
        {{"--no-pause"}, "do not"},
        {{"--all"}, "print everything at once, without questions"},
        {{"--no-input"}, "ask nothing, also in a terminal"},
    };
    return options;
}

bool starts_with(const std::string& text, const std::string& start) {
    return text.compare(0, start.size(), start) == 0;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

const OptionWords* find_option(const std::string& word, const std::vector<OptionWords>& options) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const OptionWords& option) {
        return std::count(option.names.begin(), option.names.end(), word) > 0;
    });
    return found == options.end() ? nullptr : &*found;
}

/// By its name, or as the only one that begins so.
const CommandWords* find_command(const std::string& word, const std::vector<CommandWords>& commands) {
    const CommandWords* found = nullptr;
    for (const CommandWords& command : commands) {
        if (command.name == word) return &command;
        if (!starts_with(command.name, word)) continue;
        if (found != nullptr) return nullptr;
        found = &command;
    }
    return found;
}

void add_chapters(const Catalog& catalog, std::vector<Candidate>& all) {
    for (const Chapter& chapter : catalog.chapters()) {
        all.push_back({std::to_string(chapter.number), chapter.title});
        all.push_back({chapter.program, fmt::format("chapter {}", chapter.number)});
    }
}

void add_exercises(const Catalog& catalog, std::vector<Candidate>& all) {
    for (const Exercise* exercise : catalog.exercises()) {
        const bool has_both = !exercise->kind.empty() && !exercise->title.empty();
        all.push_back({exercise->name, exercise->kind + (has_both ? ": " : "") + exercise->title});
    }
}

void add_lessons(const Chapter& chapter, std::vector<Candidate>& all) {
    for (const Lesson& lesson : chapter.lessons) all.push_back({lesson.name, lesson.title});
}

std::vector<Candidate> candidates_for(Wants wanted, const std::vector<CommandWords>& commands, const Catalog* catalog) {
    std::vector<Candidate> all;
    switch (wanted) {
        case Wants::nothing:
        case Wants::file:
            break;
        case Wants::chapter:
            if (catalog != nullptr) add_chapters(*catalog, all);
            break;
        case Wants::chapter_or_lesson:
            if (catalog != nullptr) add_chapters(*catalog, all);
            [[fallthrough]];
        case Wants::lesson:
            if (catalog == nullptr) break;
            for (const Chapter& chapter : catalog->chapters()) add_lessons(chapter, all);
            break;
        case Wants::exercise_or_all:
            all.push_back({"all", "every exercise"});
            [[fallthrough]];
        case Wants::exercise:
            if (catalog != nullptr) add_exercises(*catalog, all);
            break;
        case Wants::catalog_word:
            if (catalog == nullptr) break;
            add_chapters(*catalog, all);
            for (const Chapter& chapter : catalog->chapters()) add_lessons(chapter, all);
            add_exercises(*catalog, all);
            break;
        case Wants::command:
            for (const CommandWords& command : commands) all.push_back({command.name, command.help});
            break;
        case Wants::device:
            all = {{"auto", "a GPU where one can be used"}, {"cpu", "the CPU device"}, {"cuda", "a GPU"}};
            break;
        case Wants::shell:
            all = {{"bash", ""}, {"zsh", ""}, {"fish", ""}};
            break;
        case Wants::hint_level:
            all = {{"1", "the first hint"}, {"2", ""}, {"3", "the last"}};
            break;
    }
    return all;
}

/// The chapter of this number, folder, program, or lesson, or the only one that begins so; null when there is none.
const Chapter* find_chapter(const Catalog* catalog, const std::string& word) {
    if (catalog == nullptr) return nullptr;
    try {
        return catalog->find_chapter_or_lesson(word).chapter;
    } catch (const Refusal&) {
        return nullptr;
    }
}

/// What the words before the last one say.
struct Reading {
    const CommandWords* command = nullptr;
    bool unknown_command = false;
    bool after_dashes = false;                 ///< "--" came: what follows is for another program
    const OptionWords* open_option = nullptr;  ///< whose value comes next
    std::vector<std::string> arguments;        ///< of the command
};

Reading read(const std::vector<std::string>& words, const std::vector<CommandWords>& commands,
             const std::vector<OptionWords>& global_options) {
    Reading reading;
    for (const std::string& word : words) {
        if (reading.after_dashes) break;
        if (reading.open_option != nullptr) {
            reading.open_option = nullptr;
        } else if (word == "--") {
            reading.after_dashes = true;
        } else if (is_option(word)) {
            const OptionWords* option = find_option(word, global_options);
            if (option == nullptr && reading.command != nullptr) option = find_option(word, reading.command->options);
            if (option == nullptr && reading.command != nullptr &&
                reading.command->argument == Wants::chapter_or_lesson) {
                option = find_option(word, chapter_options());
            }
            if (option != nullptr && option->takes_value) reading.open_option = option;
        } else if (reading.command == nullptr && !reading.unknown_command) {
            reading.command = find_command(word, commands);
            reading.unknown_command = reading.command == nullptr;
        } else {
            reading.arguments.push_back(word);
        }
    }
    return reading;
}

/// "--device=cpu" as three words, as bash hands it over; so is an "=" that bash left on its own.
std::vector<std::string> without_equals_signs(const std::vector<std::string>& words) {
    std::vector<std::string> result;
    for (const std::string& word : words) {
        const std::size_t equals = starts_with(word, "--") ? word.find('=') : std::string::npos;
        if (equals != std::string::npos) {
            result.push_back(word.substr(0, equals));
            result.push_back(word.substr(equals + 1));
        } else if (word != "=") {
            result.push_back(word);
        } else if (&word == &words.back()) {
            result.emplace_back();
        }
    }
    return result;
}

void add_options(const std::vector<OptionWords>& options, std::vector<Candidate>& all) {
    for (const OptionWords& option : options) {
        for (const std::string& name : option.names) {
            if (starts_with(name, "--")) all.push_back({name, option.help});
        }
    }
}

constexpr const char* bash_script = R"(# Completion of warpwise for bash. Once: source <(./warpwise completion bash)
# For good: ./warpwise completion bash > ~/.local/share/bash-completion/completions/warpwise

# The guide that belongs to the command as it was typed. It is asked directly: nothing is built here.
_warpwise_guide() {
    local command=$1 root device
    [[ $command == '~/'* ]] && command=$HOME/${command:2}
    [[ $command == */* ]] || command=$(type -P -- "$command") || return 1
    command=$(readlink -f -- "$command") || return 1
    root=${command%/*}
    for device in cpu cuda; do
        [[ -x $root/build/bin/$device/guide ]] || continue
        WARPWISE_ROOT=$root WARPWISE_CALLER=$PWD WARPWISE_DEVICE=$device "$root/build/bin/$device/guide" "${@:2}"
        return
    done
    return 1
}

_warpwise() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        [[ -n $line ]] && COMPREPLY+=("${line%%$'\t'*}")
    done < <(_warpwise_guide "${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -o bashdefault -o default -F _warpwise warpwise ./warpwise
)";

constexpr const char* zsh_script = R"(#compdef warpwise
# Completion of warpwise for zsh. Once, after compinit: source <(./warpwise completion zsh)
# For good: ./warpwise completion zsh > FOLDER/_warpwise, with a folder of your $fpath

# The guide that belongs to the command as it was typed. It is asked directly: nothing is built here.
_warpwise_guide() {
    local command=${~1} root device
    [[ $command == */* ]] || command=${commands[$command]}
    [[ -n $command ]] || return 1
    root=${command:A:h}
    for device in cpu cuda; do
        [[ -x $root/build/bin/$device/guide ]] || continue
        WARPWISE_ROOT=$root WARPWISE_CALLER=$PWD WARPWISE_DEVICE=$device \
            "$root/build/bin/$device/guide" "${@[2,-1]}"
        return
    done
    return 1
}

_warpwise() {
    local line word help
    local -a candidates
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        word=${line%%$'\t'*}
        help=${line#*$'\t'}
        candidates+=("${word//:/\\:}${help:+:$help}")
    done < <(_warpwise_guide "${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    if (( ${#candidates} )); then
        _describe 'warpwise' candidates
    else
        _files
    fi
}

if [[ $funcstack[1] == _warpwise ]]; then
    _warpwise "$@"
else
    compdef _warpwise warpwise
fi
)";

constexpr const char* fish_script = R"(# Completion of warpwise for fish. Once: ./warpwise completion fish | source
# For good: ./warpwise completion fish > ~/.config/fish/completions/warpwise.fish

# The guide that belongs to the command as it was typed. It is asked directly: nothing is built here.
function __warpwise_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l command (string replace -r '^~/' "$HOME/" -- $words[1])
    if not string match -q '*/*' -- $command
        set command (command -s $command); or return
    end
    set -l root (dirname (realpath $command))
    set -l found
    for device in cpu cuda
        if test -x $root/build/bin/$device/guide
            set found (env WARPWISE_ROOT=$root WARPWISE_CALLER=$PWD WARPWISE_DEVICE=$device \
                $root/build/bin/$device/guide complete -- $words[2..-1] "$current" 2>/dev/null)
            break
        end
    end
    if test (count $found) -gt 0
        # fish replaces the whole of --device=c.
        set -l option (string match -r -- '^--[^=]*=' "$current")
        printf "$option%s\n" $found
    else
        __fish_complete_path "$current"
    end
end

complete -c warpwise -f -a '(__warpwise_complete)'
)";

}  // namespace

std::vector<Candidate> complete(std::vector<std::string> words, const std::vector<CommandWords>& commands,
                                const std::vector<OptionWords>& global_options, const Catalog* catalog) {
    words = without_equals_signs(words);
    if (words.empty()) words.emplace_back();
    const std::string current = words.back();
    words.pop_back();
    const Reading reading = read(words, commands, global_options);
    if (reading.after_dashes || reading.unknown_command) return {};

    std::vector<Candidate> all;
    const bool is_run = reading.command != nullptr && reading.command->argument == Wants::chapter_or_lesson;
    if (reading.open_option != nullptr) {
        all = candidates_for(reading.open_option->value, commands, catalog);
    } else if (!current.empty() && current.front() == '-') {
        if (reading.command != nullptr) add_options(reading.command->options, all);
        if (is_run && !reading.arguments.empty()) add_options(chapter_options(), all);
        add_options(global_options, all);
    } else if (reading.command == nullptr) {
        all = candidates_for(Wants::command, commands, catalog);
    } else if (reading.arguments.empty()) {
        all = candidates_for(reading.command->argument, commands, catalog);
    } else if (is_run) {
        if (const Chapter* chapter = find_chapter(catalog, reading.arguments.front())) add_lessons(*chapter, all);
    }
    std::erase_if(all, [&](const Candidate& candidate) { return !starts_with(candidate.word, current); });
    return all;
}

std::string candidate_lines(const std::vector<Candidate>& candidates) {
    std::string lines;
    for (const Candidate& candidate : candidates) lines += candidate.word + "\t" + candidate.help + "\n";
    return lines;
}

std::string completion_script(const std::string& shell) {
    if (shell == "bash") return bash_script;
    if (shell == "zsh") return zsh_script;
    if (shell == "fish") return fish_script;
    throw Refusal(fmt::format("no completion for '{}'; there is one for bash, zsh and fish", shell));
}

}  // namespace guide
