/* How many of Ruby's objects live, of which types and classes, and how large they are: counts and sizes, no contents.
 */
#pragma once

#include <stdbool.h>

struct textbuf;

enum { OBJECTS_NAME = 64, OBJECTS_TYPES = 24, OBJECTS_CLASSES = 50 };

struct ruby_objects_row {
	char name[OBJECTS_NAME];
	unsigned long long count;
	unsigned long long slots;  /* bytes of their slots in the GC heap */
	unsigned long long memory; /* and with what Ruby allocated for them outside of it, where Ruby knows that */
};

struct ruby_objects {
	bool counted;  /* false: was not asked for, or cannot be; nothing else is set */
	bool complete; /* false: the time was up */
	unsigned milliseconds;
	int type_count, class_count;
	struct ruby_objects_row types[OBJECTS_TYPES], classes[OBJECTS_CLASSES]; /* most slots first */
};

/* Can this Ruby count them? */
bool ruby_objects_known(void);

/* In a job, on a Ruby thread; may raise: is there one ractor, so that nobody changes the heap during a walk? */
bool ruby_objects_are_alone(void);

/* In a job, on a Ruby thread; may raise. Stops after about a second. Counts nothing where there are several ractors. */
void ruby_objects_count(struct ruby_objects *objects);

/* Adds what follows "objects": in the side-car. */
void ruby_objects_json(const struct ruby_objects *objects, struct textbuf *text);
