# How programs are made: from the same sources once for each device of WARPWISE_DEVICES.
#
#     add_device_library(lesson SOURCES ...)          -> lesson_cpu, lesson_cuda
#     add_device_program(speed SOURCES ...)           -> speed_cpu, speed_cuda
#     add_exercise(1_basics_and_pi grid_stride fill)  stub, solution and grader of an exercise
#
# Chapters.cmake makes the programs of chapters, and calls add_exercise for each exercise that a chapter lists.

# Rewritten files include what nvcc includes by itself. Kernels read floats as integers, and null pointers and endless loops
# have to act where they are written, not to be reasoned away: they are to be found. `#pragma unroll` is nvcc's.
set(WARPWISE_KERNEL_OPTIONS -fno-strict-aliasing -fno-delete-null-pointer-checks
    -fno-finite-loops -Wno-unknown-pragmas)

# On top of that, for kernels that are instrumented (counters, diagnostics): the compiler announces every load, store and
# basic block to callbacks of ours; nothing of a sanitizer is linked. Little is optimized, so that one access of the source stays
# one access, and code stays in source order, by which lanes of a warp are matched. A load whose value is needed only under a
# condition may move there, as with nvcc: `return sum[0];` of a function is no access of threads that drop the value.
set(WARPWISE_INSTRUMENT_OPTIONS -O1 -g1 -gdwarf-4
    -fno-sanitize=address,undefined -fsanitize=thread -fsanitize-coverage=trace-pc
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -D__CPU_DEVICE_INSTRUMENTED__)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND WARPWISE_INSTRUMENT_OPTIONS
        --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1 -Wno-tsan
        -fno-tree-sra -fno-thread-jumps -fno-tree-vectorize -fno-reorder-blocks
        -fno-reorder-blocks-and-partition)
else()
    list(APPEND WARPWISE_INSTRUMENT_OPTIONS
        -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-distinguish-volatile=1 -fno-vectorize -fno-slp-vectorize)
endif()

# These stand on cpu_device_base alone, which is built sooner than the whole CPU device.
set(WARPWISE_PARTS_OF_FIRST_LESSON checks_cpu first_lesson_parts_cpu first_lesson_cpu)
# The base calls the time model only where a program has it: this brings it into a program.
set(WARPWISE_TIME_MODEL -ucpu_device_has_time_model)

# Rewritten files begin with a header: with cuda_runtime.h, those of chapters with all that lessons include. For those that
# are instrumented it is there precompiled, which is most of their time: compiling an exercise takes 0.3 s with it, and 1.4 s
# without. Where options differ (WARPWISE_SANITIZE), or with clang, the compiler reads the header itself.
set(WARPWISE_INSTRUMENTED_HEADER ${PROJECT_BINARY_DIR}/instrumented_headers/cuda_runtime.h)
set(WARPWISE_LESSON_HEADER ${PROJECT_BINARY_DIR}/instrumented_headers/lesson.h)
set(WARPWISE_PRECOMPILED_HEADERS ${WARPWISE_INSTRUMENTED_HEADER} ${WARPWISE_LESSON_HEADER})

# precompile_instrumented(HEADER OPTION..): HEADER.gch, for files that are compiled with the same options.
function(precompile_instrumented header)
    cmake_path(GET header FILENAME name)
    add_custom_command(
        OUTPUT ${header}.gch
        COMMAND ${CMAKE_CXX_COMPILER} -std=gnu++20 -D__CPU_DEVICE__ -D__CUDACC__ ${WARPWISE_CPU_DEVICE_INCLUDES} ${ARGN}
                ${WARPWISE_KERNEL_OPTIONS} ${WARPWISE_INSTRUMENT_OPTIONS} -w
                -MD -MF ${header}.d -x c++-header ${header} -o ${header}.gch
        DEPFILE ${header}.d
        COMMENT "Precompiling ${name} for instrumented kernels"
        VERBATIM
        COMMAND_EXPAND_LISTS)
endfunction()

if("cpu" IN_LIST WARPWISE_DEVICES)
    include(${PROJECT_SOURCE_DIR}/common/cpu_device/headers.cmake)
    list(GET CPU_DEVICE_HEADERS 0 include_folder)
    list(TRANSFORM CPU_DEVICE_HEADERS PREPEND -I OUTPUT_VARIABLE WARPWISE_CPU_DEVICE_INCLUDES)
    file(CONFIGURE OUTPUT ${WARPWISE_INSTRUMENTED_HEADER} CONTENT "#include \"${include_folder}/cuda_runtime.h\"\n")
    file(CONFIGURE OUTPUT ${WARPWISE_LESSON_HEADER} CONTENT "#include \"${include_folder}/cuda_runtime.h\"
#include <algorithm>
#include <string>
#include <vector>
#include \"common/helpers/device_buffer.h\"
#include \"common/lesson/lesson.h\"\n")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        precompile_instrumented(${WARPWISE_INSTRUMENTED_HEADER})
        precompile_instrumented(${WARPWISE_LESSON_HEADER} -I${PROJECT_SOURCE_DIR} ${OpenMP_CXX_FLAGS})
        add_custom_target(instrumented_headers DEPENDS ${WARPWISE_INSTRUMENTED_HEADER}.gch)
        add_custom_target(lesson_header DEPENDS ${WARPWISE_LESSON_HEADER}.gch)
    else()
        add_custom_target(instrumented_headers)
        add_custom_target(lesson_header)
    endif()
endif()

# Gives `target` the sources as the device wants them: `.cu` files are rewritten for the CPU device. Kernels added by
# target_instrumented_sources can be instrumented there. HEADER: what these begin with, if not cuda_runtime.h.
function(target_instrumented_sources target device)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER" "")
    if(NOT arg_HEADER)
        set(arg_HEADER ${WARPWISE_INSTRUMENTED_HEADER})
    endif()
    add_device_sources(${target} ${device}
        "-include;${arg_HEADER};${WARPWISE_KERNEL_OPTIONS};${WARPWISE_INSTRUMENT_OPTIONS}" ${arg_UNPARSED_ARGUMENTS})
    if(device STREQUAL "cpu" AND arg_HEADER STREQUAL WARPWISE_LESSON_HEADER)
        add_dependencies(${target} lesson_header)
    elseif(device STREQUAL "cpu")
        add_dependencies(${target} instrumented_headers)
    endif()
endfunction()

function(target_device_sources target device)
    add_device_sources(${target} ${device} "-include;cuda_runtime.h;${WARPWISE_KERNEL_OPTIONS}" ${ARGN})
endfunction()

function(add_device_sources target device options)
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
        cmake_path(GET source EXTENSION LAST_ONLY extension)
        if(device STREQUAL "cpu" AND extension STREQUAL ".cu")
            # One rewritten file for each target: ninja wants an output to have one rule. With the source's folder in
            # its path: every lesson may have a lesson.cu.
            cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
            set(rewritten ${CMAKE_CURRENT_BINARY_DIR}/rewritten/${target}/${name})
            cmake_path(REPLACE_EXTENSION rewritten LAST_ONLY cpp)
            cmake_path(GET rewritten PARENT_PATH rewritten_folder)
            file(MAKE_DIRECTORY ${rewritten_folder})  # make, unlike ninja, does not
            add_custom_command(
                OUTPUT ${rewritten}
                COMMAND cuda_to_cpp ${source} -o ${rewritten} --depfile ${rewritten}.d -I ${PROJECT_SOURCE_DIR}
                DEPENDS ${source} cuda_to_cpp
                DEPFILE ${rewritten}.d
                COMMENT "Rewriting ${name} for the CPU device"
                VERBATIM)
            set_source_files_properties(${rewritten} PROPERTIES
                COMPILE_OPTIONS "${options}"
                COMPILE_DEFINITIONS "__CUDACC__")
            # g++ names no precompiled header among the files that an object depends on.
            foreach(header IN LISTS WARPWISE_PRECOMPILED_HEADERS)
                if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND header IN_LIST options)
                    set_source_files_properties(${rewritten} PROPERTIES OBJECT_DEPENDS ${header}.gch)
                endif()
            endforeach()
            target_sources(${target} PRIVATE ${rewritten})
            list(APPEND all_rewritten ${rewritten})
        else()
            target_sources(${target} PRIVATE ${source})
        endif()
    endforeach()
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${WARPWISE_WARNINGS}>")
    if(target IN_LIST WARPWISE_PARTS_OF_FIRST_LESSON)
        if(all_rewritten)
            # A target without libraries: so the files are written, and compiled, before the libraries are built.
            add_custom_target(${target}_rewritten DEPENDS ${all_rewritten})
        endif()
        target_link_libraries(${target} PUBLIC cpu_device_base)
    elseif(device STREQUAL "cpu")
        target_link_libraries(${target} PUBLIC cpu_device)
    else()
        target_link_libraries(${target} PUBLIC CUDA::cudart_static)
    endif()
endfunction()

# Whether tests of a device can run here: a GPU's need a GPU.
function(can_run device result)
    if(device STREQUAL "cpu" OR WARPWISE_GPU_PRESENT)
        set(${result} ON PARENT_SCOPE)
    else()
        set(${result} OFF PARENT_SCOPE)
    endif()
endfunction()

# Properties for tests that cannot share the device.
function(lock_of device result)
    if(device STREQUAL "cuda")
        set(${result} RESOURCE_LOCK gpu PARENT_SCOPE)
    else()
        set(${result} "" PARENT_SCOPE)
    endif()
endfunction()

# Tests, graders, and what they are linked with do not differ from chip to chip as lessons do: CI builds them for
# WARPWISE_TEST_ARCHITECTURES alone. Without it they are built for CMAKE_CUDA_ARCHITECTURES like everything else.
set(WARPWISE_TEST_ARCHITECTURES "" CACHE STRING "GPUs to build tests and graders for; empty: as the rest")
mark_as_advanced(WARPWISE_TEST_ARCHITECTURES)
function(build_for_test_architectures target device)
    if(device STREQUAL "cuda" AND WARPWISE_TEST_ARCHITECTURES)
        set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${WARPWISE_TEST_ARCHITECTURES}")
    endif()
endfunction()

# Everything that runs on a device, without the guide and tests of host code; and of these, what is no chapter.
add_custom_target(device_programs)
add_custom_target(test_programs)

function(add_device_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;DEVICE_LIBRARIES")
    foreach(device IN LISTS WARPWISE_DEVICES)
        add_library(${name}_${device} STATIC)
        build_for_test_architectures(${name}_${device} ${device})
        target_device_sources(${name}_${device} ${device} ${arg_SOURCES})
        list(TRANSFORM arg_DEVICE_LIBRARIES APPEND _${device} OUTPUT_VARIABLE device_libraries)
        target_link_libraries(${name}_${device} PUBLIC ${device_libraries} ${arg_LIBRARIES})
    endforeach()
endfunction()

# FOLDER: below the device's folder of programs. INSTRUMENTED_SOURCES: .cu files whose kernels can be instrumented; HEADER:
# what these begin with.
function(add_device_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;HEADER" "SOURCES;INSTRUMENTED_SOURCES;LIBRARIES;DEVICE_LIBRARIES")
    foreach(device IN LISTS WARPWISE_DEVICES)
        add_executable(${name}_${device})
        add_dependencies(device_programs ${name}_${device})
        if(arg_FOLDER STREQUAL "tests")
            add_dependencies(test_programs ${name}_${device})
            build_for_test_architectures(${name}_${device} ${device})
        endif()
        target_device_sources(${name}_${device} ${device} ${arg_SOURCES})
        target_instrumented_sources(${name}_${device} ${device} HEADER "${arg_HEADER}" ${arg_INSTRUMENTED_SOURCES})
        list(TRANSFORM arg_DEVICE_LIBRARIES APPEND _${device} OUTPUT_VARIABLE device_libraries)
        target_link_libraries(${name}_${device} PRIVATE ${device_libraries} ${arg_LIBRARIES})
        set_target_properties(${name}_${device} PROPERTIES
            OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${WARPWISE_BIN_DIR}/${device}/${arg_FOLDER})
    endforeach()
endfunction()

# Catch2 tests, found when the program was built; `ctest` lists every test case by its title.
function(add_device_tests name)
    add_device_program(${name} FOLDER tests ${ARGN})
    foreach(device IN LISTS WARPWISE_DEVICES)
        can_run(${device} runs)
        lock_of(${device} lock)
        if(runs)
            # Older versions of Catch2 leave SKIP_RETURN_CODE to us. The GPU is one, and some tests compare times on it.
            catch_discover_tests(${name}_${device} TEST_PREFIX "${device}: "
                PROPERTIES LABELS ${device} TIMEOUT 300 SKIP_RETURN_CODE 4 ${lock})
        endif()
    endforeach()
endfunction()

function(use_openmp target)
    if(OpenMP_CXX_FOUND)
        # nvcc hands the option to the host compiler.
        target_compile_options(${target} PRIVATE
            "$<$<COMPILE_LANGUAGE:CXX>:${OpenMP_CXX_FLAGS}>"
            "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${OpenMP_CXX_FLAGS}>")
        target_link_libraries(${target} PRIVATE ${OpenMP_CXX_LIBRARIES})
    endif()
endfunction()

# Sets `result` to whether a part of the tests that takes minutes to build is part of this build. It is, except in those runs of
# CI (WARPWISE_TURN=K/16) whose K is not one of the numbers that follow.
function(is_its_turn result)
    set(is ON)
    if("$ENV{WARPWISE_TURN}" MATCHES "^([0-9]+)/16$" AND NOT CMAKE_MATCH_1 IN_LIST ARGN)
        set(is OFF)
    endif()
    set(${result} ${is} PARENT_SCOPE)
endfunction()

# The exercise in exercises/CHAPTER/NAME, of the kind fill, fix or speed.
# Targets: `name` (the learner's answer: the file in answers/, or the stub where there is none), `name_original` (the stub
# in exercises/), `name_solution`. Built on demand only; the tests build first what they need. The files in wrong_answers/
# and correct_answers/ are no targets: there are hundreds, and common/grading/try_answer.sh makes and judges those of an
# exercise, in one test.
# Where WARPWISE_TURN=K/N is set, as CI sets it, what takes long is tried of every N-th exercise only, counted from K, and
# the stubs of every second one.
function(add_exercise chapter name kind)
    set(in_turn ON)
    set(stub_in_turn ON)
    if("$ENV{WARPWISE_TURN}" MATCHES "^([0-9]+)/([0-9]+)$")
        set(turn ${CMAKE_MATCH_1})
        set(turns ${CMAKE_MATCH_2})
        get_property(number GLOBAL PROPERTY WARPWISE_EXERCISES)
        math(EXPR next "0${number} + 1")
        set_property(GLOBAL PROPERTY WARPWISE_EXERCISES ${next})
        math(EXPR remainder "0${number} % ${turns}")
        if(NOT remainder EQUAL turn)
            set(in_turn OFF)
        endif()
        math(EXPR remainder "(0${number} + ${turn}) % 2")
        if(turns GREATER 1 AND remainder EQUAL 1)
            set(stub_in_turn OFF)
        endif()
    endif()
    set(folder ${PROJECT_SOURCE_DIR}/exercises/${chapter}/${name})
    set(solution ${PROJECT_SOURCE_DIR}/solutions/${chapter}/${name}/${name}.cu)
    file(GLOB wrong_answers ${folder}/wrong_answers/*.patch ${folder}/wrong_answers/*.cu)
    list(LENGTH wrong_answers count)
    if(count LESS 3)
        message(FATAL_ERROR "Exercise ${name} has ${count} wrong answers; its grader should prove itself on three or more")
    endif()
    # The learner's file, which the guide makes from the stub.
    set(answer ${PROJECT_SOURCE_DIR}/answers/${chapter}/${name}/${name}.cu)
    if(NOT answer IN_LIST WARPWISE_LEARNERS_FILES)
        set(answer ${folder}/${name}.cu)
    endif()
    foreach(device IN LISTS WARPWISE_DEVICES)
        add_library(${name}_grader_${device} OBJECT EXCLUDE_FROM_ALL)
        build_for_test_architectures(${name}_grader_${device} ${device})
        set(grader ${folder}/${name}_test.cpp)
        if(EXISTS ${folder}/${name}_test.cu)  # it has kernels of its own
            set(grader ${folder}/${name}_test.cu)
        endif()
        target_device_sources(${name}_grader_${device} ${device} ${grader})
        target_link_libraries(${name}_grader_${device} PUBLIC grading_${device})
        # A learner waits for it once. What it calls for every element of an answer is in the library, optimized.
        target_compile_options(${name}_grader_${device} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${WARPWISE_QUICK_TO_BUILD}>)
        if(grader MATCHES "cpp$")
            target_precompile_headers(${name}_grader_${device} REUSE_FROM grader_main_${device})
        endif()
        add_answer(${chapter} ${name} ${device} ${folder} ${name} ${answer})
        add_answer(${chapter} ${name} ${device} ${folder} ${name}_original ${folder}/${name}.cu)
        add_answer(${chapter} ${name} ${device} ${folder} ${name}_solution ${solution})
        can_run(${device} runs)
        if(runs)
            add_graded_test("${device}: ${name}: the solution passes" ${device} COMMAND ${name}_solution_${device})
            # What only the model answer promises, and learners need not.
            file(STRINGS ${grader} very_large REGEX "\\[\\.very_large\\]")
            if(very_large AND in_turn)
                add_graded_test("${device}: ${name}: the solution does very large problems" ${device}
                    COMMAND ${name}_solution_${device} "[.very_large]")
            endif()
        endif()
    endforeach()
    add_custom_target(${name})
    list(GET WARPWISE_DEVICES 0 first_device)
    add_dependencies(${name} ${name}_${first_device})

    # Wrong answers lean on nothing that only a GPU has: one device proves the grader.
    if("cpu" IN_LIST WARPWISE_DEVICES)
        set(scripts ${PROJECT_SOURCE_DIR}/common/grading)
        # As it was handed out: in the learner's copy it may be right by now, or may not compile.
        if(stub_in_turn)
            add_graded_test("cpu: ${name}: the stub compiles and fails" cpu
                COMMAND ${scripts}/try_answer.sh -b ${CMAKE_BINARY_DIR} --no-build --stub ${name})
        endif()
        write_answer_tools(${name} ${folder} ${solution})
        if(in_turn)
            add_graded_test("cpu: ${name}: wrong answers are rejected and correct ones accepted" cpu
                COMMAND ${scripts}/try_answer.sh -b ${CMAKE_BINARY_DIR} --no-build --stored ${name})
        endif()
        if(kind STREQUAL "speed")
            add_dependencies(answers improvement_between)
        endif()
        if(kind STREQUAL "speed" AND in_turn)
            # After success the guide shows it.
            add_graded_test("cpu: ${name}: the solution improves on the figures of the stub" cpu
                COMMAND ${scripts}/try_answer.sh -b ${CMAKE_BINARY_DIR} --no-build
                    --improvement $<TARGET_FILE:improvement_between> ${name})
        endif()
    endif()
endfunction()

function(add_answer chapter exercise device folder program source)
    add_executable(${program}_${device} EXCLUDE_FROM_ALL)
    build_for_test_architectures(${program}_${device} ${device})
    target_instrumented_sources(${program}_${device} ${device} ${source})
    # A stub has parameters, constants (177), and variables (550) that only the learner's code will use.
    target_compile_options(${program}_${device} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-unused-parameter;--diag-suppress=177,550>")
    target_include_directories(${program}_${device} PRIVATE ${folder})
    target_link_libraries(${program}_${device} PRIVATE ${exercise}_grader_${device} grader_main_${device})
    set_target_properties(${program}_${device} PROPERTIES
        OUTPUT_NAME ${program}
        RUNTIME_OUTPUT_DIRECTORY ${WARPWISE_BIN_DIR}/${device}/exercises)
    # What the learner edits may not compile, which no test of ours should mind.
    if(program STREQUAL ${exercise}_original)
        add_dependencies(stubs_of_${chapter} ${program}_${device})
    elseif(NOT program STREQUAL exercise)
        add_dependencies(answers_of_${chapter} ${program}_${device})
    endif()
endfunction()

# Writes what try_answer.sh needs to make a program of an answer, and adds the target `NAME_judge`: all of that.
function(write_answer_tools name folder solution)
    # Without its precompiled header.
    set(objects $<TARGET_OBJECTS:${name}_grader_cpu> $<FILTER:$<TARGET_OBJECTS:grader_main_cpu>,EXCLUDE,gch$>)
    # Twice: the CPU device's library and the helpers need each other.
    set(libraries ${WARPWISE_TIME_MODEL} $<TARGET_FILE:grading_cpu> $<TARGET_FILE:json_helpers> $<TARGET_FILE:helpers_cpu>
        $<TARGET_FILE:checks_cpu> $<TARGET_FILE:cpu_device> $<TARGET_FILE:cpu_device_base> $<TARGET_FILE:helpers_cpu>
        $<TARGET_FILE:checks_cpu> $<TARGET_FILE:cpu_device_base> $<TARGET_FILE:host_helpers> $<TARGET_FILE:Boost::context>
        $<TARGET_FILE:Catch2::Catch2>
        -pthread)
    set(options -std=gnu++20 -D__CPU_DEVICE__ -D__CUDACC__ ${WARPWISE_CPU_DEVICE_INCLUDES}
        -include ${WARPWISE_INSTRUMENTED_HEADER} ${WARPWISE_KERNEL_OPTIONS} ${WARPWISE_INSTRUMENT_OPTIONS})
    separate_arguments(link_options UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}")
    if(WARPWISE_FAST_LINKER)
        list(APPEND link_options ${WARPWISE_FAST_LINKER})
    endif()
    if(WARPWISE_SANITIZE)
        list(APPEND link_options -fsanitize=address,undefined)
    endif()
    list(JOIN options " " options)
    list(JOIN link_options " " link_options)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/answers/${name}/tools.sh CONTENT
"folder='${folder}'
solution='${solution}'
compiler='${CMAKE_CXX_COMPILER}'
rewriter='$<TARGET_FILE:cuda_to_cpp>'
header='${WARPWISE_INSTRUMENTED_HEADER}.gch'
options=(${options})
link_options=(${link_options})
objects=($<JOIN:${objects}, >)
libraries=($<JOIN:${libraries}, >)
")
    add_custom_target(${name}_judge)
    add_dependencies(${name}_judge ${name}_grader_cpu grader_main_cpu grading_cpu json_helpers helpers_cpu checks_cpu host_helpers
        cpu_device cpu_device_base cuda_to_cpp instrumented_headers)
    add_dependencies(answers ${name}_judge)
endfunction()

# Hundreds of answers are linked: gold and lld take a third of the time.
if(NOT WARPWISE_SANITIZE)
    find_program(WARPWISE_GOLD ld.gold)
    find_program(WARPWISE_LLD ld.lld)
    if(WARPWISE_LLD)
        set(WARPWISE_FAST_LINKER -fuse-ld=lld)
    elseif(WARPWISE_GOLD)
        set(WARPWISE_FAST_LINKER -fuse-ld=gold)
    endif()
endif()

# A test of answers that are not part of the default build: a fixture builds them all first.
function(add_graded_test title device)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND")
    add_test(NAME "${title}" COMMAND ${arg_COMMAND})
    lock_of(${device} lock)
    # The same inputs in every run: a test that fails today should fail tomorrow.
    set_tests_properties("${title}" PROPERTIES FIXTURES_REQUIRED answers LABELS "${device};exercise" TIMEOUT 900
        ENVIRONMENT WARPWISE_GRADING_SEED=1 ${lock})
endfunction()

add_custom_target(answers COMMENT "Solutions and graders of all exercises")
add_custom_target(stubs COMMENT "Stubs of all exercises")
# A file that appears or vanishes there changes what `name` is made of.
file(GLOB WARPWISE_LEARNERS_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/answers/*/*/*.cu)
add_test(NAME "build the answers of all exercises"
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target answers --config $<CONFIG>)
set_tests_properties("build the answers of all exercises" PROPERTIES FIXTURES_SETUP answers TIMEOUT 1800)

# Turns a list into the inside of a JSON array of strings.
function(json_strings result)
    list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE quoted)
    list(JOIN quoted ", " joined)
    set(${result} "${joined}" PARENT_SCOPE)
endfunction()

# Writes try.json into the build's folder: how `warpwise try` makes a program of a .cu file.
function(write_try_tools)
    if(NOT "cpu" IN_LIST WARPWISE_DEVICES)
        return()
    endif()
    json_strings(options -std=gnu++20 -D__CPU_DEVICE__ -D__CUDACC__ -include ${WARPWISE_INSTRUMENTED_HEADER}
        ${WARPWISE_KERNEL_OPTIONS} ${WARPWISE_INSTRUMENT_OPTIONS})
    json_strings(headers ${CPU_DEVICE_HEADERS})
    json_strings(include_folders ${PROJECT_SOURCE_DIR})
    json_strings(libraries ${WARPWISE_TIME_MODEL} $<TARGET_FILE:try_support> $<TARGET_FILE:lesson_cpu>
        $<TARGET_FILE:first_lesson_parts_cpu> $<TARGET_FILE:lesson_counts> $<TARGET_FILE:lesson_text> $<TARGET_FILE:time_model>
        $<TARGET_FILE:machine_code>
        $<TARGET_FILE:json_helpers> $<TARGET_FILE:helpers_cpu> $<TARGET_FILE:checks_cpu> $<TARGET_FILE:cpu_device> $<TARGET_FILE:cpu_device_base>
        $<TARGET_FILE:host_helpers> $<TARGET_FILE:Boost::context> $<TARGET_FILE:fmt::fmt> -pthread)
    json_strings(toolkit_libraries $<TARGET_FILE:toolkit_libraries>)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/try.json CONTENT
"{\"compiler\": \"${CMAKE_CXX_COMPILER}\",
 \"options\": [${options}],
 \"cpu_device_headers\": [${headers}],
 \"include_folders\": [${include_folders}],
 \"libraries\": [${libraries}],
 \"toolkit_libraries\": [${toolkit_libraries}],
 \"rewriter\": \"$<TARGET_FILE:cuda_to_cpp>\"}
")
endfunction()
