"""A symbolized dump with as many stacks and functions as are asked for, by seed."""
import random


def generated(path, stacks, functions, seed):
    shape, counts = random.Random(7), random.Random(seed)
    with open(path, "w", encoding="ascii") as out:
        out.write("--- symbol\nbinary=/opt/app\n")
        out.writelines(f"0x{0x400000 + 16 * i:x} ns::Class{i % 997}::method_{i}\n" for i in range(functions))
        out.write("0x10 malloc\n---\n--- heap\nheap_v2/524288\n  t*: 1: 1 [0: 0]\n")
        for _ in range(stacks):
            path, key = [], 0
            for depth in range(shape.randint(15, 30)):
                key = (key * 31 + shape.randrange(1 if depth < 3 else 2 if shape.random() < 0.5 else 6) + 1) % (1 << 40)
                path.append(0x400001 + 16 * ((key * 2654435761 + depth) % functions))
            size, count = shape.choice([64, 192, 1024, 16384, 262144]), counts.randint(1, 40)
            out.write("@ 0x10 " + " ".join(f"0x{a:x}" for a in reversed(path)) + f"\n  t*: {count}: {count * size} [0: 0]\n")
