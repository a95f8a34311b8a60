# CPU_DEVICE_HEADERS: the folders with headers that programs for the CPU device see, in this order: its own, and those that only
# say that something is not supported. These are generated here from unsupported_headers.txt.

set(CPU_DEVICE_UNSUPPORTED_HEADERS ${PROJECT_BINARY_DIR}/unsupported_headers)
set(CPU_DEVICE_HEADERS ${CMAKE_CURRENT_LIST_DIR}/include ${CPU_DEVICE_UNSUPPORTED_HEADERS})

function(generate_unsupported_headers list)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    set(files "")
    set(subject "")
    file(STRINGS ${list} lines)
    foreach(line IN LISTS lines)
        if(line MATCHES "^    ([a-zA-Z0-9_./]+)$" AND subject)
            set(name ${CMAKE_MATCH_1})
            set(file ${CPU_DEVICE_UNSUPPORTED_HEADERS}/${name})
            if(file IN_LIST files OR EXISTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include/${name})
                message(FATAL_ERROR "${list}: <${name}> is there already")
            endif()
            list(APPEND files ${file})
            file(CONFIGURE OUTPUT ${file} CONTENT
                "#error \"The CPU device does not support ${subject} (<${name}>): build this program with nvcc\"\n")
        elseif(line MATCHES "^[^ #]")
            set(subject "${line}")
        elseif(NOT line MATCHES "^(#|$)")
            message(FATAL_ERROR "${list}: what is this line? ${line}")
        endif()
    endforeach()
    # What has left the list has to leave the folder, too.
    file(GLOB_RECURSE present ${CPU_DEVICE_UNSUPPORTED_HEADERS}/*)
    list(REMOVE_ITEM present ${files})
    if(present)
        file(REMOVE ${present})
    endif()
endfunction()

generate_unsupported_headers(${CMAKE_CURRENT_LIST_DIR}/unsupported_headers.txt)
