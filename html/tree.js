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

class FlameTree {
  // look: by: which rows boxes have; hidden: owners whose frames are left out; inverted: what was allocated comes first, then
  // who called it; total: in a difference width is not what changed, but the larger side.
  constructor(profile, variant, kept, counter, look) {
    const rows = frameRows(profile, look.by);
    this.row = [-1];
    this.parent = [0];
    this.level = [0];
    this.frame = [-1];
    this.children = new Map();
    this.rowCount = profile.strings.length;
    this.ends = look.inverted ? this.invert(profile, variant, kept, rows, look) : this.makeNodes(profile, variant, kept, rows, look.hidden);
    const count = this.row.length;
    for (const key of ["before", "now", "width", "samples", "variance", "x"]) this[key] = new Float64Array(count);
    this.ages = profile.whole && counter === profile.ownCounter ? profile.ages.map(age => ({ shown: age.shown, of: age.values, sums: new Float64Array(count) })) : [];
    this.addValues(profile, kept, counter, look.total);
    this.layOut(profile.strings);
  }

  // The node of each stack: each node of the trie that is needed gets its place in the tree.
  makeNodes(profile, variant, kept, rows, hidden) {
    const parent = profile.nodeParent, needed = new Uint8Array(parent.length), place = new Int32Array(parent.length);
    for (let i = 0; i < kept.length; i++) if (kept[i]) needed[variant.leaf[i]] = 1;
    for (let n = parent.length - 1; n > 0; n--) if (needed[n]) needed[parent[n]] = 1;
    for (let n = 1; n < parent.length; n++) {
      if (!needed[n]) continue;
      const frame = profile.nodeFrame[n], above = place[parent[n]];
      place[n] = hidden[profile.frames.whose[frame]] ? above : this.step(above, rows[frame], frame);
    }
    return Int32Array.from(kept, (one, i) => (one ? place[variant.leaf[i]] : 0));
  }

  // Likewise from the row of the table outwards: of a line of Ruby what it called is not in sight.
  invert(profile, variant, kept, rows, { by, hidden }) {
    const ends = new Int32Array(kept.length), places = new Map();
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      const start = ancestor(profile.nodeParent, variant.leaf[i], by === "site" ? variant.inner[i] : 0);
      let place = places.get(start);
      if (place === undefined) {
        place = 0;
        for (let n = start; n; n = profile.nodeParent[n]) {
          const frame = profile.nodeFrame[n];
          if (!hidden[profile.frames.whose[frame]]) place = this.step(place, rows[frame], frame);
        }
        places.set(start, place);
      }
      ends[i] = place;
    }
    return ends;
  }

  // The node of a row below another; where that only repeats what stands above (up to 16 rows), the one repeated.
  step(above, row, frame) {
    for (let period = 1; period <= 16 && this.level[above] + 1 >= 2 * period; period++)
      if (this.repeats(above, row, period)) {
        let node = above;
        for (let i = 1; i < period; i++) node = this.parent[node];
        return node;
      }
    const key = above * this.rowCount + row;
    let node = this.children.get(key);
    if (node === undefined) {
      node = this.row.length;
      this.children.set(key, node);
      this.row.push(row);
      this.parent.push(above);
      this.level.push(this.level[above] + 1);
      this.frame.push(frame);
    }
    return node;
  }

  repeats(above, row, period) {
    let one = above, other = above, inOne = row;
    for (let i = 1; i < period; i++) other = this.parent[other];
    for (let i = 0; i < period; i++) {
      if (inOne !== this.row[other]) return false;
      inOne = this.row[one];
      one = this.parent[one];
      other = this.parent[other];
    }
    return true;
  }

  // First what each node has itself; then what is below it is added. Children have larger numbers than their parents.
  addValues(profile, kept, counter, total) {
    const values = profile.values(counter), base = profile.base(counter), own = counter === profile.ownCounter;
    const sampled = restsOnSamples(profile, counter);
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      const node = this.ends[i];
      this.before[node] += base[i];
      this.now[node] += base[i] + values[i];
      if (sampled) this.samples[node] += profile.samples[i];
      if (own) this.variance[node] += profile.variance[i];
      for (const age of this.ages) age.sums[node] += age.of[i];
    }
    // What vanished has its place, too.
    for (let n = 0; n < this.row.length; n++)
      this.width[n] = total ? Math.max(this.before[n], this.now[n], 0) : Math.abs(this.now[n] - this.before[n]);
    for (let n = this.row.length - 1; n > 0; n--)
      for (const sums of [this.before, this.now, this.samples, this.variance, this.width, ...this.ages.map(age => age.sums)]) sums[this.parent[n]] += sums[n];
  }

  // The children of a node stand together in `order`, the widest first: order[first[n]] ... order[first[n + 1] - 1].
  layOut(strings) {
    const count = this.row.length, first = this.first = new Int32Array(count + 2), order = this.order = new Int32Array(count);
    for (let n = 1; n < count; n++) first[this.parent[n] + 2]++;
    for (let n = 2; n < count + 2; n++) first[n] += first[n - 1];
    for (let n = 1; n < count; n++) order[first[this.parent[n] + 1]++] = n;
    for (let n = 0; n < count; n++) {
      if (first[n + 1] - first[n] > 1) order.subarray(first[n], first[n + 1]).sort((a, b) =>
        this.width[b] - this.width[a] || (strings[this.row[a]] < strings[this.row[b]] ? -1 : 1));
    }
    this.levels = [[0]];
    for (let level = this.levels[0]; level.length; this.levels.push(level)) level = this.below(level);
    this.levels.pop();
    this.depth = this.levels.length - 1;
  }

  // The next level, from left to right.
  below(level) {
    const next = [];
    for (const node of level) {
      let x = this.x[node];
      for (let i = this.first[node]; i < this.first[node + 1]; i++) {
        next.push(this.order[i]);
        this.x[this.order[i]] = x;
        x += this.width[this.order[i]];
      }
    }
    return next;
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
