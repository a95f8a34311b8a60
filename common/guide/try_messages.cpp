#include "common/guide/try_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace guide {
namespace {

constexpr std::size_t errors_shown = 8;
constexpr std::size_t lines_of_an_error = 24;  // of one with a long tail of templates

// ---- what names and headers belong to --------------------------------------------------------------------

struct Feature {
    std::string_view prefix;  ///< of a name; with `whole`, all of it
    bool whole;
    std::string_view text;
};

/// Not offered by the CPU device, but by nvcc and a GPU. The first that fits counts.
constexpr std::array unsupported_names = {
    Feature{"cudaGraphics", false, "exchange of memory with graphics APIs"},
    Feature{"cudaGL", false, "exchange of memory with OpenGL"},
    Feature{"cudaEGL", false, "exchange of memory with EGL"},
    Feature{"cudaVDPAU", false, "exchange of memory with VDPAU"},
    Feature{"cudaExternal", false, "memory and semaphores of other APIs"},
    Feature{"cudaImportExternal", false, "memory and semaphores of other APIs"},
    Feature{"cudaDestroyExternal", false, "memory and semaphores of other APIs"},
    Feature{"cudaSignalExternal", false, "memory and semaphores of other APIs"},
    Feature{"cudaWaitExternal", false, "memory and semaphores of other APIs"},
    Feature{"cudaGraph", false, "this part of CUDA graphs"},
    Feature{"cudaUserObject", false, "user objects of CUDA graphs"},
    Feature{"cudaIpc", false, "memory shared between processes (IPC)"},
    Feature{"cudaMemPoolExport", false, "memory shared between processes (IPC)"},
    Feature{"cudaMemPoolImport", false, "memory shared between processes (IPC)"},
    Feature{"cudaLibrary", false, "loading of kernels at run time"},
    Feature{"cudaKernel", false, "loading of kernels at run time"},
    Feature{"cudaGetKernel", true, "loading of kernels at run time"},
    Feature{"cudaGetDriverEntryPoint", false, "the driver API"},
    Feature{"__cluster", false, "the intrinsics of thread block clusters"},
    Feature{"nvcuda", true, "tensor core fragments"},
    Feature{"wmma", true, "tensor core fragments"},
    Feature{"__pipeline_", false, "asynchronous copy pipelines"},
    Feature{"__mbarrier_", false, "asynchronous barriers"},
    Feature{"thrust", true, "the parallel algorithms of Thrust"},
    Feature{"cuda", true, "the CUDA C++ library (namespace cuda)"},
    Feature{"nvtx", false, "markers for profilers (NVTX)"},
    Feature{"cublas", false, "the linear algebra library cuBLAS"},
    Feature{"CUBLAS_", false, "the linear algebra library cuBLAS"},
    Feature{"cufft", false, "the Fourier transforms of cuFFT"},
    Feature{"CUFFT_", false, "the Fourier transforms of cuFFT"},
    Feature{"curand", false, "the random number library cuRAND"},
    Feature{"CURAND_", false, "the random number library cuRAND"},
    Feature{"cusparse", false, "the sparse matrix library cuSPARSE"},
    Feature{"cusolver", false, "the solvers of cuSOLVER"},
    Feature{"cudnn", false, "the neural network library cuDNN"},
    Feature{"nccl", false, "the communication library NCCL"},
    Feature{"nvml", false, "the management library NVML"},
    Feature{"nvrtc", false, "compilation at run time (NVRTC)"},
    Feature{"npp", false, "the image processing library NPP"},
};

/// No longer in CUDA, for nobody.
constexpr std::array gone_names = {
    Feature{"cudaBindTexture", false,
            "texture references are gone since CUDA 12: use texture objects (cudaCreateTextureObject)"},
    Feature{"cudaUnbindTexture", true,
            "texture references are gone since CUDA 12: use texture objects (cudaCreateTextureObject)"},
    Feature{"cudaGetTextureReference", true,
            "texture references are gone since CUDA 12: use texture objects (cudaCreateTextureObject)"},
    Feature{"cudaGetTextureAlignmentOffset", true,
            "texture references are gone since CUDA 12: use texture objects (cudaCreateTextureObject)"},
    Feature{"textureReference", true,
            "texture references are gone since CUDA 12: use texture objects (cudaCreateTextureObject)"},
    Feature{"surface", true,
            "surface references are gone since CUDA 12: use surface objects (cudaCreateSurfaceObject)"},
    Feature{"surfaceReference", true,
            "surface references are gone since CUDA 12: use surface objects (cudaCreateSurfaceObject)"},
    Feature{"cudaBindSurfaceToArray", true,
            "surface references are gone since CUDA 12: use surface objects (cudaCreateSurfaceObject)"},
    Feature{"cudaLaunchCooperativeKernelMultiDevice", true,
            "cooperative launches on several devices are gone since CUDA 13: launch on each device"},
    Feature{"cudaLaunchParams", true,
            "cooperative launches on several devices are gone since CUDA 13: launch on each device"},
    Feature{"multi_grid_group", true,
            "cooperative launches on several devices are gone since CUDA 13: launch on each device"},
    Feature{"this_multi_grid", true,
            "cooperative launches on several devices are gone since CUDA 13: launch on each device"},
    Feature{"__shfl", true, "gone since compute capability 7.0: write __shfl_sync(mask, value, lane)"},
    Feature{"__shfl_up", true, "gone since compute capability 7.0: write __shfl_up_sync(mask, value, delta)"},
    Feature{"__shfl_down", true, "gone since compute capability 7.0: write __shfl_down_sync(mask, value, delta)"},
    Feature{"__shfl_xor", true, "gone since compute capability 7.0: write __shfl_xor_sync(mask, value, lane mask)"},
    Feature{"__ballot", true, "gone since compute capability 7.0: write __ballot_sync(mask, predicate)"},
    Feature{"__any", true, "gone since compute capability 7.0: write __any_sync(mask, predicate)"},
    Feature{"__all", true, "gone since compute capability 7.0: write __all_sync(mask, predicate)"},
    Feature{"cudaConfigureCall", true, "gone since CUDA 11: use <<<...>>> or cudaLaunchKernel"},
    Feature{"cudaSetupArgument", true, "gone since CUDA 11: use <<<...>>> or cudaLaunchKernel"},
    Feature{"cudaLaunch", true, "gone since CUDA 11: use <<<...>>> or cudaLaunchKernel"},
    Feature{"cutilSafeCall", true, "cutil is gone since CUDA 5: check what each call returns yourself"},
    Feature{"CUDA_SAFE_CALL", true, "cutil is gone since CUDA 5: check what each call returns yourself"},
    Feature{"CUT_", false, "cutil is gone since CUDA 5: check what each call returns yourself"},
};

constexpr std::string_view samples_header =
    "it comes with NVIDIA's cuda-samples (git clone https://github.com/NVIDIA/cuda-samples): name their folder Common "
    "with -I";
constexpr std::string_view draws =
    "the program draws with OpenGL, and the CPU device has no screen to draw on: 'try' cannot run it";
constexpr std::array headers = {
    Feature{"helper_gl.h", true, draws},
    Feature{"rendercheck_gl.h", true, draws},
    Feature{"paramgl.h", true, draws},
    Feature{"glew.h", true, draws},
    Feature{"glut.h", true, draws},
    Feature{"freeglut.h", true, draws},
    Feature{"glfw3.h", true, draws},
    Feature{"glad.h", true, draws},
    Feature{"gl.h", true, draws},
    Feature{"glu.h", true, draws},
    Feature{"helper_", false, samples_header},
    Feature{"exception.h", true, samples_header},
    Feature{"nvrtc_helper.h", true, samples_header},
    Feature{"cutil", false, "cutil is gone since CUDA 5: take it out, and check what each call returns yourself"},
    Feature{"shrUtils.h", true, "it is gone since CUDA 5: take it out"},
};

/// Headers of what comes with the toolkit, or needs more than a CPU.
constexpr std::array unsupported_headers = {
    Feature{"nvToolsExt", false, "markers for profilers (NVTX)"},
    Feature{"nvtx3/", false, "markers for profilers (NVTX)"},
    Feature{"nvfunctional", true, "function objects for device code"},
    Feature{"cooperative_groups/", false, "this part of cooperative groups"},
    Feature{"cub/", false, "the block and device primitives of CUB"},
    Feature{"cuda/", false, "the CUDA C++ library"},
    Feature{"nv/target", true, "code chosen by target (NV_IF_TARGET)"},
    Feature{"cute/", false, "the tensor library CuTe"},
    Feature{"cutlass/", false, "the matrix library CUTLASS"},
    Feature{"cublas", false, "the linear algebra library cuBLAS"},
    Feature{"cufft", false, "the Fourier transforms of cuFFT"},
    Feature{"curand", false, "the random number library cuRAND"},
    Feature{"cusparse", false, "the sparse matrix library cuSPARSE"},
    Feature{"cusolver", false, "the solvers of cuSOLVER"},
    Feature{"cudnn", false, "the neural network library cuDNN"},
    Feature{"npp", false, "the image processing library NPP"},
    Feature{"cuda_", false, "this part of the CUDA Toolkit"},
};

template <std::size_t n>
const Feature* find_feature(const std::array<Feature, n>& features, std::string_view name) {
    for (const Feature& feature : features) {
        if (feature.whole ? name == feature.prefix : name.starts_with(feature.prefix)) return &feature;
    }
    return nullptr;
}

/// cuInit, cuMemAlloc, CUcontext, CU_MEM_...: names of the runtime begin with "cuda".
bool is_of_driver_api(std::string_view name) {
    if (name.starts_with("CU_")) return true;
    if (name.size() < 4) return false;
    const auto third = static_cast<unsigned char>(name[2]);
    return (name.starts_with("cu") && std::isupper(third) != 0) || (name.starts_with("CU") && std::islower(third) != 0);
}

// ---- reading the compiler's output -----------------------------------------------------------------------

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

struct Place {
    std::string file;
    int line = 0;
};

/// One error with all that the compiler said about it.
struct Diagnostic {
    std::vector<std::string> lines;  ///< as they came
    Place place;
    std::string error;           ///< its text, without colors
    std::vector<Place> origins;  ///< of what includes or instantiates it, innermost first
    std::string notes;           ///< texts of its notes, a line each
    std::size_t lines_before_notes = 0;
};

/// "path:12:5" and "path:12"; nothing for other texts. Lines may be very long here: no regular expressions.
std::optional<Place> read_place(std::string_view text) {
    const auto take_number = [&text]() -> std::optional<int> {
        const std::size_t colon = text.rfind(':');
        if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
        int number = 0;
        for (const char c : text.substr(colon + 1)) {
            if (c < '0' || c > '9' || number > 100'000'000) return std::nullopt;
            number = 10 * number + (c - '0');
        }
        text = text.substr(0, colon);
        return number;
    };
    const std::optional<int> last = take_number();
    if (!last) return std::nullopt;
    const std::optional<int> line = take_number();
    return Place{std::string(text), line ? *line : *last};
}

struct Message {
    Place place;
    std::string text;
};

/// "path:12:5: error: text"; g++ and clang agree.
std::optional<Message> read_message(const std::string& line, std::string_view kind) {
    const std::string mark = fmt::format(": {}: ", kind);
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) return std::nullopt;
    const std::optional<Place> place = read_place(std::string_view(line).substr(0, at));
    if (!place) return std::nullopt;
    return Message{*place, line.substr(at + mark.size())};
}

/// From where a file is included or a template is instantiated.
std::optional<Place> read_origin(std::string_view line) {
    constexpr std::string_view included = "In file included from ";
    constexpr std::string_view further = "                 from ";
    if (line.starts_with(included) || line.starts_with(further)) {
        line.remove_prefix(included.size());
        return read_place(line.substr(0, line.find_last_not_of(":,") + 1));
    }
    for (const std::string_view phrase : {":   required from", ":   required by", ":   recursively required"}) {
        const std::size_t at = line.find(phrase);
        if (at != std::string_view::npos) return read_place(line.substr(0, at));
    }
    return std::nullopt;
}

/// "add.cu: In function 'int main()':" and its like.
bool is_heading(std::string_view line) {
    return line.ends_with(':') &&
           (line.find(": In ") != std::string_view::npos || line.ends_with(": At global scope:"));
}

/// Compilers quote with ‘ and ’ where the locale has them.
std::string with_plain_quotes(std::string text) {
    for (const std::string_view quote : {"\xE2\x80\x98", "\xE2\x80\x99"})
        for (std::size_t at = 0; (at = text.find(quote, at)) != std::string::npos;) text.replace(at, quote.size(), "'");
    return text;
}

/// Lines of context stand above the message that they belong to: an error, or a note of the error before.
std::vector<Diagnostic> read_diagnostics(std::string_view output) {
    std::vector<Diagnostic> diagnostics;
    Diagnostic current;
    Diagnostic context;
    for (const std::string& line : lines_of(output)) {
        const std::string plain = with_plain_quotes(without_colors(line));
        if (plain.starts_with("compilation terminated") || plain.ends_with(" generated.")) continue;
        std::optional<Message> error = read_message(plain, "error");
        if (!error) error = read_message(plain, "fatal error");
        const std::optional<Place> origin = read_origin(plain);
        if (origin || (!error && is_heading(plain))) {
            if (origin) context.origins.push_back(*origin);
            context.lines.push_back(line);
            continue;
        }
        if (error) {
            if (!current.error.empty()) diagnostics.push_back(std::move(current));
            current = std::exchange(context, {});
            current.place = error->place;
            current.error = error->text;
            current.lines_before_notes = current.lines.size() + 1;
        } else {
            const std::optional<Message> note = read_message(plain, "note");
            if (current.notes.empty() && !note) current.lines_before_notes = current.lines.size() + 1;
            current.lines.insert(current.lines.end(), context.lines.begin(), context.lines.end());
            context = {};
            if (note) {
                current.notes += note->text + "\n";
                if (note->text.ends_with(" requested here")) current.origins.push_back(note->place);
            }
        }
        current.lines.push_back(line);
    }
    if (!current.error.empty()) diagnostics.push_back(std::move(current));
    return diagnostics;
}

// ---- what to make of it ----------------------------------------------------------------------------------

bool is_below(const std::string& file, const std::string& folder) {
    return !folder.empty() && file.size() > folder.size() && file.starts_with(folder) && file[folder.size()] == '/';
}

/// Headers of the CPU device; its cuda_runtime.h may come precompiled from another folder. clang: "<built-in>".
bool is_own_header(const std::string& file, const MessagePlaces& places) {
    const auto holds = [&](const std::string& folder) { return is_below(file, folder); };
    return std::ranges::any_of(places.headers, holds) || file.ends_with("/cuda_runtime.h") || file.starts_with("<");
}

/// Where the reader has to look: not into a header of the CPU device.
Place place_for_reader(const Diagnostic& diagnostic, const MessagePlaces& places) {
    if (!is_own_header(diagnostic.place.file, places)) return diagnostic.place;
    for (const Place& origin : diagnostic.origins) {
        if (!is_own_header(origin.file, places)) return origin;
    }
    return {places.source, 0};
}

std::string line_for(const Place& place, const std::string& text, const MessagePlaces& places) {
    std::string file = with_shown_paths(place.file, places);
    if (place.line > 0) file += fmt::format(":{}", place.line);
    return fmt::format("{}: error: {}\n", file, text);
}

/// The text between the first pair of quotes; compilers use ' in the C locale.
std::string quoted_name(const std::string& error) {
    const std::size_t open = error.find('\'');
    const std::size_t close = open == std::string::npos ? open : error.find('\'', open + 1);
    return close == std::string::npos ? std::string() : error.substr(open + 1, close - open - 1);
}

/// The name that the compiler does not know; empty where the error is another one.
std::string unknown_name(const std::string& error) {
    static constexpr std::array<std::string_view, 9> phrases = {
        "was not declared in this scope", "has not been declared", "does not name a type", "is not a member of",
        "is not a namespace-name",        "undeclared identifier", "unknown type name",    "no member named",
        "there are no arguments to"};
    const bool unknown = std::any_of(phrases.begin(), phrases.end(),
                                     [&](std::string_view phrase) { return error.find(phrase) != std::string::npos; });
    if (!unknown) return {};
    std::string name = quoted_name(error);
    // "'barrier' is not a member of 'cuda'": both say it; "'cg::cluster_group' has not been declared": the last part.
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

/// One line that stands for an error and all that follow from it.
struct Short {
    std::string text;   ///< without place
    std::string topic;  ///< errors of one topic are said once
    bool needs_gpu = false;
    bool is_header = false;  ///< with what is missing there, names of it will be unknown
};

Short unsupported(std::string_view feature, std::string_view name) {
    return {fmt::format("not supported on the CPU device: {} ({})", feature, name), std::string(feature), true, false};
}

/// What the CPU device's own headers say.
std::optional<Short> said_by_headers(const Diagnostic& diagnostic, const MessagePlaces& places) {
    if (!is_own_header(diagnostic.place.file, places)) return std::nullopt;
    const std::string& error = diagnostic.error;
    constexpr std::string_view refusal = "The CPU device does not support ";
    const std::size_t refused = error.find(refusal);
    if (refused != std::string::npos) {  // "... Thrust (<thrust/sort.h>): build this program with nvcc"
        const std::size_t feature = refused + refusal.size();
        const std::string text = error.substr(feature, error.find(": build this program with nvcc", feature) - feature);
        return Short{"not supported on the CPU device: " + text, text.substr(0, text.rfind(" (")), true, true};
    }
    const std::size_t assertion = error.find("static assertion failed");  // "...: text"; clang gives the reason first
    const std::size_t text = assertion == std::string::npos ? assertion : error.find(": ", assertion);
    if (text == std::string::npos) return std::nullopt;
    return Short{error.substr(text + 2), error.substr(text + 2), false, false};
}

/// The name in front of `<<<` in the line of the source that the compiler shows; empty where there is none.
std::string launched_kernel(const Diagnostic& diagnostic) {
    for (const std::string& line : diagnostic.lines) {
        const std::string plain = without_colors(line);
        std::size_t end = plain.find("<<<");
        if (end == std::string::npos || plain.find('|') > end) continue;
        while (end > 0 && plain[end - 1] == ' ') --end;
        const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
        if (end > 0 && plain[end - 1] == '>') {  // template arguments
            int depth = 0;
            while (end > 0) {
                const char c = plain[--end];
                depth += c == '>' ? 1 : c == '<' ? -1 : 0;
                if (depth == 0) break;
            }
        }
        std::size_t begin = end;
        while (begin > 0 && is_of_name(plain[begin - 1])) --begin;
        if (begin < end) return plain.substr(begin, end - begin);
    }
    return {};
}

/// "cannot convert 'int*' to 'float*'" of an error or a note: both types.
std::optional<std::pair<std::string, std::string>> converted_types(const std::string& text) {
    for (const std::string_view phrase : {"cannot convert '", "invalid conversion from '", "from '"}) {
        const std::size_t at = text.find(phrase);
        if (at == std::string::npos) continue;
        const std::size_t from = at + phrase.size(), from_end = text.find("' to '", from);
        if (from_end == std::string::npos) continue;
        const std::size_t to = from_end + 6, to_end = text.find('\'', to);
        if (to_end == std::string::npos) continue;
        return std::pair(text.substr(from, from_end - from), text.substr(to, to_end - to));
    }
    return std::nullopt;
}

/// The number that follows `phrase` in a line of `text` that holds `also`; 0 where there is none.
int number_after(const std::string& text, std::string_view phrase, std::string_view also) {
    for (const std::string& line : lines_of(text)) {
        const std::size_t at = line.find(phrase);
        if (at == std::string::npos || line.find(also) == std::string::npos) continue;
        int number = 0;
        for (std::size_t i = at + phrase.size(); i < line.size() && line[i] >= '0' && line[i] <= '9' && number < 1000;
             ++i)
            number = 10 * number + (line[i] - '0');
        return number;
    }
    return 0;
}

/// An argument of a launch that has the wrong type.
std::optional<Short> wrong_argument(const Diagnostic& diagnostic) {
    const std::string& error = diagnostic.error;
    int argument = number_after(diagnostic.notes, "initializing argument ", "cpu_device::TypedLauncher");
    if (argument > 0) {
        const auto types = converted_types(error);
        if (!types) return std::nullopt;
        const std::string kernel = launched_kernel(diagnostic);
        const std::string text = fmt::format("argument {} of {}: cannot convert {} to {}", argument,
                                             kernel.empty() ? "the kernel" : kernel, types->first, types->second);
        return Short{text, text, false, false};
    }
    if (error.find("call to 'cpu_device::LaunchConfig::LaunchConfig(") == std::string::npos) return std::nullopt;
    constexpr std::string_view phrase = "no known conversion for argument ";
    argument = number_after(diagnostic.notes, phrase, "' to '");
    for (const std::string& note : lines_of(diagnostic.notes)) {
        const auto types = converted_types(note);
        if (!types || note.find(phrase) == std::string::npos || argument < 1 || argument > 4) continue;
        static constexpr std::array<std::string_view, 4> meanings = {"the grid", "the block", "bytes of shared memory",
                                                                     "the stream"};
        const std::string text =
            fmt::format("argument {} between <<< and >>> is {}: cannot convert {} to {}", argument,
                        meanings[static_cast<std::size_t>(argument - 1)], types->first, types->second);
        return Short{text, text, false, false};
    }
    return std::nullopt;
}

/// A function with two versions in an expression that has to be constant.
std::optional<Short> constant_with_two_versions(const Diagnostic& diagnostic) {
    if (diagnostic.error.find("cpu_device::runs_device_version") == std::string::npos &&
        diagnostic.notes.find("cpu_device::runs_device_version") == std::string::npos)
        return std::nullopt;
    return Short{
        "not supported on the CPU device: a constant expression that calls a function whose code depends on "
        "__CUDA_ARCH__ (host and device code are compiled together here)",
        "two versions", true, false};
}

std::optional<Short> missing_header(const Diagnostic& diagnostic) {
    const std::string& error = diagnostic.error;
    std::string path;
    if (error.ends_with(": No such file or directory")) path = error.substr(0, error.rfind(": "));
    if (error.ends_with("' file not found")) path = quoted_name(error);
    if (path.empty()) return std::nullopt;
    const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (const Feature* header = find_feature(headers, name)) {
        return Short{fmt::format("{}: {}", path, header->text), path, false, true};
    }
    if (const Feature* header = find_feature(unsupported_headers, path)) {
        Short line = unsupported(header->text, fmt::format("<{}>", path));
        line.is_header = true;
        return line;
    }
    if (path.starts_with("thrust/")) {
        return Short{
            fmt::format("{}: Thrust's headers are not installed: sudo apt install libthrust-dev, or install the "
                        "CUDA Toolkit, which needs no GPU for this",
                        path),
            "thrust", false, true};
    }
    return Short{fmt::format("{}: no such file; -I FOLDER names a folder to look in", path), path, false, true};
}

std::optional<Short> said_by_name(const Diagnostic& diagnostic) {
    const std::string name = unknown_name(diagnostic.error);
    if (name.empty()) return std::nullopt;
    if (const Feature* gone = find_feature(gone_names, name)) {
        return Short{fmt::format("{}: {}", name, gone->text), std::string(gone->text), false, false};
    }
    if (const Feature* feature = find_feature(unsupported_names, name)) return unsupported(feature->text, name);
    if (is_of_driver_api(name)) return unsupported("the driver API", name);
    if (diagnostic.error.find("is not a member of 'cub'") != std::string::npos && name != "cub")
        return unsupported("this part of CUB", "cub::" + name);
    if (name == "cub") return Short{"cub needs #include <cub/cub.cuh>", "cub", false, false};
    if (name == "half" || name == "half2" || name == "__half" || name == "__half2") {
        return Short{fmt::format("{} needs #include <cuda_fp16.h>", name), "half", false, false};
    }
    return std::nullopt;
}

std::optional<Short> shortened(const Diagnostic& diagnostic, const MessagePlaces& places) {
    if (auto found = said_by_headers(diagnostic, places)) return found;
    if (auto found = wrong_argument(diagnostic)) return found;
    if (auto found = constant_with_two_versions(diagnostic)) return found;
    if (auto found = missing_header(diagnostic)) return found;
    return said_by_name(diagnostic);
}

/// What helps with an error that is shown as it came; empty where nothing is known.
std::string hint_for(const Diagnostic& diagnostic) {
    if (diagnostic.error.find("is ambiguous") != std::string::npos &&
        diagnostic.notes.find("std::") != std::string::npos) {
        const std::string name = quoted_name(diagnostic.error);
        return fmt::format("the C++ library has a std::{0}, too: write ::{0}, or do without 'using namespace std'",
                           name);
    }
    if (diagnostic.error.find("dynamic exception specification") != std::string::npos) {
        return "C++17 and newer do not allow throw(...) after a function's parameters: remove it, or write noexcept";
    }
    return {};
}

/// The lines of an error with places that a reader can find: the rewriter makes some lines longer, so columns in them
/// point beyond what the reader wrote. There, neither a column nor a mark is shown.
std::vector<std::string> with_true_columns(const std::vector<std::string>& lines) {
    std::vector<std::string> result;
    std::size_t width = std::string::npos;  // of the line of the source that was shown last, with its margin
    std::size_t message = std::string::npos;
    for (const std::string& line : lines) {
        const std::string plain = without_colors(line);
        const std::size_t bar = plain.find(" |");
        const bool margin = bar != std::string::npos && plain.find_first_not_of(" 0123456789") == bar + 1;
        if (!margin) {
            if (read_message(plain, "error") || read_message(plain, "note")) message = result.size();
            width = std::string::npos;
            result.push_back(line);
            continue;
        }
        if (plain.find_first_of("0123456789") < bar) {
            width = plain.size();
        } else if (plain.size() > width + 1) {
            if (message != std::string::npos) {
                const std::size_t kind = result[message].find(": error: ") != std::string::npos
                                             ? result[message].find(": error: ")
                                             : result[message].find(": note: ");
                const std::size_t column = kind == std::string::npos ? kind : result[message].rfind(':', kind - 1);
                if (column != std::string::npos && result[message].find_first_not_of("0123456789", column + 1) == kind)
                    result[message].erase(column, kind - column);
                message = std::string::npos;
            }
            continue;
        }
        result.push_back(line);
    }
    return result;
}

/// The error as it came; `was_cut` becomes true when the compiler said more.
std::string text_of(const Diagnostic& diagnostic, const MessagePlaces& places, bool& was_cut) {
    std::string text;
    const std::string hint = hint_for(diagnostic);
    // With a hint, what the compiler notes besides helps no more.
    const std::size_t worth_showing = hint.empty() ? diagnostic.lines.size() : diagnostic.lines_before_notes;
    const std::size_t shown = std::min(worth_showing, lines_of_an_error);
    const std::vector<std::string> lines(diagnostic.lines.begin(),
                                         diagnostic.lines.begin() + static_cast<std::ptrdiff_t>(shown));
    for (const std::string& line : with_true_columns(lines)) text += line + "\n";
    if (shown < worth_showing) {
        text += fmt::format("    ... {} more lines about this error\n", worth_showing - shown);
        was_cut = true;
    }
    if (!hint.empty()) text += "hint: " + hint + "\n";
    return with_shown_paths(text, places);
}

/// "/usr/bin/ld: /home/me/add.cu:12: " names a place; "/usr/bin/ld: add.o: in function `main':" does not.
Place place_in_linkers_line(std::string_view before, const MessagePlaces& places) {
    const std::size_t source = before.rfind(": /");
    if (source != std::string_view::npos) before.remove_prefix(source + 2);
    const std::size_t end = before.find_last_not_of(": ");
    const std::optional<Place> place = read_place(before.substr(0, end == std::string_view::npos ? 0 : end + 1));
    return place ? *place : Place{places.source, 0};
}

std::string replaced_everywhere(std::string text, const std::string& what, const std::string& by) {
    if (what.empty()) return text;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}

}  // namespace

std::string without_colors(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033' && i + 1 < text.size() && text[i + 1] == '[') {
            i += 2;
            while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::string with_shown_paths(std::string_view text, const MessagePlaces& places) {
    std::string result = replaced_everywhere(std::string(text), places.source, places.shown);
    return places.caller == "/" ? result : replaced_everywhere(std::move(result), places.caller + "/", "");
}

BuildMessage explain_compiler(std::string_view output, const MessagePlaces& places) {
    const std::vector<Diagnostic> diagnostics = read_diagnostics(output);
    std::vector<std::pair<Place, Short>> lines;
    std::set<std::string> topics;  // two headers of a library, or two functions of an API, are one matter
    bool is_about_headers = false;
    for (const Diagnostic& diagnostic : diagnostics) {
        std::optional<Short> line = shortened(diagnostic, places);
        if (!line || !topics.insert(line->topic).second) continue;
        is_about_headers = is_about_headers || line->is_header;
        lines.emplace_back(place_for_reader(diagnostic, places), std::move(*line));
    }
    if (is_about_headers) std::erase_if(lines, [](const auto& line) { return !line.second.is_header; });
    BuildMessage message;
    for (const auto& [place, line] : lines) {
        message.text += line_for(place, line.text, places);
        message.needs_gpu = message.needs_gpu || line.needs_gpu;
    }
    if (!lines.empty()) {
        message.shortened = diagnostics.size() > lines.size();
        return message;
    }
    if (diagnostics.empty()) return {with_shown_paths(output, places), false, false};
    for (std::size_t i = 0; i < std::min(diagnostics.size(), errors_shown); ++i) {
        message.text += text_of(diagnostics[i], places, message.shortened);
    }
    if (diagnostics.size() > errors_shown) {
        message.text += fmt::format("and {} more errors\n", diagnostics.size() - errors_shown);
        message.shortened = true;
    }
    return message;
}

BuildMessage explain_rewriter(std::string_view output, const MessagePlaces& places) {
    BuildMessage message{with_shown_paths(output, places), false, false};
    message.needs_gpu = message.text.find("not supported on the CPU device") != std::string::npos;
    return message;
}

BuildMessage explain_linker(std::string_view output, const MessagePlaces& places) {
    constexpr std::string_view undefined = "undefined reference to ";
    std::set<std::string> names;
    BuildMessage message;
    for (const std::string& line : lines_of(without_colors(output))) {
        const std::size_t at = line.find(undefined);
        if (at == std::string::npos || at + undefined.size() + 2 > line.size()) continue;
        std::string name = line.substr(at + undefined.size() + 1);  // `name' in quotes
        name = name.substr(0, name.rfind('\''));
        if (!names.insert(name).second) continue;
        std::string text =
            name +
            " is defined nowhere: if another file of the program defines it, name that file, too (try A.cu B.cu); -l "
            "NAME links a library";
        if (name == "main") text = "there is no main() in it, and 'try' runs whole programs";
        if (name.starts_with("omp_") || name.starts_with("GOMP_"))
            text = name + " is a function of OpenMP: 'try' builds with OpenMP when the file itself includes <omp.h>";
        message.text += line_for(place_in_linkers_line(line.substr(0, at), places), text, places);
    }
    if (!names.empty()) return message;
    return {with_shown_paths(output, places), false, false};
}

}  // namespace guide
