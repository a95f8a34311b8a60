# Writes report_views.cpp: the modules as one script, and the style sheets.
#
#     cmake "-DMODULES=A.mjs;B.mjs" "-DSTYLES=A.css;B.css" -DOUTPUT=FILE.cpp -P report_views.cmake
#
# MODULES are in the order of their imports: without `import` lines and `export`, one after the other, they are one script
# (common/views/README.md). Comments are left out where lines begin with them: each report would carry them.
cmake_minimum_required(VERSION 3.22)

# Pieces of literals: compilers need not take long ones.
function(to_literals result text)
    set(literals "")
    string(LENGTH "${text}" left)
    while(left GREATER 0)
        string(SUBSTRING "${text}" 0 16000 piece)
        string(FIND "${piece}" "\n" end REVERSE)
        math(EXPR length "${end} + 1")
        string(SUBSTRING "${text}" 0 ${length} piece)
        string(SUBSTRING "${text}" ${length} -1 text)
        string(LENGTH "${text}" left)
        string(APPEND literals "\n    R\"views(${piece})views\"")
    endwhile()
    set(${result} "${literals}" PARENT_SCOPE)
endfunction()

set(script "(() => {\n'use strict';")
set(known "")
foreach(module IN LISTS MODULES)
    file(READ ${module} text)
    string(REGEX MATCHALL "\nimport [^\n]*/[a-z_]+\\.mjs" imports "\n${text}")
    foreach(import IN LISTS imports)
        string(REGEX REPLACE ".*/" "" import "${import}")
        if(NOT import IN_LIST known)
            message(FATAL_ERROR "${module} imports ${import}, which has to stand before it in the list of modules")
        endif()
    endforeach()
    cmake_path(GET module FILENAME name)
    list(APPEND known ${name})
    string(REGEX REPLACE "\nimport [^\n]*" "" text "\n${text}")
    string(REPLACE "\nexport " "\n" text "${text}")
    string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "\n */\\*\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
    string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
set(style "")
foreach(sheet IN LISTS STYLES)
    file(READ ${sheet} text)
    string(APPEND style "${text}")
endforeach()
if("${script}${style}" MATCHES "</(script|style)|<!--|\\)views\"")
    message(FATAL_ERROR "The views hold '${CMAKE_MATCH_0}', which would end them too early in a page or a literal")
endif()

to_literals(script "${script}")
to_literals(style "${style}")
file(WRITE ${OUTPUT} "#include \"common/guide/report_views.h\"

namespace guide {

constexpr std::string_view views_script =${script};

constexpr std::string_view views_style =${style};

}  // namespace guide
")
