/* Functions that have one caller, several, or may be called by anybody; nothing but api_* is exported. The comment over
 * a BODY is what the machine code says of its only caller; "none": there are several, or anybody may have the address.
 * Nothing runs this: only the code counts. */
#define BODY __attribute__((noinline, noclone))
#define API __attribute__((visibility("default"), noinline, noclone))

volatile long sink;
long outside(long (*function)(long));

/* = api_calls */
BODY static long only_called(long n)
{
	return (sink += n) + outside(0);
}
/* = api_jumps */
BODY static long only_jumped(long n)
{
	return (sink -= n) + outside(0);
}
/* = none */
BODY static long shared(long n)
{
	return (sink *= n) + outside(0);
}
/* = none */
BODY static long in_table(long n)
{
	return (sink ^= n) + outside(0);
}
/* = none */
BODY static long handed_out(long n)
{
	return (sink |= n) + outside(0);
}
/* = middle */
BODY static long below(long n)
{
	return (sink += n * 11) + outside(0);
}
/* = api_middle */
BODY static long middle(long n)
{
	return below(n + 1) + (sink += 2) + outside(0);
}
/* = api_recursion */
BODY static long again(long n)
{
	return n < 2 ? (sink += n) + outside(0) : again(n - 1) + again(n - 2) + sink;
}
/* = none */
BODY static long near_to(long n)
{
	return (sink = n) + outside(0);
}
/* They stand side by side: the assembler makes a jump of two bytes of the call. */
API long api_near(long n)
{
	return near_to(sink += n);
}
API long api_far(long n)
{
	return near_to(n + 3) + near_to(n - 3);
}

API long api_calls(long n)
{
	return only_called(n) + only_called(n + 1) + shared(n);
}
API long api_jumps(long n)
{
	return only_jumped(sink += n);
}
API long api_shares(long n)
{
	return shared(n + 4) - sink;
}
API long api_recursion(long n)
{
	return again(n) + 1;
}
API long api_middle(long n)
{
	return middle(n) + sink;
}

long (*const table_of_it[])(long) = { in_table, 0 };
API long api_table(long n)
{
	return in_table(n) + table_of_it[n & 1](n);
}
API long api_hands(long n)
{
	return outside(handed_out) + handed_out(n) + 2;
}
