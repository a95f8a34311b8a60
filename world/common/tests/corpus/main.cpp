// Runs one case of the corpus in a process of its own.
//
//     corpus NAME      runs it; exit status 1 if CUDA reported an error, 2 for an unknown name
//     corpus --list    one line a case: name, "error" or "correct", "hangs" or "ends", file, what it is about; tabs
//     between
#include <cstdio>
#include <cstring>
#include <exception>

#include "common/tests/corpus/corpus.h"

namespace {

void print(const char* list, const std::vector<corpus::CaseList>& files) {
    for (const corpus::CaseList& file : files) {
        for (const corpus::Case& one : file.cases) {
            std::printf("%s\t%s\t%s\t%s\t%s\n", one.name, list, one.hangs ? "hangs" : "ends", file.file, one.what);
        }
    }
}

const corpus::Case* find(const std::vector<corpus::CaseList>& files, const char* name) {
    for (const corpus::CaseList& file : files) {
        for (const corpus::Case& one : file.cases) {
            if (std::strcmp(one.name, name) == 0) return &one;
        }
    }
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: corpus --list | corpus NAME\n");
        return 2;
    }
    const std::vector<corpus::CaseList> diagnostics = corpus::diagnostics(), correct = corpus::correct();
    const char* name = arguments[1];
    if (std::strcmp(name, "--list") == 0) {
        print("error", diagnostics);
        print("correct", correct);
        return 0;
    }
    const corpus::Case* one = find(diagnostics, name);
    if (one == nullptr) one = find(correct, name);
    if (one == nullptr) {
        std::fprintf(stderr, "no case is called '%s': see corpus --list\n", name);
        return 2;
    }
    try {
        one->run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
