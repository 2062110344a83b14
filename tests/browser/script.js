// The functions of the page's script, by themselves: no page, no picture. script.py runs this with the scripts of html/ before it.

const failed = [];
let checks = 0;

function same(what, found, wanted) {
  checks++;
  if (JSON.stringify(found) !== JSON.stringify(wanted)) failed.push(what + ": " + JSON.stringify(found) + ", not " + JSON.stringify(wanted));
}

// ---- text.js ----

same("a note of each process is said once", oneOfEach(["17: takes 1.5 MB, by 3 samples", "a note", "21: takes 20.1 MB, by 1,044 samples", "45: is cut"]),
  ["17: takes 1.5 MB, by 3 samples (likewise of 21)", "a note", "45: is cut"]);
same("a unit", [0, 9999, 10000, 10239999, 99e9].map(n => measureFor(n, true).name), ["B", "B", "KB", "KB", "GB"]);
same("the unit of a loss", measureFor(-50 * 1048576, true).name, "MB");
same("objects have no unit", measureFor(1e12, false), { name: "objects", size: 1 });
same("an amount", [amount(1572864, measureFor(5e8, true)), amount(-10, measureFor(5e8, true)), amount(NaN, measureFor(1, true)), amount(1234567, measureFor(1, false))],
  ["1.5", "0.0", "?", "1,234,567"]);
same("a change", [change(1, measureFor(1, true)), change(-1, measureFor(1, true)), change(0, measureFor(1, true))], ["+1", "-1", "0"]);
same("a share", [percent(1, 3), percent(1, 0)], ["33.3 %", ""]);
same("a text as a pattern", ["a.b", "f(x)", "[1]", "a|b", "c:\\d", "$^*+?{}"].map(text => new RegExp("^" + literally(text) + "$").test(text)), Array(6).fill(true));
same("what is no pattern yet", [patternOf("(").test("f(x)"), patternOf("[a").test("x[a"), patternOf("")], [true, true, null]);
same("upper and lower case", [patternOf("Main").test("main"), patternOf("Main", true).test("main")], [false, true]);
same("a pattern for each line of a frame", patternOf("^b$").test("a\nb\nc"), true);

// ---- data.js ----

same("characters that steer text", visible("a\u202eb\u2028\u0007"), "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8\\x07");
same("letters stay", visible("\u00e9\u4e2d x"), "\u00e9\u4e2d x");
same("parents", [...parentsOf([1, 1, 2])], [0, 0, 1, 1]);
// The bytes are those that tests/unit/test_pagecolumns.c wants to be written.
const BYTES = [0, 1, 3, 5, 0x80, 1, 0xff, 0xff, 3, 1, 100, 3, 3, 0xc8, 1, 0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0xb0, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0x40, 3, 1, 4, 10, 2, 1, 0, 0, 1, 0];
same("columns", columnsBehind(Uint8Array.from([7, ...BYTES]).subarray(1)).map(column => [...column]),
  [[5, 128, 65535], [-0.02, 1, 0], [-(2 ** 60), 2], [5, 6, 5, 5], []]);

// main calls a, which calls b, which calls a again; columns: what three snapshots hold in three stacks.
const PAGE = {
  strings: ["", "main", "a", "b", "x.rb", "libx", "route /"],
  nodes: { parent: 11, frame: 12 },
  paths: { parent: 13, name: 14 },
  frames: { name: 10, site: 10, linerow: 10, file: 15, line: 16, object: 17, whose: 18 },
  stacks: 3,
  columns: [[2, 3, 4], [1, 1, 1], [40, 60, 0], [100, 50, 8], [70, 70, 4], [4, 9, 1], [1, 1, 1], [16, 25, 4], [6, 6, 0], [5, 2, 1], [1, 2, 3],
    [1, 1, 1, 1], [0, 1, 2, 1], [1], [5], [4, 4, 4], [10, 20, 30], [5, 5, 5], [0, 0, 1]],
  variants: [{ leaf: 0, inner: null, owner: 1, ownerinner: null }, { leaf: 0, inner: null, owner: 1, ownerinner: null },
    { leaf: 0, inner: null, owner: 1, ownerinner: null }, { leaf: 0, inner: null, owner: 1, ownerinner: null }],
  counters: { inuse_objects: 9 },
  parts: [{ key: "", base: 2, now: 3, samples: 5, variance: 7 }, { key: "0-1", base: 2, now: 4, samples: 6, variance: 6 },
    { key: "1-2", base: 4, now: 3, samples: 6, variance: 7 }, { key: "@w0", base: null, now: 10, samples: 6, variance: null }],
  ages: [{ shown: "last hour", column: 8 }],
  tag: null,
  whose: [["application", "application"], ["gem", "gems"]],
  source: [],
  sizes: { inuse: { stack: [0, 0], limit: [8, 32], bytes: [16, 44], objects: [2, 3] }, alloc: { stack: [], limit: [], bytes: [], objects: [] } },
  report: { base: "first", view: { counter: "inuse_space", granularity: "function" }, totals: { inuse_objects: 8 } },
  answer: { verdicts: [], diff: { snapshots: ["x/first", "x/middle", "x/last"] } },
};
const all = makeProfile(structuredClone(PAGE));
const numbers = p => [[...p.base("inuse_space")], [...p.values("inuse_space")], [...p.samples], [...p.variance], p.whole];
all.choose(0, 2, "");
same("the whole series", numbers(all), [[40, 60, 0], [60, -10, 8], [4, 9, 1], [16, 25, 4], true]);
all.choose(0, 1, "");
same("a step", numbers(all), [[40, 60, 0], [30, 10, 4], [1, 1, 1], [1, 1, 1], false]);
all.choose(1, 2, "");
same("the last step", numbers(all), [[70, 70, 4], [30, -20, 4], [1, 1, 1], [16, 25, 4], false]);
all.choose(0, 2, "@w0");
same("a process", numbers(all), [[0, 0, 0], [1, 2, 3], [1, 1, 1], [0, 0, 0], false]);
same("each snapshot", [0, 1, 2].map(k => [...all.at(k)]), [[40, 60, 0], [70, 70, 4], [100, 50, 8]]);
const four = structuredClone(PAGE);
four.answer.diff.snapshots.push("x/later");
four.parts.push({ key: "2-3", base: 3, now: 3, samples: 6, variance: 6 });
const longer = makeProfile(four);
longer.choose(0, 2, "");
same("what spans two steps of three has the errors of both", [[...longer.variance], [...longer.samples]], [[17, 26, 5], [2, 2, 2]]);
same("a difference has one counter", all.counters, ["inuse_space"]);
all.choose(0, 2, "");

// ---- state.js ----

same("lists", [[...listOf("verdicts")], (toggleIn("verdicts", "growing"), toggleIn("verdicts", "shrank"), state.verdicts),
  (toggleIn("verdicts", "growing"), state.verdicts)], [[], "growing,shrank", "shrank"]);
state.verdicts = "";

// ---- tree.js ----

const variant = all.variant(0, 2), kept = keptStacks(all, variant, () => "");
same("nothing is filtered", [...kept], [1, 1, 1]);
Object.assign(state, { focus: "^b$" });
same("focus", [...keptStacks(all, variant, () => "")], [0, 1, 1]);
Object.assign(state, { focus: "", ignore: "^b$" });
same("ignore", [...keptStacks(all, variant, () => "")], [1, 0, 0]);
Object.assign(state, { ignore: "", verdicts: "growing" });
same("verdicts", [...keptStacks(all, variant, string => (PAGE.strings[string] === "b" ? "growing" : ""))], [0, 1, 0]);
state.verdicts = "";
const shapeOf = look => new FlameShape(all, { by: "function", hidden: [false, false], inverted: false, ...look });
const shape = shapeOf(), tree = new FlameTree(shape, variant, kept, "inuse_space", true);
same("recursion goes back to what it repeats", tree.row.map(row => (row < 0 ? "all" : PAGE.strings[row])), ["all", "main", "a", "b", "a"]);
same("a box has all below it", [[...tree.before], [...tree.now]], [[100, 100, 100, 60, 0], [158, 158, 158, 58, 8]]);
same("the larger side is the width", [...tree.width], [168, 168, 168, 68, 8]);
same("ages of all below", [...tree.ages[0].sums], [12, 12, 12, 6, 0]);
const changed = new FlameTree(shape, variant, Uint8Array.of(1, 1, 0), "inuse_space", false);
same("what changed is the width, up or down", [...changed.width], [70, 70, 70, 10, 0]);
same("what another switch needed is not there", [changed.childrenOf(2), changed.childrenOf(3), changed.depth], [[3], [], 3]);
const leaves = new FlameTree(shapeOf({ inverted: true }), variant, kept, "inuse_space", false);
same("inverted, rows of the table are outermost", leaves.childrenOf(0).map(n => [PAGE.strings[leaves.row[n]], leaves.now[n] - leaves.before[n]]), [["a", 68], ["b", -10]]);
same("inverted, callers lie below", leaves.pathTo(leaves.ends[1]).map(n => PAGE.strings[leaves.row[n]]), ["b", "a", "main"]);
const pairs = new PairTable(), asked = Array.from({ length: 5000 }, (none, i) => pairs.numberOf(i % 70, i % 71));
same("pairs", [asked.slice(0, 4), pairs.numberOf(3, 3), new Set(asked).size], [[1, 2, 3, 4], 4, 4970]);
const few = [3, 1, 2, 9];
sortFew(few, 0, 3, (a, b) => a - b);
same("a few are sorted", few, [1, 2, 3, 9]);
same("texts in a page", visibleIn({ a: ["\u202e", [1, 2]], b: null }), { a: ["\\xe2\\x80\\xae", [1, 2]], b: null });
const hidden = new FlameTree(shapeOf({ hidden: [false, true] }), variant, kept, "inuse_space", true);
same("hidden frames leave what they call", hidden.row.map(row => (row < 0 ? "all" : PAGE.strings[row])), ["all", "main", "a"]);

// ---- table.js ----

const rows = tableRows(all, variant, kept, "inuse_space", "function").map(row => [row.name, row.flat, row.before, row.cum, row.samples]);
same("rows count recursion once", rows, [["a", 68, 40, 58, 5], ["b", -10, 60, -2, 9]]);
same("rows by library", tableRows(all, variant, kept, "inuse_space", "library").map(row => [row.name, row.flat]), [["libx", 58]]);

// ---- calls.js ----

const calls = new CallSums(all, variant, kept, "inuse_space", "function", 2);
const words = map => [...map.entries()].map(([id, value]) => [PAGE.strings[id], value]).sort();
same("callers of a", words(calls.callers), [["b", 8], ["main", 58]]);
same("callees of a", words(calls.callees), [["b", -2]]);
same("a itself and with calls", [calls.itself, calls.all], [68, 58]);
same("paths", [...calls.paths.values()].map(path => path.value), [60, -10, 8]);

// ---- sources.js ----

const lines = lineSums(all, variant, kept, "inuse_space");
same("source lines", [...lines.entries()], [["4:20", { itself: 68, all: 58 }], ["4:10", { itself: 0, all: 58 }], ["4:30", { itself: -10, all: -2 }]]);

// ---- sizes.js ----

same("size classes are jemalloc's", [1, 8, 9, 16, 17, 120, 128, 129, 161, 1024, 1025, 5000, 14336, 16385].map(sizeClass),
  [8, 8, 16, 16, 32, 128, 128, 128, 160, 1024, 1024, 5120, 14336, 16384]);
same("sizes in words", [sizeWords(8), sizeWords(1536), sizeWords(5 * 2 ** 20), sizeWords(0)], ["8 B", "1.5 KB", "5 MB", "no one size"]);
same("sums by size", sizeSums(all, kept, variant, "inuse_space"), [{ limit: 8, bytes: 24, objects: 3 }, { limit: 32, bytes: 44, objects: 3 }, { limit: 0, bytes: -10, objects: 2 }]);

// ---- overtime.js ----

same("durations", [90, 119, 120, 7200, 200000].map(duration), ["90 s", "120 s", "2 min", "2 h", "2.3 d"]);
same("steps of an axis", [3, 10, 25, 590, 1].map(stepOf), [1, 2, 5, 100, 0.2]);
same("moments", momentsOf({ malloc: { steps: [{ seconds: 60 }, { seconds: 30 }] } }), { moments: [0, 60, 90], timed: true });
same("no times", momentsOf({ malloc: { steps: [{ seconds: null }, { seconds: 30 }] } }), { moments: [0, 1, 2], timed: false });

failed.map(text => "FAIL: " + text).concat(checks + " checks").join("\n");
