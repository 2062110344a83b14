// ---- page.js: puts the parts together. Each change of the state is shown by show(). ----

const MANY_STACKS = 10000;

async function main() {
  const page = await readPage(), profile = makeProfile(page), answer = page.answer || {};
  const measureOf = counter => measureFor(
    Math.max(Math.abs(page.report.totals[counter] || 0), page.report.base_totals ? Math.abs(page.report.base_totals[counter]) : 0),
    countsBytes(counter));
  const usual = {
    counter: profile.ownCounter, fold: String(answer.fold ?? 2), ruby: String(answer.ruby ?? 0), by: usualGranularity(profile),
    sort: profile.difference ? "growth" : "flat", order: "descending", from: "0", to: String(Math.max(profile.snapshots.length - 1, 0)),
  };
  const processes = answer.processes || [];
  const offersRuby = profile.ruby && answer.offers_ruby !== false;
  const optionsOf = id => [...byId(id).options].map(option => option.value);
  const choices = {
    counter: profile.counters, fold: optionsOf("fold"), ruby: offersRuby ? optionsOf("ruby") : [], by: granularities(profile),
    sort: columnsOf(profile), order: ["ascending", "descending"],
    from: profile.snapshots.map((name, i) => String(i)), to: profile.snapshots.map((name, i) => String(i)),
    process: ["", ...processes.map(one => one[0])], up: ["", "1"], inverted: ["", "1"], width: ["", "total"], beside: ["", "1"], tab: [...byId("tabs").children].map(button => button.dataset.tab),
  };
  readState(usual, choices);

  const diffRows = new Map((answer.diff ? answer.diff.rows : []).map(row => [row.name, row]));
  const exactRows = new Map(page.report.rows.map(row => [row.name, row.flat_range]));
  const verdictOf = string => (diffRows.get(profile.strings[string]) || {}).verdict || "";
  const verdictCounts = new Map();
  let tree = null, shape = null, measure = measureOf(usual.counter), kept = null, variant = null, search = null, zoomOnce = state.zoom;

  // ---- what is computed ----

  function compute() {
    if (Number(state.from) >= Number(state.to)) Object.assign(state, { from: usual.from, to: usual.to });
    if (state.process) Object.assign(state, { from: usual.from, to: usual.to });
    profile.choose(Number(state.from), Number(state.to), state.process);
    if (!profile.whole) state.counter = usual.counter;
    variant = profile.variant(Number(state.ruby), Number(state.fold));
    kept = keptStacks(profile, variant, verdictOf);
    measure = measureOf(state.counter);
    const hidden = page.whose.map(words => listOf("hidden").has(words[0]));
    const by = ["library", "tag"].includes(state.by) ? granularities(profile)[0] : state.by;
    const shapeKey = [by, state.inverted, state.hidden].join();
    if (!shape || shape.key !== shapeKey) shape = Object.assign(new FlameShape(profile, { by, hidden, inverted: state.inverted }), { key: shapeKey });
    tree = new FlameTree(shape, variant, kept, state.counter, !profile.difference || state.width);
  }

  // What the search finds: rows of the tree, and how much all stacks hold in which something matches.
  function computeSearch() {
    const pattern = patternOf(state.search, true);
    search = null;
    byId("found").textContent = "";
    if (!pattern) return;
    const frames = framesLike(profile, pattern), below = nodesBelow(profile, frames), values = profile.values(state.counter);
    const rows = new Set();
    let sum = 0;
    tree.frame.forEach((frame, node) => { if (frame >= 0 && tree.there[node] && frames[frame]) rows.add(tree.row[node]); });
    for (let i = 0; i < kept.length; i++) if (kept[i] && below[variant.leaf[i]]) sum += values[i];
    search = row => rows.has(row);
    byId("found").textContent = amount(sum, measure) + " " + measure.name +
      (profile.difference ? "" : ", " + percent(sum, tree.now[0]));
  }

  function rowsShown() {
    const rows = tableRows(profile, variant, kept, state.counter, state.by), verdicts = listOf("verdicts");
    const untouched = kept.every((one, i) => one || !variant.leaf[i]) && state.fold === usual.fold && state.ruby === usual.ruby &&
      state.counter === profile.ownCounter && state.by === usual.by && profile.whole;
    for (const row of rows) {
      const judged = state.by === usual.by ? diffRows.get(row.name) : undefined, words = judged && verdictWords(page, judged.verdict);
      row.half = judged && untouched && judged.low !== null ? (judged.high - judged.low) / 2
        : halfInterval(row, untouched ? exactRows : null);
      row.verdict = words && words.key;
      row.sign = words && words.sign;
      row.shown = words && words.shown;
      row.means = words && words.means;
    }
    return verdicts.size && state.by === usual.by ? rows.filter(row => verdicts.has(row.verdict)) : rows;
  }

  // ---- what is shown ----

  // Where that takes a while it can be seen.
  function show(then = () => {}) {
    const work = () => {
      showNow();
      then();
      delete document.documentElement.dataset.busy;
    };
    if (profile.stacks < MANY_STACKS) return work();
    document.documentElement.dataset.busy = "yes";
    requestAnimationFrame(() => setTimeout(work));
  }

  function showNow(computed) {
    if (!computed) compute();
    graph.zoomed = 0;
    graph.at = 0;
    if (zoomOnce) graph.zoomed = graph.at = nodeOfPath(zoomOnce);
    zoomOnce = "";
    state.zoom = pathOf(graph.zoomed);
    computeSearch();
    putKept();
    showTable();
    showGraph();
    showControls();
    putBox(graph.at);
    showPanel();
    writeState(usual);
  }

  // ---- the panels beside the graph: callers and callees, source, sizes, over time ----

  const panels = { calls: new CallsPanel(profile, name => pick(name)), source: new SourcePanel(profile), time: new TimePanel(profile, name => pick(name)) };

  function showPanel() {
    for (const button of byId("tabs").children) button.setAttribute("aria-pressed", button.dataset.tab === state.tab ? "true" : "false");
    byId("graph-panel").hidden = state.tab !== "";
    for (const name of ["calls", "source", "sizes", "time"]) byId(name + "-panel").hidden = state.tab !== name;
    const look = { variant, kept, counter: state.counter, by: state.by, measure, row: state.row ? profile.strings.indexOf(state.row) : 0 };
    if (state.tab === "sizes") showSizes(profile, look);
    else if (state.tab) panels[state.tab].show(look);
    else graph.drawSoon();
  }

  // A name in a panel: its row is chosen, and stays so.
  function pick(name) {
    if (state.row !== name) choose(name);
  }

  function showGraph() {
    const chosen = profile.strings.indexOf(state.row);
    graph.show(tree, { marked: search, row: chosen, up: state.up === "1" });
    byId("zoom-out").disabled = !graph.zoomed;
  }

  function showTable() {
    const whole = profile.difference ? 0 : tree.now[0], rows = rowsShown();
    const largest = rows.reduce((most, row) => Math.max(most, Math.abs(row.flat)), 0);
    // Where no row has as much as one unit of the total, rows have a smaller one.
    table.show(rows, {
      sort: state.sort, order: state.order, filter: state.rowfilter, row: state.row, whole,
      measure: largest && largest < measure.size ? measureFor(largest, true) : measure,
    });
  }

  function putKept() {
    const values = profile.values(state.counter);
    let all = 0, some = 0, dropped = false;
    for (let i = 0; i < kept.length; i++) {
      all += values[i];
      if (kept[i]) some += values[i];
      else dropped = dropped || variant.leaf[i] > 0;
    }
    byId("kept").textContent = dropped ? amount(some, measure) + " of " + amount(all, measure) + " " + measure.name + " are shown; filters leave out the rest." : "";
  }

  function showControls() {
    for (const key of ["search", "focus", "ignore", "rowfilter", "counter", "fold", "ruby", "by", "from", "to", "process"])
      if (byId(key).value !== state[key]) byId(key).value = state[key];
    for (const [key, button] of switches()) button.setAttribute("aria-pressed", button.dataset[key] === state[key] ? "true" : "false");
    byId("parts").classList.toggle("beside", state.beside === "1");
    putChips(page, verdictCounts, key => { toggleIn("verdicts", key); show(); });
  }

  // The buttons of which one is chosen, each with its key of the state.
  function switches() {
    return ["up", "inverted", "width", "beside"].flatMap(key => [...document.querySelectorAll("[data-" + key + "]")].map(button => [key, button]));
  }

  // How many rows a chip shows: those that changed.
  function countVerdicts(rows) {
    for (const row of rows) if (row.verdict) verdictCounts.set(row.verdict, (verdictCounts.get(row.verdict) || 0) + 1);
  }

  // ---- a box: in the tip under the pointer, and in the panel below ----

  function describe(node) {
    const lines = [el("p", { class: "name" }, graph.name(node))], f = profile.frames;
    const half = tree.samples[node] > 0 && tree.variance[node] > 0 ? " (\u00b1" + amount(1.96 * Math.sqrt(tree.variance[node]), measure) + ")" : "";
    const samples = tree.samples[node] > 0
      ? ", " + grouped(tree.samples[node]) + (tree.samples[node] === 1 ? " sample" : " samples") + (tree.samples[node] < 10 ? ": few" : "") : "";
    lines.push(el("p", null, profile.difference
      ? change(tree.now[node] - tree.before[node], measure) + half + " " + measure.name + ": " + amount(tree.before[node], measure) + " before, " + amount(tree.now[node], measure) + " now" + samples
      : amount(tree.now[node], measure) + half + " " + measure.name + ", " + percent(tree.now[node], tree.now[0]) + samples));
    if (!node) return lines;
    const ages = tree.ages.filter(age => age.sums[node]);
    if (ages.length) lines.push(el("p", null, "age: " + ages.map(age => age.shown + " " + (profile.difference ? change : amount)(age.sums[node], measure) + " " + measure.name).join(", ")));
    const frame = tree.frame[node], object = profile.strings[f.object[frame]];
    const file = f.file[frame] ? profile.strings[f.file[frame]] + (f.line[frame] ? ":" + f.line[frame] : "") : "";
    const covered = page.report.coverage.find(one => one.path === object);
    if (file) lines.push(el("p", null, file));
    lines.push(el("p", { class: "doubt" }, page.whose[f.whose[frame]][1] + (object && object !== file ? "; " + object : "") +
      (covered && covered.build_id ? "; build-id " + covered.build_id : "")));
    return lines;
  }

  function putBox(node) {
    const names = tree.pathTo(node).map(one => graph.name(one));
    byId("box").replaceChildren(...describe(node), ...(node ? [el("div", { class: "actions" },
      copyButton("Copy path", names.join("\n")),
      el("button", { type: "button", onclick: () => { state.focus = exactly(graph.name(node)); show(); } }, "Only this"),
      el("button", { type: "button", onclick: () => { state.ignore = exactly(graph.name(node)); show(); } }, "Without this"))] : []));
  }

  function exactly(name) {
    return "^" + literally(name) + "$";
  }

  function putTip(node, event) {
    const tip = byId("tip");
    tip.hidden = node < 0;
    if (node < 0) return;
    if (tip.dataset.node !== String(node)) tip.replaceChildren(...describe(node));
    tip.dataset.node = node;
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
  }

  // ---- zoom: the path from the root in the order of siblings, "0.2.1" ----

  function pathOf(node) {
    return tree.pathTo(node).map(one => tree.childrenOf(tree.parent[one]).indexOf(one)).join(".");
  }

  function nodeOfPath(path) {
    let node = 0;
    for (const place of path.split(".")) node = tree.childrenOf(node)[Number(place)] ?? node;
    return node;
  }

  function showZoom(node) {
    graph.zoomTo(node);
    state.zoom = node ? pathOf(node) : "";
    byId("zoom-out").disabled = !node;
    putBox(node);
  }

  function zoom(node) {
    showZoom(node);
    writeState(usual, true);
  }

  // The address is another one: after Back, of a zoom alone.
  function readAddress() {
    const before = { ...state };
    readState(usual, choices);
    const others = Object.keys(DEFAULTS).filter(key => state[key] !== before[key] && key !== "zoom");
    zoomOnce = state.zoom;
    if (others.length) return show();
    zoomOnce = "";
    showZoom(state.zoom ? nodeOfPath(state.zoom) : 0);
  }

  // ---- choosing a row: its widest box is brought into sight, all of its boxes are framed ----

  function choose(name) {
    state.row = state.row === name ? "" : name;
    showTable();
    showGraph();
    point();
    showPanel();
    writeState(usual);
  }

  function point() {
    const id = profile.strings.indexOf(state.row);
    let widest = 0;
    if (state.row) tree.row.forEach((row, node) => { if (row === id && tree.there[node] && (!widest || tree.width[node] > tree.width[widest])) widest = node; });
    if (!widest) return;
    graph.at = widest;
    putBox(widest);
    graph.bringIntoSight(widest);
    graph.drawSoon();
  }

  // Zooms in where its box would be small. A library and a tag have no boxes, but a row.
  function showIt(name) {
    Object.assign(state, { focus: "", ignore: "", verdicts: "", search: "", hidden: "", by: usual.by, row: name, tab: "", process: "", from: usual.from, to: usual.to });
    for (const box of byId("legend").querySelectorAll("input")) box.checked = true;
    showNow();
    if (["library", "tag"].includes(usual.by)) {
      byId("table-part").scrollIntoView({ block: "nearest" });
      byId("rows").querySelector(".chosen button")?.focus({ preventScroll: true });
      return;
    }
    point();
    const box = graph.at;
    let around = box;
    while (around && tree.width[tree.parent[around]] <= 4 * tree.width[box]) around = tree.parent[around];
    if (around) zoom(around);
    point();
    byId("graph-part").scrollIntoView({ block: "nearest" });
    byId("canvas").focus({ preventScroll: true });
  }

  // ---- controls ----

  const graph = new FlameGraph(profile, { zoom, select: putBox, point: putTip, change: value => change(value, measure) });
  const table = new RowTable(profile, {
    choose: row => choose(row.name),
    sort(column) {
      if (state.sort === column) state.order = state.order === "ascending" ? "descending" : "ascending";
      else Object.assign(state, { sort: column, order: column === "name" ? "ascending" : "descending" });
      showTable();
      writeState(usual);
    },
  });

  function fillChoices() {
    byId("counter").append(...profile.counters.map(c => el("option", { value: c }, COUNTER_WORDS[c])));
    byId("by").append(...granularities(profile).map(by => el("option", { value: by }, BY_WORDS[by])));
    byId("ruby-choice").hidden = !offersRuby;
    const names = profile.snapshots.map(path => path.replace(/^.*\//, ""));
    byId("spans").hidden = names.length < 3;
    for (const id of ["from", "to"]) byId(id).append(...names.map((name, i) => el("option", { value: String(i) }, name)));
    byId("process-choice").hidden = processes.length < 2;
    byId("process").append(...processes.map(([key, shown]) => el("option", { value: key }, shown)));
    byId("tabs").querySelector('[data-tab="time"]').hidden = names.length < 2;
    const there = new Set(profile.frames.whose);
    byId("widths").hidden = !profile.difference;
    byId("tools").open = innerWidth > 900;
    byId("legend").append(...page.whose.map(([key, shown], i) => ({ key, shown, i })).filter(one => there.has(one.i)).map(one => {
      const box = el("input", { type: "checkbox", checked: !listOf("hidden").has(one.key) });
      // In a difference colours are for what grew and shrank.
      const swatch = profile.difference ? null : el("span", { class: "swatch", "aria-hidden": "true" });
      if (swatch) swatch.style.background = "var(--" + one.key + ")";
      box.addEventListener("change", () => { toggleIn("hidden", one.key); show(); });
      return el("label", null, box, swatch, one.shown);
    }));
    if (profile.difference) byId("legend").append(...[["grew", "grew"], ["shrank", "shrank"]].map(([colour, words]) => {
      const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = "var(--" + colour + ")";
      return el("label", null, swatch, words);
    }));
  }

  function listen() {
    let waiting = 0;
    for (const key of ["search", "focus", "ignore", "rowfilter"])
      byId(key).addEventListener("input", () => {
        state[key] = byId(key).value;
        clearTimeout(waiting);
        waiting = setTimeout(() => {
          if (key === "search") { computeSearch(); showGraph(); writeState(usual); }
          else if (key === "rowfilter") { showTable(); writeState(usual); }
          else show();
        }, 150);
      });
    for (const key of ["counter", "fold", "ruby", "by", "process"])
      byId(key).addEventListener("change", () => {
        state[key] = byId(key).value;
        show();
      });
    for (const key of ["from", "to"])
      byId(key).addEventListener("change", () => {
        state[key] = byId(key).value;
        state.process = "";
        // The other end moves out of the way.
        if (Number(state.from) >= Number(state.to) && key === "from") state.to = String(Math.min(Number(state.from) + 1, profile.snapshots.length - 1));
        if (Number(state.from) >= Number(state.to)) state.from = String(Math.max(Number(state.to) - 1, 0));
        if (state.from === state.to) state.to = String(Number(state.from) + 1);
        show();
      });
    for (const button of byId("tabs").children)
      button.addEventListener("click", () => {
        state.tab = button.dataset.tab;
        showPanel();
        writeState(usual);
      });
    for (const [key, button] of switches())
      button.addEventListener("click", () => {
        state[key] = button.dataset[key];
        if (key === "inverted" || key === "width") {
          show(point);
        } else {
          showControls();
          showGraph();
          writeState(usual);
        }
        if (key === "up") byId("graph").scrollTop = state.up ? byId("tall").clientHeight : 0;
      });
    byId("zoom-out").addEventListener("click", () => zoom(tree.parent[graph.zoomed]));
    byId("reset").addEventListener("click", () => {
      Object.assign(state, DEFAULTS, usual);
      for (const box of byId("legend").querySelectorAll("input")) box.checked = true;
      show();
    });
    addEventListener("hashchange", readAddress);
    addEventListener("keydown", event => {
      if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
        event.preventDefault();
        byId("search").focus();
      }
    });
  }

  fillChoices();
  listen();
  const asked = { ...state };
  Object.assign(state, DEFAULTS, usual);
  const plain = JSON.stringify(state) === JSON.stringify(asked);
  compute();
  const firstRows = rowsShown(), first = page.answer ? answer : { ...answer, ...plainAnswer(profile, firstRows, measure) };
  countVerdicts(firstRows);
  Object.assign(state, asked);
  putAnswer(page, first, name => profile.strings.includes(name), showIt);
  putMemory(first);
  putSure(profile, first, measureOf(usual.counter));
  usual.row = first.suspects.length ? first.suspects[0].name : "";
  if (!new URLSearchParams(location.hash.slice(1)).has("row")) state.row = usual.row;
  showNow(plain);
  point();
  document.documentElement.dataset.ready = "yes";
}

main().catch(error => {
  byId("title").textContent = "This page cannot be shown: " + error.message +
    (typeof DecompressionStream === "undefined" ? ". It needs a browser of 2023 or later." : "");
  throw error;
});
