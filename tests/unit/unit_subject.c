/* A library whose functions test_symtab and test_ehframe look up. readelf says where they are. */
static int count;

__attribute__((noinline)) static int subject_static(int x)
{
	return count += x;
}

__attribute__((noinline, cold)) static int subject_cold(int x)
{
	return count -= x;
}

int subject_exported(int x)
{
	return x > 5 ? subject_static(x) * 3 : subject_cold(x);
}

__attribute__((weak)) int subject_weak(int x)
{
	return subject_static(x + 1);
}

/* What compilers do not write and assemblers do: symbols without a size, one inside another,
 * several at one place. No unwind information describes them. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl bare, bare_next, outer, inner, twin, __twin\n"
        ".type bare, %function\n"
        "bare: .skip 8\n"
        "bare_next: .skip 8\n"
        ".type outer, %function\n"
        ".type inner, %function\n"
        "outer: .skip 8\n"
        "inner: .skip 8\n"
        ".size inner, 8\n"
        ".skip 8\n"
        ".size outer, 24\n"
        ".type twin, %function\n"
        ".type __twin, %function\n"
        ".type local_twin, %function\n"
        "local_twin:\n"
        "__twin:\n"
        "twin: .skip 8\n"
        ".size twin, 8\n"
        ".size __twin, 8\n"
        ".size local_twin, 8\n"
        ".skip 8\n"
        ".section tailcode, \"ax\"\n"
        ".globl tail\n"
        ".type tail, %function\n"
        "tail: .skip 12\n"
        ".data\n"
        ".globl subject_data\n"
        ".type subject_data, %object\n"
        "subject_data: .skip 64\n"
        ".size subject_data, 64\n"
        ".text\n");
