# Writes a C++ source that holds a file's bytes. IN, OUT, SYMBOL.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "// Made from a file at build time.
#include <string_view>
namespace gpusonde::embedded {
namespace {
const unsigned char k_bytes[] = {${bytes}0x00};
}
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}{reinterpret_cast<const char*>(k_bytes), sizeof(k_bytes) - 1};
}  // namespace gpusonde::embedded
")
