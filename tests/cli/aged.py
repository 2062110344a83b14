"""Makes three dumps of one Ruby process with their tables (docs/internals/ruby-table.md), after 4, 8 and 12 hours: early.heap, middle.heap, late.heap.

Five lines of Ruby, whose truth is: a leak of 5 samples in each ten minutes, for two routes and without a tag; a cache that is full
after five hours; a queue with a limit; what is there since the start; what came in one moment after 6 h 40 min. A sixth line begins to
leak an hour before the end. In the one between, the leaking line has 300 old samples more, which are freed until the last.
In started.early.heap and started.late.heap the leaking line has 100 samples from the startup, too.
"""
import json

START, TAGS, EPOCHS, END = 0x7e0000000000, 0x40000, 0x40400, 0x240400
BEGIN, EPOCH_SECONDS = 1_700_000_000, 600
FILES = ["/srv/shop/app/services/price_list.rb", "/srv/shop/lib/cache.rb", "/srv/shop/lib/queue.rb", "/srv/shop/config/boot.rb",
         "/srv/shop/lib/import.rb", "/srv/shop/lib/audit.rb", "/srv/shop/app/controllers/products_controller.rb"]
METHODS = [("PriceList", "load", 42), ("Cache", "fill", 7), ("Queue", "push", 9), ("Boot", "load", 3), ("Shop::Import::Nightly::Run", "run", 31),
           ("Audit", "note", 5), ("ProductsController", "show", 18)]


def samples(last, started):
    """(node, tag, epoch) -> sampled objects, in a dump at the end of epoch `last`; the leaking line has `started` from the startup."""
    live = {(1, 0, 1): started} if started else {}
    for e in range(2, last + 1):
        for tag, n in ((1, 3), (2, 1), (0, 1)):
            live[1, tag, e] = n
        if e <= 30:
            live[2, 0, e] = 5
        if e > last - 8:
            live[3, 0, e] = 25
        if last == 48 and e == 20:
            live[1, 0, e] += 300
        if e == 40:
            live[5, 0, e] = 200
        if e > 66:
            live[6, 0, e] = 10
    live[4, 0, 1] = 300
    return live


def dump(live):
    text = "heap_v2/131072\n  t*: %d: %d [0: 0]\n" % (sum(live.values()), 1000 * sum(live.values()))
    for (node, tag, epoch), n in sorted(live.items()):
        numbers = [node] + ([TAGS + tag] if tag else []) + [EPOCHS + epoch]
        text += "@ 0x401000 " + " ".join("%#x" % (START + 2 * number + 1) for number in numbers)
        text += "\n  t*: %d: %d [0: 0]\n" % (n, 1000 * n)
    return text + ("\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42 /usr/lib/libruby-3.3.so.3.3\n"
                   "%x-%x ---s 00000000 00:01 9 /memfd:jprof-ids:1 (deleted)\n" % (START, START + 2 * END))


def table(text, last):
    check = 0xcbf29ce484222325
    for byte in text.encode():
        check = (check ^ byte) * 0x100000001b3 % 2**64
    lines = ["jprof-table 1", "process 17 5 b", "dump %d %x" % (len(text), check),
             "ids %x 0 %x %x %x" % (START, TAGS, EPOCHS, END), "directory /srv/shop", "ruby 3.3.8 on",
             "time %d.000" % (BEGIN + last * EPOCH_SECONDS), "start %d.000 1 0" % BEGIN, "bounds %d %d" % (last, last + 1)]
    lines += ["e %d %d.000 %d.000" % (e, BEGIN + (e - 1) * EPOCH_SECONDS, BEGIN + e * EPOCH_SECONDS) for e in range(1, last + 1)]
    lines += ["t 1 route GET /products/:id", "t 2 job PriceSyncJob"]
    strings = FILES + [name for cls, method, _ in METHODS for name in (cls, method)]
    lines += ["s %d %s" % (i + 1, s) for i, s in enumerate(strings)]
    for node in (7, 1, 2, 3, 4, 5, 6):  # the controller calls the price list
        at = len(FILES) + 2 * node - 1
        lines.append("n %d %d %d %d %d # %d" % (node, 7 if node == 1 else 0, node, METHODS[node - 1][2], at, at + 1))
    return "\n".join(lines + ["end 7", ""])


for name, last, started in (("early", 24, 0), ("middle", 48, 0), ("late", 72, 0), ("started.early", 24, 100), ("started.late", 72, 100)):
    text = dump(samples(last, started))
    with open(name + ".heap", "w", encoding="ascii") as file:
        file.write(text)
    with open(name + ".heap.ruby", "w", encoding="ascii") as file:
        file.write(table(text, last))
    with open(name + ".heap.json", "w", encoding="ascii") as file:
        json.dump({"jprof_agent": 1, "dump": name + ".heap", "pid": 17, "start_ticks": 5, "boot_id": "b", "program": "/usr/bin/ruby",
                   "time": BEGIN + last * EPOCH_SECONDS, "ruby": {"version": "3.3.8"}}, file)
