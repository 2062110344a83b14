// ---- tree.js: which stacks are kept, and what they are as a tree. ----

function ancestor(parents, node, steps) {
  for (; steps > 0; steps--) node = parents[node];
  return node;
}

// The string of the row of the report at which a stack's memory was allocated.
function rowOfStack(profile, variant, stack) {
  return rowOfStackBy(profile, variant, stack, usualGranularity(profile));
}

function rowOfStackBy(profile, variant, stack, by) {
  if (by === "tag") return profile.tags[stack];
  if (by === "library") return profile.pathName[ancestor(profile.pathParent, variant.owner[stack], variant.ownerinner[stack])];
  const node = ancestor(profile.nodeParent, variant.leaf[stack], by === "site" ? variant.inner[stack] : 0);
  return node ? frameRows(profile, by)[profile.nodeFrame[node]] : 0;
}

// A byte for each stack: 1 where no filter drops it.
function keptStacks(profile, variant, verdictOf) {
  const kept = new Uint8Array(profile.stacks);
  const focus = patternOf(state.focus), ignore = patternOf(state.ignore), verdicts = listOf("verdicts");
  const wanted = focus && nodesBelow(profile, framesLike(profile, focus));
  const unwanted = ignore && nodesBelow(profile, framesLike(profile, ignore));
  for (let i = 0; i < kept.length; i++) {
    const leaf = variant.leaf[i];
    kept[i] = leaf && (!wanted || wanted[leaf]) && !(unwanted && unwanted[leaf]) &&
      (!verdicts.size || verdicts.has(verdictOf(rowOfStack(profile, variant, i)))) ? 1 : 0;
  }
  return kept;
}

// Numbers of pairs, from 1 on in the order in which they come.
class PairTable {
  constructor() {
    this.first = [0];
    this.second = [0];
    this.slots = new Int32Array(1024);
  }

  slotOf(first, second) {
    const mask = this.slots.length - 1;
    let slot = Math.imul(Math.imul(first, 0x9e3779b1) ^ second, 0x85ebca6b) >>> 7 & mask;
    for (let n = this.slots[slot]; n && (this.first[n] !== first || this.second[n] !== second); n = this.slots[slot]) slot = slot + 1 & mask;
    return slot;
  }

  numberOf(first, second) {
    let slot = this.slotOf(first, second);
    if (this.slots[slot]) return this.slots[slot];
    const number = this.first.push(first) - 1;
    this.second.push(second);
    this.slots[slot] = number;
    if (2 * number > this.slots.length) {
      this.slots = new Int32Array(4 * this.slots.length);
      for (let n = 1; n <= number; n++) this.slots[this.slotOf(this.first[n], this.second[n])] = n;
    }
    return number;
  }
}

// By insertion: most nodes have one child, or a few.
function sortFew(items, from, to, compare) {
  for (let i = from + 1; i < to; i++) {
    const item = items[i];
    let k = i;
    for (; k > from && compare(item, items[k - 1]) < 0; k--) items[k] = items[k - 1];
    items[k] = item;
  }
}

// The nodes of trees of the same rows. What one switch needs the next one finds, so only what it adds costs.
class FlameShape {
  // by: which rows nodes have; hidden: owners whose frames are left out; inverted: what was allocated comes first, then who
  // called it.
  constructor(profile, { by, hidden, inverted }) {
    Object.assign(this, { profile, by, hidden, inverted, rows: frameRows(profile, by), pairs: new PairTable(), level: [0], frame: [-1] });
    this.parent = this.pairs.first;
    this.row = this.pairs.second;
    this.row[0] = -1;
    this.place = new Int32Array(profile.nodeParent.length);
  }

  // The node of each stack.
  endsOf(variant, kept) {
    const ends = new Int32Array(kept.length);
    if (!this.inverted) this.addNeeded(variant, kept);
    for (let i = 0; i < kept.length; i++)
      if (kept[i]) ends[i] = this.inverted ? this.endOf(variant, i) : this.place[variant.leaf[i]];
    return ends;
  }

  // Each node of the trie that is needed gets its place in the tree.
  addNeeded(variant, kept) {
    const { profile, place, rows, hidden } = this, parent = profile.nodeParent, needed = new Uint8Array(parent.length);
    for (let i = 0; i < kept.length; i++) if (kept[i]) needed[variant.leaf[i]] = 1;
    for (let n = parent.length - 1; n > 0; n--) if (needed[n]) needed[parent[n]] = 1;
    for (let n = 1; n < parent.length; n++) {
      if (!needed[n] || place[n]) continue;
      const frame = profile.nodeFrame[n], above = place[parent[n]];
      place[n] = hidden[profile.frames.whose[frame]] ? above : this.step(above, rows[frame], frame);
    }
  }

  // From the row of the table outwards: of a line of Ruby what it called is not in sight.
  endOf(variant, stack) {
    const { profile, place, rows, hidden } = this;
    const start = ancestor(profile.nodeParent, variant.leaf[stack], this.by === "site" ? variant.inner[stack] : 0);
    if (!place[start])
      for (let n = start; n; n = profile.nodeParent[n]) {
        const frame = profile.nodeFrame[n];
        if (!hidden[profile.frames.whose[frame]]) place[start] = this.step(place[start], rows[frame], frame);
      }
    return place[start];
  }

  // The node of a row below another; where that only repeats what stands above (up to 16 rows), the one repeated.
  step(above, row, frame) {
    for (let period = 1, node = above; period <= 16 && this.level[above] + 1 >= 2 * period; period++, node = this.parent[node])
      if (this.row[node] === row && this.repeats(above, row, period, node)) return node;
    const node = this.pairs.numberOf(above, row);
    if (node === this.level.length) {
      this.level.push(this.level[above] + 1);
      this.frame.push(frame);
    }
    return node;
  }

  repeats(above, row, period, other) {
    let one = above, inOne = row;
    for (let i = 0; i < period; i++) {
      if (inOne !== this.row[other]) return false;
      inOne = this.row[one];
      one = this.parent[one];
      other = this.parent[other];
    }
    return true;
  }
}

class FlameTree {
  // total: in a difference width is not what changed, but the larger side.
  constructor(shape, variant, kept, counter, total) {
    const { profile } = shape;
    Object.assign(this, { parent: shape.parent, row: shape.row, level: shape.level, frame: shape.frame, ends: shape.endsOf(variant, kept) });
    this.count = this.row.length;
    for (const key of ["before", "now", "width", "samples", "variance", "x"]) this[key] = new Float64Array(this.count);
    this.there = new Uint8Array(this.count);
    this.ages = profile.whole && counter === profile.ownCounter ? profile.ages.map(age => ({ shown: age.shown, of: age.values, sums: new Float64Array(this.count) })) : [];
    this.addValues(profile, kept, counter, total);
    this.layOut(profile.strings);
  }

  // First what each node has itself; then what is below it is added. Children have larger numbers than their parents.
  addValues(profile, kept, counter, total) {
    const values = profile.values(counter), base = profile.base(counter), own = counter === profile.ownCounter;
    const sampled = restsOnSamples(profile, counter);
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      const node = this.ends[i];
      this.there[node] = 1;
      this.before[node] += base[i];
      this.now[node] += base[i] + values[i];
      if (sampled) this.samples[node] += profile.samples[i];
      if (own) this.variance[node] += profile.variance[i];
      for (const age of this.ages) age.sums[node] += age.of[i];
    }
    // What vanished has its place, too.
    for (let n = 0; n < this.count; n++)
      if (this.there[n]) this.width[n] = total ? Math.max(this.before[n], this.now[n], 0) : Math.abs(this.now[n] - this.before[n]);
    // A pass over all nodes costs: there is none for what is 0 everywhere.
    for (const sums of [profile.difference && this.before, this.now, sampled && this.samples, own && this.variance, this.width, ...this.ages.map(age => age.sums)].filter(one => one))
      for (let n = this.count - 1; n > 0; n--) sums[this.parent[n]] += sums[n];
    for (let n = this.count - 1; n > 0; n--) if (this.there[n]) this.there[this.parent[n]] = 1;
  }

  // The children of a node stand together in `order`, the widest first: order[first[n]] ... order[first[n + 1] - 1].
  layOut(strings) {
    const { count, parent, there } = this, first = this.first = new Int32Array(count + 2), order = this.order = new Int32Array(count);
    for (let n = 1; n < count; n++) if (there[n]) first[parent[n] + 2]++;
    for (let n = 2; n < count + 2; n++) first[n] += first[n - 1];
    for (let n = 1; n < count; n++) if (there[n]) order[first[parent[n] + 1]++] = n;
    const before = (a, b) => this.width[b] - this.width[a] || (strings[this.row[a]] < strings[this.row[b]] ? -1 : 1);
    for (let n = 0; n < count; n++) {
      if (first[n + 1] - first[n] > 8) order.subarray(first[n], first[n + 1]).sort(before);
      else sortFew(order, first[n], first[n + 1], before);
    }
    // Level by level, from left to right.
    const all = new Int32Array(count);
    this.levels = [];
    for (let from = 0, to = 1; from < to;) {
      const level = all.subarray(from, to);
      this.levels.push(level);
      from = to;
      for (const node of level) {
        let x = this.x[node];
        for (let i = first[node]; i < first[node + 1]; i++) {
          all[to++] = order[i];
          this.x[order[i]] = x;
          x += this.width[order[i]];
        }
      }
    }
    this.depth = this.levels.length - 1;
  }

  childrenOf(node) {
    return Array.from(this.order.subarray(this.first[node], this.first[node + 1]));
  }

  pathTo(node) {
    const path = [];
    for (; node > 0; node = this.parent[node]) path.unshift(node);
    return path;
  }
}
