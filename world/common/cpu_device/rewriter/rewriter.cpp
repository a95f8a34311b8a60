#include "rewriter.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "analysis.h"
#include "checks.h"
#include "edits.h"
#include "host_uses.h"
#include "includes.h"
#include "launch_parameters.h"

namespace cpu_device::rewriter {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return file.bad() ? std::nullopt : std::optional(std::move(text));
}

/// Leaves a file that already holds `text` alone; others may be reading it.
void write_if_changed(const fs::path& path, const std::string& text) {
    if (read_text(path) == text) return;
    fs::create_directories(path.parent_path());
    const fs::path partial = path.string() + "." + std::to_string(getpid()) + ".part";
    std::ofstream file(partial, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Error("cannot write this file", partial.string(), 0);
    fs::rename(partial, path);
}

/// What stands at the end of a program's file that may define variables of which the runtime is not told.
std::string end_of(const std::string& text) {
    return std::string(text.empty() || text.back() == '\n' ? "" : "\n") +
           "static const ::cpu_device::UnregisteredVariables cpu_device_unregistered_variables;";
}

/// The input file and all local files it includes, however far.
class IncludeGraph {
public:
    IncludeGraph(const fs::path& include_folder, const std::vector<fs::path>& search_folders)
        : include_folder_(fs::absolute(include_folder)), search_folders_(search_folders) {}

    Result rewrite(const fs::path& input) {
        const fs::path root = fs::absolute(input).lexically_normal();
        if (!load(root)) throw Error("cannot read this file", input.string(), 0);
        analyze_all();
        spread_need_to_includers();
        for (const std::string& path : order_)
            if (path != root.string() && files_.at(path).rewritten)
                write_if_changed(rewritten_path(path), rewritten_text(files_.at(path), path));
        std::string text = rewritten_text(files_.at(root.string()), root.string());
        const bool unregistered = std::any_of(files_.begin(), files_.end(), [](const auto& file) {
            return file.second.analysis.may_hold_unregistered_variables;
        });
        if (unregistered) text += end_of(text);
        return {std::move(text), order_};
    }

private:
    struct File {
        std::string text;
        FileFacts facts;
        Analysis analysis;
        std::vector<Include> includes;
        std::vector<std::string> included;  ///< for each of `includes` the file found, or nothing
        bool rewritten = false;
    };

    bool load(const fs::path& path) {
        const std::string key = path.string();
        if (files_.count(key) != 0) return true;
        std::optional<std::string> text = read_text(path);
        if (!text) return false;
        File& file = files_[key];
        order_.push_back(key);
        file.text = std::move(*text);
        file.facts = read_facts(file.text);
        file.includes = read_includes(file.text, file.facts);
        for (const Include& include : file.includes) file.included.push_back(find(include, path));
        return true;
    }

    void analyze_all() {
        std::vector<FileFacts*> facts;
        std::vector<std::string_view> sources;
        for (const std::string& path : order_) {
            facts.push_back(&files_.at(path).facts);
            sources.emplace_back(files_.at(path).text);
        }
        const ProgramFacts program = combine_facts(facts, sources);
        for (const std::string& path : order_) {
            File& file = files_.at(path);
            std::vector<const MacroGroup*> groups;
            for (const std::string& seen : seen_from(path))
                if (seen != path)
                    for (const MacroGroup& group : files_.at(seen).facts.groups) groups.push_back(&group);
            file.analysis = analyze(file.text, path, file.facts, program, groups);
            const fs::path extension = fs::path(path).extension();
            file.rewritten = !file.analysis.edits.empty() || !file.analysis.two_versions.empty() ||
                             extension == ".cu" || extension == ".cuh";
        }
        std::vector<const Analysis*> all;
        for (const std::string& path : order_) all.push_back(&files_.at(path).analysis);
        for (const std::string& path : order_) check_uses(files_.at(path).analysis, visible_from(path), all);
    }

    /// Finds and loads an included file; an empty string when it is not a local file.
    std::string find(const Include& include, const fs::path& includer) {
        if (include.quoted) {
            const fs::path beside = (includer.parent_path() / include.name).lexically_normal();
            if (load(beside)) return beside.string();
        }
        for (const fs::path& folder : search_folders_) {
            const fs::path candidate = (fs::absolute(folder) / include.name).lexically_normal();
            if (load(candidate)) return candidate.string();
        }
        return {};
    }

    /// A file that includes a rewritten file has to be rewritten too, to name it.
    void spread_need_to_includers() {
        for (bool changed = true; changed;) {
            changed = false;
            for (auto& [path, file] : files_) {
                if (file.rewritten) continue;
                file.rewritten = std::any_of(file.included.begin(), file.included.end(), [&](const std::string& name) {
                    return !name.empty() && files_.at(name).rewritten;
                });
                changed = changed || file.rewritten;
            }
        }
    }

    fs::path rewritten_path(const fs::path& original) const {
        std::uint64_t hash = 14695981039346656037u;  // FNV-1a of the path: files of one name stay apart
        for (unsigned char c : original.string()) hash = (hash ^ c) * 1099511628211u;
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
        return include_folder_ / (original.stem().string() + "." + digits + original.extension().string());
    }

    /// A file itself and the files it includes, whose kernels it can see. Not its includers, because one rewritten file
    /// serves all of them.
    std::vector<const Analysis*> visible_from(const std::string& path) const {
        std::vector<const Analysis*> visible;
        for (const std::string& seen : seen_from(path)) visible.push_back(&files_.at(seen).analysis);
        return visible;
    }

    std::vector<std::string> seen_from(const std::string& path) const {
        std::vector<std::string> paths{path};
        std::set<std::string> seen{path};
        for (std::size_t i = 0; i < paths.size(); ++i)
            for (const std::string& included : files_.at(paths[i]).included)
                if (!included.empty() && seen.insert(included).second) paths.push_back(included);
        return paths;
    }

    std::string rewritten_text(const File& file, const std::string& path) const {
        std::vector<Edit> edits = complete_launches(file.analysis, visible_from(path));
        redirect_host_uses(file.analysis, visible_from(path), edits);
        for (std::size_t i = 0; i < file.included.size(); ++i) {
            const Include& include = file.includes[i];
            const std::string& found = file.included[i];
            if (found.empty()) continue;
            const bool rewritten = files_.at(found).rewritten;
            const bool beside =
                include.quoted && fs::path(found) == (fs::path(path).parent_path() / include.name).lexically_normal();
            if (!rewritten && !beside) continue;  // the compiler finds it by its own search folders
            edits.push_back(
                {include.begin, include.end, '"' + (rewritten ? rewritten_path(found).string() : found) + '"'});
        }
        return apply_edits(file.text, std::move(edits), file.analysis.two_versions, path);
    }

    fs::path include_folder_;
    std::vector<fs::path> search_folders_;
    std::map<std::string, File> files_;
    std::vector<std::string> order_;
};

std::string escaped(const std::string& path) {
    std::string result;
    for (char c : path) {
        if (c == ' ' || c == '#' || c == '\\') result += '\\';
        if (c == '$') result += '$';
        result += c;
    }
    return result;
}

}  // namespace

std::string rewrite(std::string_view source, const std::string& file_name) {
    FileFacts facts = read_facts(source);
    const ProgramFacts program = combine_facts({&facts}, {source});
    const Analysis analysis = analyze(source, file_name, facts, program, {});
    check_uses(analysis, {&analysis}, {&analysis});
    std::vector<Edit> edits = complete_launches(analysis, {&analysis});
    redirect_host_uses(analysis, {&analysis}, edits);
    std::string text = apply_edits(source, std::move(edits), analysis.two_versions, file_name);
    return analysis.may_hold_unregistered_variables ? text + end_of(text) : text;
}

Result rewrite_file(const fs::path& input, const fs::path& include_folder,
                    const std::vector<fs::path>& search_folders) {
    return IncludeGraph(include_folder, search_folders).rewrite(input);
}

std::string depfile(const std::string& target, const std::vector<std::string>& dependencies) {
    std::string result = escaped(target) + ":";
    for (const std::string& dependency : dependencies) result += " \\\n  " + escaped(dependency);
    return result + "\n";
}

}  // namespace cpu_device::rewriter
