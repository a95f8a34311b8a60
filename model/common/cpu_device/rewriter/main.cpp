// cuda_to_cpp: rewrites one `.cu` file, and what it includes, as C++ for the CPU device.
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "rewriter.h"

namespace {

constexpr const char* usage =
    "usage: cuda_to_cpp INPUT.cu -o OUTPUT.cpp [--depfile FILE.d] [--include-folder FOLDER] [-I FOLDER]...\n";

constexpr const char* help =
    "\n"
    "Rewrites CUDA C++ as plain C++ for the CPU device.\n"
    "\n"
    "  -o OUTPUT.cpp            the file to write\n"
    "  --depfile FILE.d         write a make rule that names every file read\n"
    "  --include-folder FOLDER  where rewritten copies of included files go (default: beside the output)\n"
    "  -I FOLDER                look here too for included files that need rewriting\n"
    "  --help                   show this text\n";

struct Options {
    std::string input, output, depfile, include_folder;
    std::vector<std::filesystem::path> search_folders;
};

/// Nothing when the command line makes no sense.
std::optional<Options> read_options(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto value = [&](std::string& into) {
            if (i + 1 >= words.size() || !into.empty()) return false;
            into = words[++i];
            return !into.empty();
        };
        bool good = true;
        if (word == "-o") {
            good = value(options.output);
        } else if (word == "--depfile") {
            good = value(options.depfile);
        } else if (word == "--include-folder") {
            good = value(options.include_folder);
        } else if (word == "-I") {
            std::string folder;
            good = value(folder);
            options.search_folders.emplace_back(folder);
        } else if (word.size() > 2 && word.compare(0, 2, "-I") == 0) {
            options.search_folders.emplace_back(word.substr(2));
        } else if (word.empty() || word[0] == '-' || !options.input.empty()) {
            good = false;
        } else {
            options.input = word;
        }
        if (!good) return std::nullopt;
    }
    if (options.input.empty() || options.output.empty()) return std::nullopt;
    return options;
}

/// A file that has this text already stays as old as it is, so that nothing is compiled anew.
void write_file(const std::string& path, const std::string& text) {
    if (std::ifstream there(path, std::ios::binary); there) {
        std::ostringstream old;
        old << there.rdbuf();
        if (old.str() == text) return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw cpu_device::rewriter::Error("cannot write this file", path, 0);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (const std::string& word : words)
        if (word == "--help" || word == "-h") {
            std::printf("%s%s", usage, help);
            return 0;
        }
    const std::optional<Options> options = read_options(words);
    if (!options) {
        std::fputs(usage, stderr);
        return 2;
    }
    namespace fs = std::filesystem;
    try {
        const fs::path beside_output = fs::absolute(options->output).parent_path();
        const fs::path folder = options->include_folder.empty() ? beside_output : fs::path(options->include_folder);
        const auto result = cpu_device::rewriter::rewrite_file(options->input, folder, options->search_folders);
        write_file(options->output, result.text);
        if (!options->depfile.empty())
            write_file(options->depfile, cpu_device::rewriter::depfile(options->output, result.dependencies));
    } catch (const cpu_device::rewriter::Error& error) {
        if (error.line > 0) {
            std::fprintf(stderr, "%s:%d: error: %s\n", error.file.c_str(), error.line, error.what());
        } else {
            std::fprintf(stderr, "%s: error: %s\n", error.file.c_str(), error.what());
        }
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: error: %s\n", options->input.c_str(), error.what());
        return 1;
    }
}
