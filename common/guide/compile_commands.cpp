#include "common/guide/compile_commands.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// As a shell splits a command, without variables.
Words shell_words(std::string_view text) {
    Words words;
    std::string word;
    bool has_word = false;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool escapes = quote == '\0' || (quote == '"' && i + 1 < text.size() &&
                                               std::string_view("\"\\$`").find(text[i + 1]) != std::string_view::npos);
        if (c == '\\' && escapes && i + 1 < text.size()) {
            word += text[++i];
            has_word = true;
        } else if (quote != '\0') {
            if (quote == c) {
                quote = '\0';
            } else {
                word += c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            has_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (has_word) words.push_back(std::move(word));
            word.clear();
            has_word = false;
        } else {
            word += c;
            has_word = true;
        }
    }
    if (has_word) words.push_back(std::move(word));
    return words;
}

/// What follows one of the options, in the same word or in the next; empty where the word is none of them.
template <std::size_t n>
std::string value_of(const Words& words, std::size_t& i, const std::array<std::string_view, n>& options) {
    for (const std::string_view option : options) {
        if (!words[i].starts_with(option)) continue;
        std::string value = words[i].substr(option.size());
        if (value.starts_with('=') && option.starts_with("--")) value.erase(0, 1);
        if (!value.empty()) return value;
        return i + 1 < words.size() ? words[++i] : std::string();
    }
    return {};
}

constexpr int most_files_in_files = 8;

/// CMake puts long lists of folders into files that nvcc reads. `depth`: of files that name files.
void read_options(const Words& words, const fs::path& folder, CompileOptions& options, int depth = 0) {
    static constexpr std::array<std::string_view, 4> includes = {"-isystem=", "-isystem", "--include-path", "-I"};
    static constexpr std::array<std::string_view, 2> definitions = {"--define-macro", "-D"};
    static constexpr std::array<std::string_view, 2> files = {"--options-file", "-optf"};
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (const std::string file = value_of(words, i, files); !file.empty()) {
            if (depth == most_files_in_files) continue;
            std::ifstream stream(folder / file);
            const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
            read_options(shell_words(text), folder, options, depth + 1);
        } else if (const std::string include = value_of(words, i, includes); !include.empty()) {
            options.include_folders.push_back((folder / include).lexically_normal());
        } else if (const std::string definition = value_of(words, i, definitions); !definition.empty()) {
            options.definitions.push_back(definition);
        }
    }
}

std::string text_of(const nlohmann::json& command, const char* key) {
    const auto found = command.find(key);
    return found != command.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Words words_of(const nlohmann::json& command) {
    const auto arguments = command.find("arguments");
    if (arguments == command.end() || !arguments->is_array()) return shell_words(text_of(command, "command"));
    Words words;
    for (const nlohmann::json& argument : *arguments)
        if (argument.is_string()) words.push_back(argument.get<std::string>());
    return words;
}

}  // namespace

CompileOptions read_compile_commands(const fs::path& json, const fs::path& source) {
    std::ifstream stream(json);
    const nlohmann::json commands = warpwise::json_or_discarded<nlohmann::json>(stream);
    if (!commands.is_array()) {
        throw warpwise::Refusal(
            fmt::format("{}: this is no compile_commands.json; cmake writes one with "
                        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                        json.string()));
    }
    for (const nlohmann::json& command : commands) {
        if (!command.is_object()) continue;
        const fs::path folder = json.parent_path() / text_of(command, "directory");
        std::error_code error;
        const fs::path file = folder / text_of(command, "file");
        if (file.lexically_normal() != source && !fs::equivalent(file, source, error)) continue;
        CompileOptions options;
        read_options(words_of(command), folder, options);
        return options;
    }
    throw warpwise::Refusal(fmt::format("{} does not say how {} is compiled", json.string(), source.string()));
}

}  // namespace guide
