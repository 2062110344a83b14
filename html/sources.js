// ---- sources.js: the source of the lines that hold most, with what each line holds. ----

// What the stacks that are kept hold by source line: where it was allocated, and there or below; by FILE and line.
function lineSums(profile, variant, kept, counter) {
  const values = profile.values(counter), f = profile.frames, sums = new Map(), seen = new Map();
  const sum = frame => {
    const key = f.file[frame] + ":" + f.line[frame];
    if (!sums.has(key)) sums.set(key, { itself: 0, all: 0 });
    return [key, sums.get(key)];
  };
  for (let i = 0; i < kept.length; i++) {
    if (!kept[i] || !values[i]) continue;
    let inside = profile.ruby ? variant.inner[i] : 0;
    for (let node = variant.leaf[i]; node; node = profile.nodeParent[node], inside--) {
      const frame = profile.nodeFrame[node];
      if (!f.line[frame]) continue;
      const [key, line] = sum(frame);
      if (inside === 0) line.itself += values[i];
      if (seen.get(key) !== i) line.all += values[i];
      seen.set(key, i);
    }
  }
  return sums;
}

class SourcePanel {
  constructor(profile) {
    this.profile = profile;
    this.excerpts = profile.page.source;
  }

  weight(excerpt, sums) {
    let most = 0;
    (excerpt.lines || []).forEach((text, i) => {
      most = Math.max(most, Math.abs((sums.get(excerpt.file + ":" + (excerpt.first + i)) || { itself: 0 }).itself));
    });
    return most;
  }

  excerpt(excerpt, sums, measure, most) {
    const name = this.profile.strings[excerpt.file];
    const number = value => (!value ? "" : this.profile.difference ? change(value, measure) : amount(value, measure));
    return el("section", { class: "excerpt" }, el("h3", null, name), el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Source of " + name },
      el("table", null, el("thead", null, el("tr", null, ...["itself", "with calls", "line", "source"].map((text, i) => el("th", { scope: "col", class: i === 3 ? "rowname" : null }, text)))),
        el("tbody", null, ...excerpt.lines.map((text, i) => {
          const line = sums.get(excerpt.file + ":" + (excerpt.first + i)) || { itself: 0, all: 0 };
          const hot = line.itself && Math.abs(line.itself) * 20 >= most;
          return el("tr", { class: hot ? "hot" : null }, el("td", null, number(line.itself)), el("td", null, number(line.all)),
            el("td", null, String(excerpt.first + i)), el("td", { class: "code" }, text));
        })))));
  }

  // The hottest first. look: as for CallsPanel.
  show(look) {
    const sums = lineSums(this.profile, look.variant, look.kept, look.counter);
    const there = this.excerpts.filter(excerpt => excerpt.lines), missing = this.excerpts.length - there.length;
    const shown = there.map(excerpt => ({ excerpt, weight: this.weight(excerpt, sums) })).sort((a, b) => b.weight - a.weight);
    const most = shown.length ? shown[0].weight : 0;
    fill(byId("source-panel"),
      shown.length ? el("p", { class: "doubt" }, "The lines that hold most, in " + look.measure.name + ". A page with source is one to look at before it is passed on.") : null,
      ...shown.map(one => this.excerpt(one.excerpt, sums, look.measure, most)),
      missing || !shown.length ? el("p", { title: this.excerpts.filter(excerpt => !excerpt.lines).map(excerpt => this.profile.strings[excerpt.file] + ": " + excerpt.why).join("\n") },
        (shown.length ? "Of " + missing + " more lines this page has no source" : "This page has no source") + ": make it with ", el("code", null, "--source-path=DIR"), ", the directory that has it.") : null);
  }
}
