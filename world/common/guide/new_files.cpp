#include "common/guide/new_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "common/guide/command.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"
#include "common/lesson/suggest.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// ---- lists ----------------------------------------------------------------------------------------------------------

struct ChapterList {
    std::string folder;  ///< "1_basics_and_pi"
    fs::path file;
    Json json;

    int number() const { return std::atoi(folder.c_str()); }
    std::string program() const { return json.at("program").get<std::string>(); }
};

/// Of a lesson or an exercise; empty for a page, whose name nobody else needs.
std::string name_of(const Json& item) { return item.value("lesson", item.value("exercise", std::string())); }

/// Of any entry of a path.
std::string place_of(const Json& item) { return item.value("page", name_of(item)); }

Json parsed_list(std::string_view text) {
    const Json json = warpwise::json_or_discarded<Json>(text);
    if (!json.is_object() || !json.contains("program") || !json["program"].is_string() || !json.contains("path") ||
        !json["path"].is_array()) {
        throw Refusal("not a chapter's list: it needs \"title\", \"program\" and \"path\"");
    }
    return json;
}

/// All chapters by number.
std::vector<ChapterList> read_lists(const Project& project) {
    std::vector<ChapterList> lists;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(project.root / "chapters", error)) {
        const fs::path file = entry.path() / "chapter.json";
        const std::optional<std::string> text = read_file(file);
        if (!text) continue;
        try {
            lists.push_back({entry.path().filename().string(), file, parsed_list(*text)});
        } catch (const Refusal& refusal) {
            throw Refusal(fmt::format("{}: {}", project.shown(file), refusal.what()));
        }
    }
    if (lists.empty()) throw Refusal("there is no chapters/N_name/chapter.json");
    std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.number() < b.number(); });
    return lists;
}

ChapterList& chosen_chapter(std::vector<ChapterList>& lists, const std::string& word) {
    if (word.empty()) return lists.back();
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const ChapterList& list) {
        return word == std::to_string(list.number()) || word == list.folder || word == list.program();
    });
    if (found != lists.end()) return *found;
    std::vector<std::string> folders;
    for (const ChapterList& list : lists) folders.push_back(list.folder);
    throw Refusal(fmt::format("there is no chapter '{}'; there are {}", word, fmt::join(folders, ", ")));
}

/// Inserts the item after the one called `after`, or at the end.
void insert(ChapterList& list, const Json& item, const std::string& after) {
    Json& path = list.json["path"];
    if (after.empty()) {
        path.push_back(item);
        return;
    }
    const auto found =
        std::find_if(path.begin(), path.end(), [&](const Json& other) { return place_of(other) == after; });
    if (found == path.end()) {
        std::vector<std::string> names;
        for (const Json& other : path) names.push_back(place_of(other));
        const std::vector<std::string> near = warpwise::suggest(after, names);
        throw Refusal(fmt::format("--after {}: chapter {} has no lesson, exercise or page of that name{}", after,
                                  list.number(),
                                  near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
    }
    path.insert(std::next(found), item);
}

// ---- names ----------------------------------------------------------------------------------------------------------

// Of those without capital letters; and names that CMake or the build already use for targets.
constexpr std::string_view reserved_words[] = {
    "alignas",    "alignof",  "and",          "and_eq",   "asm",        "auto",      "bitand",    "bitor",
    "bool",       "break",    "case",         "catch",    "char",       "class",     "co_await",  "co_return",
    "co_yield",   "compl",    "concept",      "const",    "const_cast", "consteval", "constexpr", "constinit",
    "continue",   "decltype", "default",      "delete",   "do",         "double",    "else",      "enum",
    "explicit",   "export",   "extern",       "false",    "float",      "for",       "friend",    "goto",
    "if",         "inline",   "int",          "long",     "main",       "mutable",   "namespace", "new",
    "noexcept",   "not",      "not_eq",       "nullptr",  "operator",   "or",        "or_eq",     "private",
    "protected",  "public",   "register",     "requires", "return",     "short",     "signed",    "sizeof",
    "static",     "struct",   "switch",       "template", "this",       "throw",     "true",      "try",
    "typedef",    "typeid",   "typename",     "union",    "unsigned",   "using",     "virtual",   "void",
    "volatile",   "wchar_t",  "while",        "xor",      "xor_eq",     "std",       "warpwise",  "grading",
    "all",        "answers",  "clean",        "guide",    "help",       "helpers",   "install",   "lesson",
    "cpu_device", "test",     "static_assert"};

void require_name(const std::string& name) {
    const bool is_identifier =
        !name.empty() &&
        std::all_of(name.begin(), name.end(),
                    [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }) &&
        name[0] >= 'a' && name[0] <= 'z' && name.find("__") == std::string::npos;
    if (!is_identifier) {
        throw Refusal(
            fmt::format("'{}' cannot be a name: it becomes a function of C++, so it begins with a small "
                        "letter, and small letters, digits and single _ follow, as in prefix_sum",
                        name));
    }
    if (std::count(std::begin(reserved_words), std::end(reserved_words), name) > 0) {
        throw Refusal(fmt::format(
            "'{}' cannot be a name: C++ or the build uses this word; another one, such as {}_steps, can", name, name));
    }
}

void require_free(const std::vector<ChapterList>& lists, const std::string& name) {
    for (const ChapterList& list : lists) {
        if (list.program() == name) {
            throw Refusal(fmt::format("the name '{}' is taken: the program of chapter {} has it", name, list.number()));
        }
        for (const Json& item : list.json["path"]) {
            const std::vector<std::string> former = item.value("formerly", std::vector<std::string>());
            const bool had_it = std::count(former.begin(), former.end(), name) > 0;
            if (name_of(item) != name && !had_it) continue;
            throw Refusal(fmt::format("the name '{}' is taken: {} {} in chapter {} {} it", name,
                                      item.contains("lesson") ? "lesson" : "exercise", name_of(item), list.number(),
                                      had_it ? "once had" : "has"));
        }
    }
}

// ---- files ----------------------------------------------------------------------------------------------------------

struct File {
    fs::path from;  ///< below common/guide/templates
    fs::path to;    ///< below the root
};

std::vector<File> files_of_lesson(const std::string& chapter, const std::string& name) {
    const fs::path folder = fs::path("chapters") / chapter / name;
    return {{"lesson/kernels.cuh.in", folder / "kernels.cuh"},
            {"lesson/lesson.cu.in", folder / "lesson.cu"},
            {"lesson/page.md.in", fs::path("docs") / chapter / (name + ".md")},
            {"lesson/page_zh.md.in", fs::path("docs/zh") / chapter / (name + ".md")}};
}

std::vector<File> files_of_exercise(const Project& project, const std::string& chapter, const NewItem& item) {
    const std::string& name = item.name;
    const fs::path folder = fs::path("exercises") / chapter / name;
    const fs::path stub = "exercise/stub_" + item.kind + ".cu.in";
    std::vector<File> files = {
        {stub, folder / (name + ".cu")},
        {"exercise/header.h.in", folder / (name + ".h")},
        {"exercise/grader_test.cpp.in", folder / (name + "_test.cpp")},
        {"exercise/README.md.in", folder / "README.md"},
        {"exercise/hints.md.in", folder / "hints.md"},
        {"exercise/solution.cu.in", fs::path("solutions") / chapter / name / (name + ".cu")},
        {"exercise/page_zh.md.in", fs::path("docs/zh/exercises") / chapter / (name + ".md")},
    };
    for (const char* answers : {"wrong_answers", "correct_answers"}) {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(project.root / "common/guide/templates/exercise" / answers)) {
            found.push_back(entry.path().filename());
        }
        std::sort(found.begin(), found.end());
        for (const fs::path& file : found) {
            files.push_back({fs::path("exercise") / answers / file, folder / answers / file.stem()});
        }
    }
    return files;
}

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [mark, value] : values) {
        for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
            text.replace(at, mark.size(), value);
        }
    }
    return text;
}

/// "prefix_sum" -> "Prefix sum".
std::string title_of(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

/// What a Chinese page carries as translated_from (docs/.vitepress/book/pages.mjs: hashOf); empty without sha256sum.
std::string hash_of_page(const std::string& text) {
    const std::string folder = (fs::temp_directory_path() / "warpwise_new_XXXXXX").string();
    std::string name = folder;
    if (mkdtemp(name.data()) == nullptr) return "";
    const fs::path file = fs::path(name) / "page.md";
    replace_file(file, std::string_view(text).substr(0, text.find_last_not_of('\n') + 1));
    const CommandResult result = run_command({"sha256sum", file.string()}, {.limit_seconds = 10});
    std::error_code error;
    fs::remove_all(name, error);
    return result.status == 0 && result.output.size() > 64 ? result.output.substr(0, 12) : "";
}

}  // namespace

std::string formatted_list(std::string_view json) {
    const Json list = parsed_list(json);
    const auto line_of = [](const Json& item) {
        std::vector<std::string> members;
        for (const auto& [key, value] : item.items()) {
            members.push_back(fmt::format("{}: {}", warpwise::json_text(Json(key)), warpwise::json_text(value)));
        }
        return fmt::format("        {{{}}}", fmt::join(members, ", "));
    };
    std::vector<std::string> members;
    for (const auto& [key, value] : list.items()) {
        std::string text = warpwise::json_text(value);
        if (key == "path") {
            std::vector<std::string> lines;
            for (const Json& item : value) lines.push_back(line_of(item));
            text = lines.empty() ? "[]" : fmt::format("[\n{}\n    ]", fmt::join(lines, ",\n"));
        }
        members.push_back(fmt::format("    {}: {}", warpwise::json_text(Json(key)), text));
    }
    return fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n"));
}

NewFiles create(const Project& project, const NewItem& item) {
    const bool is_lesson = item.what == "lesson";
    if (!is_lesson && item.what != "exercise") {
        throw Refusal(fmt::format("'{}' cannot be created; lesson and exercise can", item.what));
    }
    if (item.kind != "fill" && item.kind != "fix" && item.kind != "speed") {
        throw Refusal(fmt::format("the kind of an exercise is fill, fix or speed, not '{}'", item.kind));
    }
    require_name(item.name);
    std::vector<ChapterList> lists = read_lists(project);
    require_free(lists, item.name);
    ChapterList& list = chosen_chapter(lists, item.chapter);
    Json entry;
    if (is_lesson) {
        entry = {{"lesson", item.name}, {"about", item.about}};
    } else {
        entry = {{"exercise", item.name}, {"kind", item.kind}};
    }
    insert(list, entry, item.after);

    const std::vector<File> files =
        is_lesson ? files_of_lesson(list.folder, item.name) : files_of_exercise(project, list.folder, item);
    std::vector<std::pair<fs::path, std::string>> contents;
    for (const File& file : files) {
        if (fs::exists(project.root / file.to)) {
            throw Refusal(fmt::format("{} is there already; nothing was created", file.to.string()));
        }
        const fs::path from = project.root / "common/guide/templates" / file.from;
        const std::optional<std::string> text = read_file(from);
        if (!text) throw Refusal(fmt::format("{} is missing; nothing was created", project.shown(from)));
        contents.emplace_back(file.to, replaced(*text, {{"@NAME@", item.name},
                                                        {"@TITLE@", title_of(item.name)},
                                                        {"@CHAPTER@", list.folder},
                                                        {"@NUMBER@", std::to_string(list.number())},
                                                        {"@PROGRAM@", list.program()}}));
    }

    // The Chinese page says which English text it renders: the lesson's page, or the exercise's task.
    const auto english = std::find_if(contents.begin(), contents.end(),
                                      [](const auto& file) { return file.first.extension() == ".md"; });
    const std::string hash = hash_of_page(english->second);
    NewFiles result{.created = {}, .list = list.file, .chapter = list.number(), .stamped = !hash.empty()};
    for (auto& [file, text] : contents) {
        const fs::path to = project.root / file;
        std::error_code error;
        fs::create_directories(to.parent_path(), error);
        replace_file(to, replaced(text, {{"@HASH@", hash}}));
        result.created.push_back(to);
    }
    replace_file(list.file, formatted_list(warpwise::json_text(list.json)));
    return result;
}

}  // namespace guide
