/* Attributes used throughout; nothing else belongs here. */
#pragma once

#define jp_printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define jp_must_check __attribute__((warn_unused_result))
#define jp_cleanup(fn) __attribute__((cleanup(fn)))
#define jp_count(a) (sizeof(a) / sizeof *(a))
