// Kernels that validate the time model. Their times and the limiters that Nsight Compute reports were measured
// on GPUs (h200.json, h100.json); the model of the CPU device has to come close to them.
//
//     for (const Family& family : families()) {
//         for (const Case& measured : family.cases) {
//             Prepared kernel = measured.prepare();
//             kernel.launch();
//             kernel.check();
//         }
//     }
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

namespace model_kernels {

/// The model may be tuned with the cases of one part. The cases of the other part are only for its validation.
enum class Part { train, test };

struct Shape {
    dim3 grid = 1;
    dim3 block = 256;
    unsigned shared_bytes = 0;  ///< dynamic shared memory per block
};

/// A kernel with its inputs and its output in device memory.
struct Prepared {
    Shape shape;
    std::function<void()> launch;  ///< launches the kernel once and does not wait; throws if the launch is refused
    std::function<void()> check;   ///< throws std::runtime_error if the output after the first launch is wrong
};

struct Case {
    std::string name;                   ///< unique among all families
    std::function<Prepared()> prepare;  ///< allocates memory and copies the inputs; launches nothing
    Part part = Part::train;            ///< set by `families()`
};

struct Family {
    std::string name;
    std::vector<Case> cases;
};

/// All families, in the order in which the program runs them.
///
/// The part of a case follows from its position in its family by the Thue-Morse sequence: train, test, test, train,
/// test, train, train, test, and so on. Both parts are of nearly the same size, and unlike with strict alternation,
/// neither part gets every second value of a sweep. A new case is added at the end of its family, so that no other case
/// changes its part.
const std::vector<Family>& families();

/// What is wrong with the registry: names that occur twice, families whose parts differ in size by more than two.
/// Empty if everything is right.
std::vector<std::string> registry_errors();

}  // namespace model_kernels
