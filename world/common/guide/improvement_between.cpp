// Shows what the guide says after success in an exercise that is about speed, from the facts of two graders:
//
//     improvement_between STUB.json ANSWER.json
//
// Exit status: 0 a figure or a count of the answer is another one than the stub's, 1 none is, 2 a file cannot be read.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/guide/improvement.h"

namespace {

std::string contents_of(const char* file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

int main(int argc, char** argv) {
    const std::string stub = argc == 3 ? contents_of(argv[1]) : "";
    const std::string answer = argc == 3 ? contents_of(argv[2]) : "";
    if (stub.empty() || answer.empty()) {
        std::fprintf(stderr, "usage: improvement_between STUB.json ANSWER.json, both written by a grader\n");
        return 2;
    }
    const std::vector<guide::Improvement> found = guide::improvements(stub, answer);
    if (found.empty()) {
        std::printf(
            "The guide would show no improvement: the test that the stub fails has no figure or count that "
            "differs.\n");
        return 1;
    }
    std::printf("%s", guide::improvement_table(found, {}).c_str());
    return 0;
}
