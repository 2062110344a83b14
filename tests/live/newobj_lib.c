/* A library that is loaded later, with a function that Ruby has, too, and that it calls by name: as the last of all, so
 * that an optimizing compiler lets that return to the program. */
unsigned long rb_wb_protected_newobj_of(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
                                        unsigned long e, unsigned long f);
unsigned long newobj_lib_call(unsigned long n);

unsigned long rb_wb_protected_newobj_of(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
                                        unsigned long e, unsigned long f)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

unsigned long newobj_lib_call(unsigned long n)
{
	return rb_wb_protected_newobj_of(n, n * n, ~0ul, -n, 1, n << 60);
}
