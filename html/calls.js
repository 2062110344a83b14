// ---- calls.js: who calls a row and what it calls, and the heaviest paths through it. ----

const MOST_CALLS = 15, MOST_PATHS = 8;

// The rows of a stack, the innermost first; what repeats right away is once.
function rowsOfStack(profile, variant, stack, by) {
  const library = by === "library", parents = library ? profile.pathParent : profile.nodeParent, rows = [];
  const names = library ? null : frameRows(profile, by === "tag" ? granularities(profile)[0] : by);
  let node = library ? variant.owner[stack] : variant.leaf[stack], inside = library ? variant.ownerinner[stack] : by === "site" ? variant.inner[stack] : 0;
  let itself = 0;
  for (; node; node = parents[node], inside--) {
    const row = library ? profile.pathName[node] : names[profile.nodeFrame[node]];
    if (rows[rows.length - 1] !== row) rows.push(row);
    if (inside === 0) itself = rows.length - 1;
  }
  return { rows, itself };
}

// What stacks with a row hold by who called it and by what it called; a stack counts once for each.
class CallSums {
  constructor(profile, variant, kept, counter, by, row) {
    Object.assign(this, { callers: new Map(), callees: new Map(), paths: new Map(), all: 0, itself: 0 });
    const values = profile.values(counter);
    for (let i = 0; i < kept.length; i++) {
      if (!kept[i] || !values[i]) continue;
      if (by === "tag" && profile.tags[i] !== row) continue;
      const { rows, itself } = rowsOfStack(profile, variant, i, by);
      if (by === "tag") this.addPath(rows, values[i]);
      else if (rows.includes(row)) this.addStack(rows, row, itself, values[i]);
    }
  }

  addStack(rows, row, itself, value) {
    const above = new Set(), below = new Set();
    rows.forEach((one, place) => {
      if (one !== row) return;
      if (place + 1 < rows.length) above.add(rows[place + 1]);
      if (place > 0) below.add(rows[place - 1]);
    });
    this.all += value;
    if (rows[itself] === row) this.itself += value;
    for (const [sums, ids] of [[this.callers, above], [this.callees, below]])
      for (const id of ids) sums.set(id, (sums.get(id) || 0) + value);
    this.addPath(rows, value);
  }

  addPath(rows, value) {
    const key = rows.join();
    const path = this.paths.get(key) || { rows, value: 0 };
    path.value += value;
    this.paths.set(key, path);
  }
}

function heaviest(map, most, valueOf) {
  return [...map.entries()].sort((a, b) => Math.abs(valueOf(b[1])) - Math.abs(valueOf(a[1]))).slice(0, most);
}

class CallsPanel {
  constructor(profile, choose) {
    this.profile = profile;
    this.choose = choose;
  }

  amountOf(value, whole) {
    return this.profile.difference ? change(value, this.measure) : amount(value, this.measure) + "  " + percent(value, whole);
  }

  table(title, sums, whole) {
    const rows = heaviest(sums, MOST_CALLS, value => value), p = this.profile;
    return el("section", { class: "calls" }, el("h3", null, title),
      rows.length ? el("table", null, el("thead", null, el("tr", null, el("th", { scope: "col" }, this.measure.name), el("th", { scope: "col", class: "rowname" }, "name"))),
        el("tbody", null, ...rows.map(([id, value]) => el("tr", null, el("td", null, this.amountOf(value, whole)),
          el("td", { class: "rowname" }, el("button", { type: "button", onclick: () => this.choose(p.strings[id]) }, p.strings[id]))))))
        : el("p", { class: "doubt" }, "none"),
      sums.size > rows.length ? el("p", { class: "doubt" }, grouped(sums.size - rows.length) + " more") : null);
  }

  pathTexts(sums) {
    return heaviest(sums.paths, MOST_PATHS, path => path.value).map(([, path]) => {
      const names = [...path.rows].reverse().map(id => this.profile.strings[id]);
      return (this.profile.difference ? change(path.value, this.measure) : amount(path.value, this.measure)) + " " + this.measure.name + "\n" +
        names.map(name => "  " + name).join("\n");
    });
  }

  // look: what the page shows: variant, kept, counter, by, measure, row (a string's number, or 0).
  show(look) {
    const panel = byId("calls-panel"), p = this.profile;
    this.measure = look.measure;
    if (!look.row) {
      fill(panel, el("p", null, "Choose a row or a box: who calls it and what it calls stands here."));
      return;
    }
    const sums = new CallSums(p, look.variant, look.kept, look.counter, look.by, look.row), texts = this.pathTexts(sums);
    fill(panel,
      el("p", { class: "name" }, p.strings[look.row]),
      el("p", null, this.amountOf(sums.all, sums.all).split("  ")[0] + " " + look.measure.name + " with calls, " +
        this.amountOf(sums.itself, sums.all).split("  ")[0] + " itself"),
      look.by === "tag" ? null : el("div", { class: "sides" }, this.table("Called by", sums.callers, sums.all), this.table("Calls", sums.callees, sums.all)),
      el("div", { class: "bar" }, el("h3", null, "Heaviest paths"), copyButton("Copy paths", texts.join("\n\n"))),
      ...texts.map(text => el("pre", { tabindex: "0" }, text)),
      sums.paths.size > texts.length ? el("p", { class: "doubt" }, grouped(sums.paths.size - texts.length) + " more paths") : null);
  }
}
