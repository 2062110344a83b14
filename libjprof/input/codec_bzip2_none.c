/* Built without libbz2. */
#include "input/codec.h"

const struct jp_codec jp_codec_bzip2 = { .magic = "BZh" };
