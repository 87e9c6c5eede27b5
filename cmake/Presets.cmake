# Data files that are compiled in: FILE becomes `const char SYMBOL[]` and `const size_t SYMBOL_size` in a source of TARGET.
function(embed target file symbol)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
    file(READ ${CMAKE_SOURCE_DIR}/${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
    string(REGEX REPLACE "((0x.., ){16})" "\\1\n    " bytes "${bytes}")
    set(source ${CMAKE_BINARY_DIR}/embedded/${symbol}.c)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"/* Made from @file@. */
#include <stddef.h>
extern const unsigned char @symbol@[];
extern const size_t @symbol@_size;
const unsigned char @symbol@[] = {
    @bytes@};
const size_t @symbol@_size = sizeof(@symbol@);
")
    target_sources(${target} PRIVATE ${source})
endfunction()
