// Problem: one process per GPU, on one machine or on many.
//
// The processes are those of another program, mpi/several_gpus_mpi.cu, which mpirun starts
// once per GPU. This lesson starts it, and shows what it prints.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/processes/launcher.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

using warpwise::text_of;

// Where a rank of `per_machine` ranks per machine runs, as MPI numbers them.
void show_places(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    constexpr int per_machine = 4;
    for (const int rank : {0, 3, 4, 9, 15})
        rows.push_back({std::to_string(rank), std::to_string(rank / per_machine),
                        std::to_string(rank % per_machine),
                        std::to_string(rank % per_machine)});
    lesson.table({"places", "16 ranks on machines with 4 GPUs each"},
                 {"rank", "machine", "number on the machine", "cudaSetDevice"}, rows);
}

void show_run(warpwise::Lesson& lesson, int ranks) {
    const std::string largest = lesson.on_gpu() ? "268435456" : "4096";
    const std::string numbers = lesson.on_gpu() ? "536870912" : "10007";
    const Ended ended = run_ranks(ranks, {"--largest", largest, "--numbers", numbers}, 120);
    lesson.expect(ended.status == 0, "the ranks end without an error: " + ended.message());
    lesson.expect(ended.rows("dot").size() == 1, "the dot product of all ranks is right");
    if (ended.status != 0) return lesson.text(ended.output);
    std::vector<std::vector<std::string>> places;
    for (const std::vector<std::string>& cells : ended.rows("rank"))
        places.push_back({cells.at(0), cells.at(2), cells.at(3)});
    lesson.table({"ranks", "The ranks of this run"}, {"rank", "device", "name"}, places);
    std::vector<std::vector<std::string>> times = ended.rows("size");
    lesson.expect(times.size() >= 2, "sums of arrays are right");
    if (!lesson.measures()) {
        for (std::vector<std::string>& row : times)
            std::replace_if(
                row.begin() + 1, row.end(),
                [](const std::string& cell) { return cell != "-"; }, "right");
        lesson.table({"checked", "Sums of arrays on " + std::to_string(ranks) + " ranks"},
                     {"bytes", "staged", "CUDA-aware MPI", "NCCL"}, times);
        return lesson.show_recorded("all_reduce");
    }
    lesson.table({"all_reduce", "Microseconds of an all-reduce, one rank per GPU"},
                 {"bytes", "staged", "CUDA-aware MPI", "NCCL"}, times);
}

struct Fault {
    const char* name;
    const char* what;
    const char* said;  // a part of the message
};

constexpr std::array<Fault, 5> kFaults = {{
    {"die", "a rank is killed", "signal 9"},
    {"out_of_memory", "its device has no memory left", "cudaErrorMemoryAllocation"},
    {"wrong_address", "its kernel writes to a wrong address", "the kernel write_to"},
    {"mismatch", "it calls another operation", "do not call the same operation"},
    {"hang", "it never comes", "waits in"},
}};

void show_faults(warpwise::Lesson& lesson, int ranks) {
    std::vector<std::vector<std::string>> rows;
    std::string messages;
    const auto add = [&](const std::string& name, const std::string& what,
                         const std::string& said, const Ended& ended) {
        const std::string message = ended.message();
        const bool right = ended.status.has_value() && *ended.status != 0 &&
                           message.find(said) != std::string::npos && ended.seconds < 30;
        lesson.expect(
            right, name + ": all ranks end within 30 s, with a message (" + message + ")");
        rows.push_back({name, what, right ? "yes" : "no"});
        messages += "\n    " + message;
    };
    for (const Fault& fault : kFaults)
        add(fault.name, fault.what, fault.said,
            run_ranks(ranks,
                      {"--largest", "8", "--numbers", "10007", "--patience", "6", "--fault",
                       fault.name},
                      60));
    add("wrong_count", "fewer ranks than expected", "--ranks asks for",
        run_ranks(ranks, {"--ranks", std::to_string(ranks + 1)}, 60));
    lesson.table({"faults", "What one rank runs into, and what ends all of them"},
                 {"fault", "of one rank", "ended within 30 s"}, rows);
    lesson.text("What was said:\n" + messages);
}

}  // namespace

void processes(warpwise::Lesson& lesson) {
    lesson.question(
        R"(One process can drive the GPUs of one machine. For those of several machines,
there has to be a process on each, and usually there is one per GPU. How do they find each
other, and which GPU does each take?)");
    lesson.predict(
        {.question = R"(16 ranks are started on machines with 4 GPUs each. Which device does
rank 9 have to take on its machine?)",
         .answer =
             warpwise::Number{
                 .value = 1,
                 .unit = {},
                 .shown_by = warpwise::TableCell{"places", {"9"}, "cudaSetDevice"}},
         .because = R"(Ranks 8 to 11 are on the third machine, and rank 9 is the second of
them. Devices are numbered from 0 on each machine.)"});
    show_places(lesson);
    lesson.conclusion(
        R"(mpirun, or srun on a cluster, starts the same program many times. MPI numbers
the processes. The number on the own machine tells which device to take.)");

    const std::string missing = program_of_ranks().empty()
                                    ? "several_gpus_mpi was not built: MPI or NCCL was not "
                                      "found when the build was configured"
                                : !has_mpirun() ? "mpirun of Open MPI is not installed"
                                                : "";
    if (!missing.empty())
        return lesson.text("The runs with several processes are skipped: " + missing +
                           ". The page of this lesson says how to install it.");

    const int ranks = std::min(4, device_count());
    lesson.question(
        R"(Arrays of all ranks are to be added up. They can be copied to the host, for MPI
to add them. An MPI that knows CUDA takes device pointers. NCCL works on the devices. What
is the difference?)");
    lesson.predict(
        {.question = R"(Staged through the host, an array is copied to the host and back.
How often does each of its bytes cross the link between a GPU and the host?)",
         .answer = warpwise::Choice{{"never", "once", "twice"}, 2},
         .because = R"(Once on the way to MPI, and once on the way back. With NCCL, the data
stays on the links between the GPUs.)"});
    show_run(lesson, ranks);
    lesson.conclusion(
        R"(MPI starts the processes and hands the identifier of NCCL around. The data goes
by NCCL, from device to device, in the order of a stream.)");

    if (ranks == 1)
        return lesson.text(
            "There is one device here, so there is one rank. What one rank "
            "does to others is skipped.");
    lesson.question(
        R"(A rank fails. The others wait for it in a collective operation, and would wait
forever. What ends them, and who says why?)");
    lesson.predict(
        {.question = R"(One rank throws an exception and leaves main. Its others wait in
ncclAllReduce. What do they see, if nobody has thought of it?)",
         .answer =
             warpwise::Choice{
                 {"an error of NCCL at once", "a wrong sum", "nothing: they wait"}, 2},
         .because = R"(A rank that is late and a rank that is gone look the same, until
somebody sets a limit.)"});
    show_faults(lesson, ranks);
    lesson.conclusion(
        R"(A rank that sees its error prints it, and calls MPI_Abort. For a rank that says
nothing, the others have a watchdog: a thread that knows how long everybody has been
where.)");
}

}  // namespace several_gpus
