# Libraries that others keep well. Each from the system's packages; Catch2 may also be fetched.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if("cpu" IN_LIST WARPWISE_DEVICES)
    find_package(Boost CONFIG REQUIRED COMPONENTS context)
endif()

find_package(Catch2 3.3 QUIET)
if(NOT Catch2_FOUND)
    message(STATUS "Catch2 3.3 or newer is not installed: fetching it")
    include(FetchContent)
    FetchContent_Declare(Catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.7.1 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(Catch2)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
endif()
include(Catch)  # catch_discover_tests
