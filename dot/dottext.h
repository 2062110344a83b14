/* Texts of a picture: numbers for people, and names that may hold any bytes made fit for HTML-like labels, for
 * escStrings, and for XML. */
#pragma once

#include <stdio.h>

#include "dot.h"

enum { dot_cell = 64 };

/* "19.3 MB" (2^20 bytes), "812 B"; with show_bytes always in B; a counter of objects has "12 objects". */
void dot_value(char text[dot_cell], double value, const struct dot_opts *opts);

/* The same with its sign and "grew" or "shrank". */
void dot_change(char text[dot_cell], double value, const struct dot_opts *opts);

/* Text for XML. What is no UTF-8, or would steer its reader (controls, marks of writing direction), becomes
 * \xNN, here and below. */
void dot_put_xml(FILE *out, const char *s, size_t len);

/* Text for an HTML-like label, in which Graphviz replaces \N and its like, too. */
void dot_put_html(FILE *out, const char *s, size_t len);

/* Text for an attribute that Graphviz takes as escString: it comes out as it is, \N and &amp; included. */
void dot_put_escaped(FILE *out, const char *s);

/* How many bytes of `name`, which is not empty, make one line of a box of about `columns`: names are broken
 * where they have joints (after "::", ",", "/", blanks, "!" ...), or anywhere if they have none. */
size_t dot_line(const char *name, size_t columns);
