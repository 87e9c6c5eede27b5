# Language, warnings and sanitizers, for every target.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Without NDEBUG: the checks of conservation are cheap and stay on in what is shipped.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g" CACHE STRING "" FORCE)

set(warnings
    -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla
    -Wdouble-promotion -Werror)
set(c_warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
add_compile_options(
    "$<$<COMPILE_LANGUAGE:C>:${warnings};${c_warnings}>"
    -fno-common)

if(SANITIZE OR FUZZ)
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_compile_options(${sanitizers} -O1)
    # What the sanitizers add hides the ranges of values that these two go by; the release build has both.
    add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation$<SEMICOLON>-Wno-maybe-uninitialized>)
    add_link_options(${sanitizers})
endif()
if(FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "FUZZ needs clang, whose libFuzzer it links; this is ${CMAKE_C_COMPILER_ID}")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    find_program(CCACHE_PROGRAM ccache)
    if(CCACHE_PROGRAM)
        set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    endif()
endif()
