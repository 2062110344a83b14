// ---- data.js: the profile in the page. docs/internals/page.md has the format. ----

// Characters that have no shape, or change the order of others, as jprof writes them for people: \xNN of each byte.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;

function visible(text) {
  return text.replace(UNSEEN, c => Array.from(new TextEncoder().encode(c), byte => "\\x" + byte.toString(16).padStart(2, "0")).join(""));
}

// All texts in a value; what begins with a number is numbers, of which there are many.
function visibleIn(value) {
  if (typeof value === "string") return visible(value);
  if (typeof value === "object" && value && typeof value[0] !== "number")
    for (const key of Object.keys(value)) value[key] = visibleIn(value[key]);
  return value;
}

// Reads numbers as varints: seven bits a byte, the lowest first, and the eighth where more follow. Returns where they end.
function readVarints(bytes, at, numbers) {
  for (let i = 0; i < numbers.length; i++) {
    let byte = bytes[at++], value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * unit;
    }
    numbers[i] = value;
  }
  return at;
}

// The columns behind the JSON.
function columnsBehind(bytes) {
  const columns = [], head = new Float64Array(3), doubles = new DataView(bytes.buffer, bytes.byteOffset), SIGNED = 1, DOUBLES = 2, STEPS = 3;
  for (let at = 0; at < bytes.length;) {
    at = readVarints(bytes, at, head);
    const [form, scale, count] = head, column = new Float64Array(count);
    if (form === DOUBLES) for (let i = 0; i < count; i++, at += 8) column[i] = doubles.getFloat64(at, true);
    else at = readVarints(bytes, at, column);
    if (form === SIGNED || form === STEPS)
      for (let i = 0; i < count; i++) column[i] = (column[i] % 2 ? -(column[i] + 1) / 2 : column[i] / 2) + (form === STEPS && i ? column[i - 1] : 0);
    if (scale !== 1) for (let i = 0; i < count; i++) column[i] /= scale;
    columns.push(column);
  }
  return columns;
}

async function readPage() {
  const text = atob(byId("data").textContent), packed = new Uint8Array(text.length);
  for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer()), end = data.indexOf(0);
  const page = visibleIn(JSON.parse(new TextDecoder().decode(data.subarray(0, end))));
  page.columns = columnsBehind(data.subarray(end + 1));
  return page;
}

// Nodes have numbers from 1 on; the page says how far before it the parent of each is.
function parentsOf(steps) {
  const parents = new Int32Array(steps.length + 1);
  for (let i = 1; i < parents.length; i++) parents[i] = i - steps[i - 1];
  return parents;
}

function behindRoot(values) {
  const out = new Int32Array(values.length + 1);
  out.set(values, 1);
  return out;
}

// What the stacks hold at two moments, by the counter of the report: all of it, two snapshots that stand next to each
// other, or one process. key: that of a part of the page.
function partOf(page, key, column) {
  const part = page.parts.find(one => one.key === key);
  return part && { base: column(part.base), now: column(part.now), samples: column(part.samples), variance: column(part.variance) };
}

function addUp(columns) {
  return columns.reduce((sum, column) => sum.map((value, i) => value + column[i]));
}

// From one snapshot of a series to another. The errors of what spans several steps are those of the steps together: an
// upper bound, unless it is all of the series.
function spanOf(page, from, to, last, column) {
  const whole = partOf(page, "", column), step = i => partOf(page, i + "-" + (i + 1), column);
  if (from === 0 && to === last) return whole;
  const at = i => (i === 0 ? whole.base : i === last ? whole.now : step(i).base), steps = [];
  for (let i = from; i < to; i++) steps.push(step(i));
  return { base: at(from), now: at(to), samples: addUp(steps.map(one => one.samples)), variance: addUp(steps.map(one => one.variance)) };
}

// An answer brings the report along.
function makeProfile(page) {
  page.report = page.report || page.answer.report;
  page.verdicts = page.answer ? page.answer.verdicts : [];
  const view = page.report.view, stacks = page.stacks, zeros = new Float64Array(stacks);
  const column = number => page.columns[number] || zeros;
  const difference = page.report.base !== null, snapshots = page.answer && page.answer.diff ? page.answer.diff.snapshots : [];
  return {
    page,
    strings: page.strings,
    frames: Object.fromEntries(Object.entries(page.frames).map(([key, number]) => [key, new Int32Array(page.columns[number])])),
    nodeParent: parentsOf(page.columns[page.nodes.parent]),
    nodeFrame: behindRoot(page.columns[page.nodes.frame]),
    pathParent: parentsOf(page.columns[page.paths.parent]),
    pathName: behindRoot(page.columns[page.paths.name]),
    stacks,
    snapshots,
    // What was subtracted is known of one counter.
    counters: [view.counter, ...(difference ? [] : Object.keys(page.counters).filter(c => page.report.totals[c]))],
    ownCounter: view.counter,
    difference,
    ages: page.ages.map(age => ({ shown: age.shown, values: column(age.column) })),
    tags: page.tag === null ? [] : column(page.tag),
    ruby: page.variants.length > 4,
    // What the stacks are at a level of folding with a part of Ruby; equal ones are there once.
    variant(ruby, fold) {
      const ends = page.variants[(this.ruby ? ruby * 4 : 0) + fold];
      return Object.fromEntries(Object.entries(ends).map(([key, number]) => [key, column(number)]));
    },
    // Which snapshots, as numbers, and which process, by the key of its part or "".
    choose(from, to, process) {
      const last = Math.max(snapshots.length - 1, 0);
      this.whole = !process && (!snapshots.length || (from === 0 && to === last));
      const chosen = process ? partOf(page, process, column) : this.whole ? partOf(page, "", column) : spanOf(page, from, to, last, column);
      this.samples = chosen.samples;
      this.variance = chosen.variance;
      this.ownBase = chosen.base;
      this.ownValues = chosen.now.map((now, i) => now - chosen.base[i]);
    },
    values(counter) {
      return counter === this.ownCounter ? this.ownValues : column(page.counters[counter]);
    },
    base(counter) {
      return counter === this.ownCounter ? this.ownBase : zeros;
    },
    // What they hold at a snapshot.
    at(snapshot) {
      const last = snapshots.length - 1;
      return snapshot === last ? partOf(page, "", column).now : spanOf(page, snapshot, snapshot + 1, last, column).base;
    },
  };
}

// Samples are those of memory in use, or of all that was allocated.
function restsOnSamples(profile, counter) {
  return counter.split("_")[0] === profile.ownCounter.split("_")[0];
}

function countsBytes(counter) {
  return counter.endsWith("_space");
}

const COUNTER_WORDS = {
  inuse_space: "bytes in use", inuse_objects: "objects in use",
  alloc_space: "bytes allocated", alloc_objects: "objects allocated",
};

// What a frame is searched by: a line for each.
function frameText(profile, frame) {
  const f = profile.frames, s = profile.strings;
  const place = f.file[frame] ? s[f.file[frame]] + (f.line[frame] ? ":" + f.line[frame] : "") : "";
  return [s[f.name[frame]], s[f.site[frame]], s[f.linerow[frame]], place, s[f.object[frame]]].join("\n");
}

// Which frames a pattern finds.
function framesLike(profile, pattern) {
  const found = new Uint8Array(profile.frames.name.length);
  for (let i = 0; i < found.length; i++) found[i] = pattern.test(frameText(profile, i)) ? 1 : 0;
  return found;
}

// Which nodes have such a frame, or lie below one.
function nodesBelow(profile, frames) {
  const found = new Uint8Array(profile.nodeParent.length);
  for (let n = 1; n < found.length; n++)
    found[n] = frames[profile.nodeFrame[n]] | found[profile.nodeParent[n]];
  return found;
}
