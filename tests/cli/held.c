/* An extension of Ruby that keeps two objects: at an address that it registered, and in its own mark function. Ruby's
 * headers are not needed. */
#include <stdint.h>

typedef uintptr_t value;

extern value rb_define_module(const char *name);
extern void rb_define_singleton_method(value module, const char *name, value (*function)(value, value), int arity);
extern void rb_gc_register_address(value *address);
extern void rb_gc_register_mark_object(value object);

static value registered;

static value keep_at_address(value self, value object)
{
	registered = object;
	return self;
}

static value keep_for_ever(value self, value object)
{
	rb_gc_register_mark_object(object);
	return self;
}

void Init_held(void)
{
	value module = rb_define_module("Held");
	rb_gc_register_address(&registered);
	rb_define_singleton_method(module, "register", keep_at_address, 1);
	rb_define_singleton_method(module, "static", keep_for_ever, 1);
}
