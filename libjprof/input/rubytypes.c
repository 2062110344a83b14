#include "input/rubytypes.h"

#include <stddef.h>

const char *jp_ruby_type_name(unsigned type)
{
	static const char *const names[jp_ruby_types] = {
		[1] = "Object",     [2] = "Class",     [3] = "Module",
		[4] = "Float",      [5] = "String",    [6] = "Regexp",
		[7] = "Array",      [8] = "Hash",      [9] = "Struct",
		[10] = "Integer",   [11] = "File",     [12] = "Data",
		[13] = "MatchData", [14] = "Complex",  [15] = "Rational",
		[20] = "Symbol",    [26] = "internal", [28] = "included module",
	};
	return type < jp_ruby_types ? names[type] : NULL;
}
