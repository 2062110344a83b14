// ---- table.js: rows, added up from the stacks that are kept. ----

const BY_WORDS = { site: "line of Ruby", function: "function", line: "source line", library: "library or gem", tag: "tag" };
const SIGNS = {
  leak_suspect: "!", growing: "+", levelled_off: "-", turnover: "o", up_and_down: "%", one_jump: "^", startup: "=",
  maybe_garbage: "~", within_error: ".", minor_change: ".", few_samples: "?", unknown: "?", shrank: "v",
};

// Which rows there may be of this profile: those of the report, too.
function granularities(profile) {
  const usual = profile.ruby ? ["site", "function"] : ["function", "line"], asked = profile.page.report.view.granularity;
  const all = [...usual, "library", ...(profile.tags.length ? ["tag"] : [])];
  return all.includes(asked) || !BY_WORDS[asked] ? all : [...all, asked];
}

// The rows of the report; where the page has no such rows, its first ones.
function usualGranularity(profile) {
  const all = granularities(profile), asked = profile.page.report.view.granularity;
  return all.includes(asked) ? asked : all[0];
}

function frameRows(profile, by) {
  return { site: profile.frames.site, line: profile.frames.linerow }[by] || profile.frames.name;
}

class RowSums {
  constructor(profile, counter) {
    this.profile = profile;
    this.values = profile.values(counter);
    this.base = profile.base(counter);
    this.own = counter === profile.ownCounter;
    this.sampled = restsOnSamples(profile, counter);
    this.rows = []; // by the number of its name
  }

  row(name, frame) {
    let row = this.rows[name];
    if (!row) {
      row = { id: name, name: this.profile.strings[name], flat: 0, cum: 0, before: 0, samples: 0, variance: 0, frame, seen: -1 };
      this.rows[name] = row;
    }
    return row;
  }

  addFlat(row, stack) {
    row.flat += this.values[stack];
    row.before += this.base[stack];
    if (this.sampled) row.samples += this.profile.samples[stack];
    if (this.own) row.variance += this.profile.variance[stack];
  }

  // However often recursion passes through a row, a stack counts once.
  addCum(row, stack) {
    if (row.seen !== stack) row.cum += this.values[stack];
    row.seen = stack;
  }

  addFrames(variant, kept, by) {
    const p = this.profile, names = frameRows(p, by);
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      let inside = by === "site" ? variant.inner[i] : 0;
      for (let node = variant.leaf[i]; node; node = p.nodeParent[node], inside--) {
        const frame = p.nodeFrame[node], row = this.row(names[frame], frame);
        if (inside === 0) this.addFlat(row, i);
        this.addCum(row, i);
      }
    }
  }

  addPaths(variant, kept) {
    const p = this.profile;
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      let inside = variant.ownerinner[i];
      for (let node = variant.owner[i]; node; node = p.pathParent[node], inside--) {
        const row = this.row(p.pathName[node], -1);
        if (inside === 0) this.addFlat(row, i);
        this.addCum(row, i);
      }
    }
  }

  addTags(kept) {
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i]) continue;
      const row = this.row(this.profile.tags[i], -1);
      this.addFlat(row, i);
      this.addCum(row, i);
    }
  }
}

function tableRows(profile, variant, kept, counter, by) {
  const sums = new RowSums(profile, counter);
  if (by === "library") sums.addPaths(variant, kept);
  else if (by === "tag") sums.addTags(kept);
  else sums.addFrames(variant, kept, by);
  return sums.rows.filter(row => Math.abs(row.flat) >= 0.5 || (!profile.difference && Math.abs(row.cum) >= 0.5));
}

// Half of the 95 % interval: exact where the report has it, else by the normal distribution; null: not known.
function halfInterval(row, exact) {
  const known = exact && exact.get(row.name);
  if (known) return known.high === null ? null : (known.high - known.low) / 2;
  return row.samples > 0 && row.variance > 0 ? 1.96 * Math.sqrt(row.variance) : null;
}

const COLUMNS = {
  flat: ["itself", row => row.flat], cum: ["with calls", row => row.cum], share: ["share", row => row.flat],
  growth: ["growth", row => row.flat], error: ["\u00b195 %", row => row.half ?? -1], before: ["before", row => row.before],
  now: ["now", row => row.before + row.flat], name: ["allocated at", row => row.name],
};

function columnsOf(profile) {
  return profile.difference ? ["growth", "error", "name", "before", "now"] : ["flat", "error", "share", "name", "cum"];
}

class RowTable {
  constructor(profile, on) {
    this.profile = profile;
    this.on = on; // { choose(row), sort(column), measure(), share(row) }
    this.limit = 200;
    byId("more").addEventListener("click", () => { this.limit += 1000; this.put(); });
  }

  // rows: of tableRows, with half, rank and verdict.
  show(rows, look) {
    this.rows = rows;
    this.look = look;
    this.put();
  }

  sorted() {
    const column = this.look.sort, value = COLUMNS[column][1], sign = this.look.order === "ascending" ? 1 : -1;
    const wanted = this.look.filter.toLowerCase();
    const rows = this.rows.filter(row => !wanted || row.name.toLowerCase().includes(wanted));
    return rows.sort((a, b) => {
      const x = value(a), y = value(b);
      return x === y ? Math.abs(b.flat) - Math.abs(a.flat) || (a.name < b.name ? -1 : 1) : sign * (x < y ? -1 : 1);
    });
  }

  put() {
    const columns = columnsOf(this.profile), rows = this.sorted(), shown = rows.slice(0, this.limit);
    byId("heads").replaceChildren(el("tr", null, ...columns.map(column => this.head(column))));
    this.largest = Math.max(1, ...this.rows.map(row => Math.abs(row.flat)));
    byId("rows").replaceChildren(...shown.map(row => this.line(row, columns)));
    byId("unit").textContent = "(" + this.look.measure.name + ")";
    byId("more").hidden = shown.length === rows.length;
    byId("more").textContent = "Show more of " + grouped(rows.length) + " rows";
  }

  head(column) {
    const on = this.look.sort === column;
    return el("th", { scope: "col", class: column === "name" ? "rowname" : null, "aria-sort": on ? this.look.order : null },
      el("button", { type: "button", onclick: () => this.on.sort(column) }, COLUMNS[column][0]));
  }

  line(row, columns) {
    const chosen = row.name === this.look.row, line = el("tr", { class: chosen ? "chosen" : null });
    for (const column of columns) line.append(this.cell(row, column, chosen));
    return line;
  }

  cell(row, column, chosen) {
    const m = this.look.measure;
    if (column === "name") return this.nameCell(row, chosen);
    if (column === "error") return el("td", null, row.half === null ? "?" : amount(row.half, m));
    if (column === "share") return el("td", null, percent(row.flat, this.look.whole));
    const value = COLUMNS[column][1](row);
    return el("td", null, column === "growth" ? change(value, m) : amount(value, m));
  }

  nameCell(row, chosen) {
    const bar = el("span", { class: "share" + (this.profile.difference ? (row.flat < 0 ? " less" : " more") : "") });
    bar.style.width = Math.max(Math.abs(row.flat) * 100 / this.largest, 0.5) + "%";
    const words = row.verdict ? el("span", { class: "sign" }, row.sign) : null;
    const said = row.verdict ? " " + row.shown : row.samples > 0 && row.samples < 10 ? "few samples" : "";
    return el("td", { class: "rowname" }, el("button", { type: "button", "aria-pressed": chosen ? "true" : "false",
      onclick: () => this.on.choose(row) }, ...breakable(row.name)), bar,
    said ? el("span", { class: "doubt", title: row.means || null }, words, said) : null);
  }
}
