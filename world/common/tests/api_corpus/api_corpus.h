// Calls of every function of CUDA that the CPU device declares, with what they return: built for both devices, it tells
// what differs. record.sh keeps what a GPU answered.
//
//     const Case absolute("__sad", [] { return map(Call{}, ints(), ints(), uints()); });
//
// A case prints one line of JSON: {"case": "__sad", "type": "bits", "ulp": 0, "absolute": 0, "results":
// "2*0000002a 0000002b ..."}. `type` says what the results are: floating-point numbers and integers as the hexadecimal
// digits of their bits (those that repeat once, with their number), a NaN as "nan"; text as a list of strings.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace api_corpus {

/// What a case has found out.
struct Results {
    std::string type = "text";
    std::vector<std::string> values;
    double ulp = 0;       ///< by so many units in the last place results may differ from those of another device ...
    double absolute = 0;  ///< ... or by so much
};

/// The results may differ so far: the error bounds that the CUDA documentation states.
inline Results within(double ulp, Results results) {
    results.ulp = ulp;
    return results;
}
inline Results within_absolute(double absolute, Results results) {
    results.absolute = absolute;
    return results;
}

/// A case exists by being defined. Names are unique.
struct Case {
    Case(std::string name, std::function<Results()> run);
};

struct ListedCase {
    std::string name;
    std::function<Results()> run;
};

/// All of the program, by name.
std::vector<ListedCase> cases();

}  // namespace api_corpus
