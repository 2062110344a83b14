// ---- data.js: the profile in the page. docs/html.md has the format. ----

// Characters that have no shape, or change the order of others, as jprof writes them for people: \xNN of each byte.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu;

function visible(text) {
  return text.replace(UNSEEN, c => Array.from(new TextEncoder().encode(c), byte => "\\x" + byte.toString(16).padStart(2, "0")).join(""));
}

async function readPage() {
  const packed = Uint8Array.from(atob(byId("data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text(), (key, value) => (typeof value === "string" ? visible(value) : value));
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

// An answer brings the report along.
function makeProfile(page) {
  page.report = page.report || page.answer.report;
  page.verdicts = page.answer ? page.answer.verdicts : [];
  const view = page.report.view;
  const stacks = page.values[view.counter] ? page.values[view.counter].length : 0;
  const zeros = new Float64Array(stacks);
  return {
    page,
    strings: page.strings,
    frames: page.frames,
    nodeParent: parentsOf(page.nodes.parent),
    nodeFrame: behindRoot(page.nodes.frame),
    pathParent: parentsOf(page.paths.parent),
    pathName: behindRoot(page.paths.name),
    stacks,
    // What was subtracted is known of one counter.
    counters: page.base.length ? [view.counter] : Object.keys(page.values).filter(c => c === view.counter || page.report.totals[c]),
    ownCounter: view.counter,
    difference: page.base.length > 0,
    values: counter => page.values[counter] || zeros,
    base: counter => (counter === view.counter && page.base.length ? page.base : zeros),
    samples: page.samples.length ? page.samples : zeros,
    variance: page.variance.length ? page.variance : zeros,
    tags: page.tag,
    ruby: page.variants.length > 4,
    // What the stacks are at a level of folding with a part of Ruby; equal ones are there once.
    variant(ruby, fold) {
      const found = page.variants[(this.ruby ? ruby * 4 : 0) + fold];
      return typeof found === "number" ? page.variants[found] : found;
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
  return [s[f.name[frame]], s[f.site[frame]], s[f.linerow[frame]], place, s[profile.page.objects[f.object[frame]]]].join("\n");
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
