// ---- tree.js: which stacks are kept, and what they are as a tree. ----

// The string of the row at which a stack's memory was allocated.
function siteOf(profile, variant, stack) {
  let node = variant.leaf[stack];
  for (let i = variant.inner[stack]; i > 0; i--) node = profile.nodeParent[node];
  return node ? profile.frames.site[profile.nodeFrame[node]] : 0;
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
      (!verdicts.size || verdicts.has(verdictOf(siteOf(profile, variant, i)))) ? 1 : 0;
  }
  return kept;
}

class FlameTree {
  // rows: the string of the row of each frame. hidden: owners whose frames are left out.
  constructor(profile, variant, kept, counter, rows, hidden) {
    this.row = [-1];
    this.parent = [0];
    this.level = [0];
    this.frame = [-1];
    this.children = new Map();
    this.rowCount = profile.strings.length;
    this.place = this.makeNodes(profile, variant, kept, rows, hidden);
    const count = this.row.length;
    for (const key of ["before", "now", "width", "samples", "variance", "x"]) this[key] = new Float64Array(count);
    this.addValues(profile, variant, kept, counter);
    this.layOut(profile.strings);
    this.depth = this.level.reduce((a, b) => Math.max(a, b), 0);
  }

  // Of each node of the trie that is needed its place in the tree.
  makeNodes(profile, variant, kept, rows, hidden) {
    const parent = profile.nodeParent, needed = new Uint8Array(parent.length), place = new Int32Array(parent.length);
    for (let i = 0; i < kept.length; i++) if (kept[i]) needed[variant.leaf[i]] = 1;
    for (let n = parent.length - 1; n > 0; n--) if (needed[n]) needed[parent[n]] = 1;
    for (let n = 1; n < parent.length; n++) {
      if (!needed[n]) continue;
      const frame = profile.nodeFrame[n], above = place[parent[n]];
      place[n] = hidden[profile.frames.whose[frame]] ? above : this.step(above, rows[frame], frame);
    }
    return place;
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
  addValues(profile, variant, kept, counter) {
    const values = profile.values(counter), base = profile.base(counter), own = counter === profile.ownCounter;
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      const node = this.place[variant.leaf[i]];
      this.before[node] += base[i];
      this.now[node] += base[i] + values[i];
      this.samples[node] += profile.samples[i];
      if (own) this.variance[node] += profile.variance[i];
    }
    // As wide as the larger side, so that what vanished has its place.
    for (let n = 0; n < this.row.length; n++) this.width[n] = Math.max(this.before[n], this.now[n], 0);
    for (let n = this.row.length - 1; n > 0; n--)
      for (const sums of [this.before, this.now, this.samples, this.variance, this.width]) sums[this.parent[n]] += sums[n];
  }

  // The widest of a parent's come first.
  layOut(strings) {
    const order = Array.from(this.row.keys()).slice(1);
    order.sort((a, b) => this.parent[a] - this.parent[b] || this.width[b] - this.width[a] ||
      (strings[this.row[a]] < strings[this.row[b]] ? -1 : 1));
    let last = -1, x = 0;
    this.order = order;
    for (const node of order) {
      if (this.parent[node] !== last) x = this.x[last = this.parent[node]];
      this.x[node] = x;
      x += this.width[node];
    }
  }

  childrenOf(node) {
    return this.order.filter(child => this.parent[child] === node);
  }

  pathTo(node) {
    const path = [];
    for (; node > 0; node = this.parent[node]) path.unshift(node);
    return path;
  }
}
