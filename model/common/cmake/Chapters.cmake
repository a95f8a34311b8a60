# Chapters. The file chapters/N_name/chapter.json is the one place that lists what a chapter teaches:
#
#     {
#         "title": "Basics and pi",
#         "program": "basics_and_pi",
#         "path": [
#             {"page": "thread_hierarchy", "idea": "thread indices and guards"},
#             {"lesson": "hello_threads", "about": "grids, blocks, threads ...", "idea": "thread indices and guards"},
#             {"exercise": "index_and_guard", "kind": "fill", "formerly": ["first_index"], "idea": "..."},
#             ...
#         ]
#     }
#
# `program` names the program and the C++ namespace of its lessons. `path` is the order in which lessons and exercises are
# taken; `about` is what lists show of a lesson. An exercise has the kind fill (a part is missing), fix (there is a mistake
# in it) or speed (it is right and has to become faster); `formerly` are names that it once had, so that learners keep
# their marks. A page is docs/NAME.md, which explains what the entries after it need; the build does nothing with it.
# `idea` names what is learned there, by which predictions and exercises are counted; it may be left out.
# `./warpwise new lesson` and `./warpwise new exercise` add to
# the list.
#
#     add_chapter(CUDA_LIBRARIES CUDA::cublas)    the program and the exercises of the current folder's chapter.json
#     write_catalog()                             what there is to learn, for the guide

# Writes the file only if that changes it, so that nothing is compiled anew without need.
function(write_if_changed file content)
    set(old "")
    if(EXISTS ${file})
        file(READ ${file} old)
    endif()
    if(NOT old STREQUAL content)
        file(WRITE ${file} "${content}")
    endif()
endfunction()

# The member of an object in JSON; fails with the file's name. TYPE: what it has to be.
function(json_member result json type)
    string(JSON actual ERROR_VARIABLE error TYPE "${json}" ${ARGN})
    list(JOIN ARGN "." place)
    if(error OR NOT actual STREQUAL type)
        string(TOLOWER ${type} type)
        message(FATAL_ERROR "${WARPWISE_LIST}: there is no ${type} '${place}'")
    endif()
    if(type STREQUAL "ARRAY")
        string(JSON value LENGTH "${json}" ${ARGN})
    else()
        string(JSON value GET "${json}" ${ARGN})
    endif()
    set(${result} "${value}" PARENT_SCOPE)
endfunction()

# The text as a string literal of C++ and JSON.
function(quoted result text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

function(require_identifier what name)
    if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
        message(FATAL_ERROR "${WARPWISE_LIST}: the ${what} is '${name}', but names have small letters, digits and _ only")
    endif()
endfunction()

# Appends an entry to a chapter's path in catalog.json. IDEA, and ABOUT of a lesson: string literals.
function(add_to_path result kind name idea)
    set(path "${${result}}")
    if(path)
        string(APPEND path ",\n")
    endif()
    set(about "")
    if(ARGC GREATER 4)
        set(about ", \"about\": ${ARGV4}")
    endif()
    string(APPEND path "     {\"kind\": \"${kind}\", \"name\": \"${name}\", \"idea\": ${idea}${about}}")
    set(${result} "${path}" PARENT_SCOPE)
endfunction()

# The main function of a program with these lessons.
# RUN: the function that runs it, of common/lesson/HEADER.h.
function(write_main file header run declarations entries name number title folder)
    write_if_changed(${file} "// Written by CMake from ${WARPWISE_LIST}.
#include \"common/lesson/${header}.h\"

namespace ${name} {

${declarations}
}  // namespace ${name}

int main(int argc, char** argv) {
    return warpwise::${run}(
        argc, argv,
        {.number = ${number},
         .title = ${title},
         .folder = \"${folder}\",
         .lessons = {
${entries}         }});
}
")
endfunction()

# The sources of the lessons: each lesson is a folder with a lesson.cu and whatever else it is made of, or a file
# LESSON.cu, which may have others beside it.
function(find_lesson_sources result lessons)
    file(GLOB sources CONFIGURE_DEPENDS *.cu *.cpp */*.cu */*.cpp)
    foreach(lesson IN LISTS lessons)
        set(found ${sources})
        list(FILTER found INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/(${lesson}/[^/]*|${lesson})\\.cu$")
        if(NOT found)
            message(FATAL_ERROR "${WARPWISE_LIST}: lesson '${lesson}' has no ${lesson}/lesson.cu")
        endif()
    endforeach()
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(GET folder FILENAME lesson)
        if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT lesson IN_LIST lessons)
            message(FATAL_ERROR "${folder}: chapter.json has no lesson '${lesson}'; add it to the path")
        endif()
    endforeach()
    set(${result} "${sources}" PARENT_SCOPE)
endfunction()

# CI builds each chapter for one of CMAKE_CUDA_ARCHITECTURES, in turns: with another number, each chapter is built for another one.
set(WARPWISE_ARCHITECTURE_TURN "" CACHE STRING "Build each chapter for one architecture, chosen by this number; empty: for all")
mark_as_advanced(WARPWISE_ARCHITECTURE_TURN)

# On the CPU device twice: instrumented, and `plain/NAME` at full speed, which times host code and runs with --no-counters.
# CUDA_LIBRARIES: those of the toolkit whose routines its lessons are measured against, on a GPU only.
function(add_chapter)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "CUDA_LIBRARIES")
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME chapter)
    set(WARPWISE_LIST chapters/${chapter}/chapter.json)  # for messages
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/chapter.json)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    if(NOT chapter MATCHES "^([0-9]+)_[a-z0-9_]+$")
        message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: the folder of a chapter is called NUMBER_NAME")
    endif()
    set(number ${CMAKE_MATCH_1})
    file(READ ${file} json)
    string(JSON type ERROR_VARIABLE error TYPE "${json}")
    if(error)
        message(FATAL_ERROR "${WARPWISE_LIST}: ${error}")
    endif()
    json_member(title "${json}" STRING title)
    json_member(name "${json}" STRING program)
    require_identifier("program" "${name}")
    json_member(length "${json}" ARRAY path)

    set(lessons "")
    set(exercises "")
    set(declarations "")
    set(entries "")
    set(catalog_exercises "")
    set(catalog_path "")
    foreach(index RANGE ${length})
        if(index EQUAL length)
            break()
        endif()
        string(JSON idea ERROR_VARIABLE no_idea GET "${json}" path ${index} idea)
        if(no_idea)
            set(idea "")
        endif()
        quoted(idea "${idea}")
        string(JSON page ERROR_VARIABLE no_page GET "${json}" path ${index} page)
        if(NOT no_page)
            require_identifier("page" "${page}")
            if(NOT EXISTS ${PROJECT_SOURCE_DIR}/docs/${page}.md)
                message(FATAL_ERROR "${WARPWISE_LIST}: page '${page}' has no docs/${page}.md")
            endif()
            add_to_path(catalog_path page ${page} "${idea}")
            continue()
        endif()
        string(JSON lesson ERROR_VARIABLE no_lesson GET "${json}" path ${index} lesson)
        if(NOT no_lesson)
            require_identifier("lesson" "${lesson}")
            json_member(about "${json}" STRING path ${index} about)
            quoted(about "${about}")
            list(APPEND lessons ${lesson})
            add_to_path(catalog_path lesson ${lesson} "${idea}" "${about}")
            string(APPEND declarations "void ${lesson}(warpwise::Lesson& lesson);\n")
            string(APPEND entries "             {\"${lesson}\", ${about}, ${name}::${lesson}, ${idea}},\n")
            if(NOT DEFINED first_entry)
                set(first_entry "${entries}")
                set(first_declaration "${declarations}")
            endif()
            continue()
        endif()
        json_member(exercise "${json}" STRING path ${index} exercise)
        require_identifier("exercise" "${exercise}")
        json_member(kind "${json}" STRING path ${index} kind)
        if(NOT kind MATCHES "^(fill|fix|speed)$")
            message(FATAL_ERROR "${WARPWISE_LIST}: the kind of ${exercise} is fill, fix or speed, not '${kind}'")
        endif()
        string(JSON formerly ERROR_VARIABLE never_renamed GET "${json}" path ${index} formerly)
        if(never_renamed)
            set(formerly "[]")
        endif()
        list(APPEND exercises ${exercise})
        list(APPEND kinds ${kind})
        add_to_path(catalog_path exercise ${exercise} "${idea}")
        if(catalog_exercises)
            string(APPEND catalog_exercises ",\n")
        endif()
        string(APPEND catalog_exercises
            "     {\"name\": \"${exercise}\", \"kind\": \"${kind}\", \"formerly\": ${formerly}}")
    endforeach()

    json_strings(lesson_names ${lessons})
    quoted(title "${title}")
    set_property(GLOBAL APPEND_STRING PROPERTY WARPWISE_CATALOG
        "  {\"folder\": \"${chapter}\", \"title\": ${title}, \"program\": \"${name}\",\n   \"lessons\": [${lesson_names}],
   \"exercises\": [\n${catalog_exercises}],\n   \"path\": [\n${catalog_path}]},\n")
    set(chapter_parts ${name} ${number} ${title} ${chapter})
    set(main ${CMAKE_CURRENT_BINARY_DIR}/main.cpp)
    write_main(${main} chapter run_chapter "${declarations}" "${entries}" ${chapter_parts})
    find_lesson_sources(sources "${lessons}")
    list(PREPEND sources ${main})

    add_device_program(${name} HEADER ${WARPWISE_LESSON_HEADER} INSTRUMENTED_SOURCES ${sources} DEVICE_LIBRARIES lesson)
    set(cuda_programs ${name}_cuda)
    if(number EQUAL 1)
        list(APPEND cuda_programs first_lesson_cuda)
        # The first lesson alone: a learner can read it while the rest is built (warpwise).
        list(GET lessons 0 first_lesson)
        set(first_sources ${sources})
        list(FILTER first_sources INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${first_lesson}/")
        set(first_main ${CMAKE_CURRENT_BINARY_DIR}/first_main.cpp)
        write_main(${first_main} first_lesson run_first_lesson "${first_declaration}" "${first_entry}" ${chapter_parts})
        add_device_program(first_lesson INSTRUMENTED_SOURCES ${first_main} ${first_sources} DEVICE_LIBRARIES first_lesson_parts)
        if("cpu" IN_LIST WARPWISE_DEVICES)
            # It has a main function of its own.
            set(test "cpu: the first lesson alone prints what the chapter prints of it")
            add_test(NAME "${test}" COMMAND sh -c "
                '$<TARGET_FILE:first_lesson_cpu>' --device cpu >first_lesson.txt &&
                '$<TARGET_FILE:${name}_cpu>' --device cpu ${first_lesson} >same_lesson.txt &&
                diff first_lesson.txt same_lesson.txt")
            set_tests_properties("${test}" PROPERTIES LABELS cpu ENVIRONMENT WARPWISE_TYPED=warpwise)
        endif()
    endif()
    # Not called NAME: with Ninja that is the first program alone, by the name of its file.
    add_custom_target(${name}_programs)
    if("cuda" IN_LIST WARPWISE_DEVICES)
        target_link_libraries(${name}_cuda PRIVATE ${arg_CUDA_LIBRARIES})
        if(NOT WARPWISE_ARCHITECTURE_TURN STREQUAL "")
            list(LENGTH CMAKE_CUDA_ARCHITECTURES count)
            math(EXPR turn "(${number} + ${WARPWISE_ARCHITECTURE_TURN}) % ${count}")
            list(GET CMAKE_CUDA_ARCHITECTURES ${turn} architecture)
            set_target_properties(${cuda_programs} PROPERTIES CUDA_ARCHITECTURES ${architecture})
            message(STATUS "Chapter ${number} is built for sm_${architecture}")
        endif()
    endif()
    if("cpu" IN_LIST WARPWISE_DEVICES)
        # To compile every lesson twice takes minutes, and tests do without: CI builds them in turns (.ci/run).
        set(when "")
        if(DEFINED ENV{WARPWISE_TURN})
            set(when EXCLUDE_FROM_ALL)
        endif()
        add_executable(${name}_plain ${when})
        target_device_sources(${name}_plain cpu ${sources})
        target_link_libraries(${name}_plain PRIVATE lesson_cpu)
        use_openmp(${name}_plain)
        set_target_properties(${name}_plain PROPERTIES
            OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${WARPWISE_BIN_DIR}/cpu/plain)
        add_dependencies(${name}_programs ${name}_plain)
    endif()
    foreach(device IN LISTS WARPWISE_DEVICES)
        add_dependencies(${name}_programs ${name}_${device})
        use_openmp(${name}_${device})
        can_run(${device} runs)
        if(runs)
            foreach(lesson IN LISTS lessons)
                add_test(NAME "${device}: lesson ${lesson} is right at every step"
                    COMMAND ${name}_${device} ${lesson} --device ${device})
                lock_of(${device} lock)
                set_tests_properties("${device}: lesson ${lesson} is right at every step" PROPERTIES
                    LABELS "${device};lesson" ${lock})
            endforeach()
        endif()
    endforeach()
    foreach(group answers stubs)
        add_custom_target(${group}_of_${chapter})
        add_dependencies(${group} ${group}_of_${chapter})
    endforeach()
    foreach(exercise kind IN ZIP_LISTS exercises kinds)
        add_exercise(${chapter} ${exercise} ${kind})
    endforeach()
endfunction()

# Writes catalog.json into the build's folder: the chapters that were added, with their lessons and exercises, and the path
# through them: entries {"kind": "lesson", "exercise" or "page", "name", "idea"}, of a lesson also "about", in the order in which they are taken.
function(write_catalog)
    get_property(chapters GLOBAL PROPERTY WARPWISE_CATALOG)
    string(REGEX REPLACE ",\n$" "\n" chapters "${chapters}")
    file(WRITE ${CMAKE_BINARY_DIR}/catalog.json "{\"warpwise_catalog\": 1, \"chapters\": [\n${chapters}]}\n")
endfunction()
