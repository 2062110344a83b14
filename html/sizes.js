// ---- sizes.js: objects by jemalloc's size classes, as jprof --sizes has them. ----

// The class of a mean size: 8, then multiples of 16 up to 128, then four to each doubling. A mean may be a little above.
function sizeClass(mean) {
  let limit = 8, step = 16;
  while (limit * 1.01 < mean && limit < 2 ** 60) {
    if (limit >= 8 * step) step *= 2;
    limit = limit < 16 ? 16 : limit + step;
  }
  return limit;
}

function sizeWords(limit) {
  if (!limit) return "no one size";
  let unit = 0;
  while (limit >= 1024 && unit < UNITS.length - 1) {
    limit /= 1024;
    unit++;
  }
  return Number(limit.toPrecision(4)) + " " + UNITS[unit][0];
}

// By class its bytes and objects; class 0 is that of what came as objects and went as bytes. Of a stack with objects of
// several sizes the page says which; of others the mean does.
function sizeSums(profile, kept, variant, counter) {
  const prefix = counter.split("_")[0], bytes = profile.values(prefix + "_space"), objects = profile.values(prefix + "_objects");
  const classes = new Map(), mixed = profile.page.sizes[prefix], several = new Set(mixed.stack);
  const add = (limit, itsBytes, itsObjects) => {
    const sums = classes.get(limit) || { limit, bytes: 0, objects: 0 };
    sums.bytes += itsBytes;
    sums.objects += itsObjects;
    classes.set(limit, sums);
  };
  for (let i = 0; i < kept.length; i++)
    if (kept[i] && (bytes[i] || objects[i]) && !several.has(i)) add(objects[i] && bytes[i] / objects[i] > 0 ? sizeClass(bytes[i] / objects[i]) : 0, bytes[i], objects[i]);
  mixed.stack.forEach((stack, i) => { if (kept[stack]) add(mixed.limit[i], mixed.bytes[i], mixed.objects[i]); });
  return [...classes.values()].sort((a, b) => (a.limit || Infinity) - (b.limit || Infinity));
}

function showSizes(profile, look) {
  const panel = byId("sizes-panel");
  if (!profile.whole) {
    fill(panel, el("p", null, "Sizes are known of all processes, from the first snapshot to the last."));
    return;
  }
  const rows = sizeSums(profile, look.kept, look.variant, look.counter), measure = measureFor(rows.reduce((sum, row) => sum + Math.abs(row.bytes), 0), true);
  const most = Math.max(1, ...rows.map(row => Math.abs(row.bytes))), number = profile.difference ? change : amount;
  fill(panel,
    el("p", { class: "doubt" }, "What is left by the filters, by the size of its objects: the mean of each stack's, as jemalloc rounds it up."),
    el("table", null, el("thead", null, el("tr", null, ...["size up to", measure.name, "objects", ""].map((text, i) => el("th", { scope: "col", class: i === 3 ? "rowname" : null }, text || el("span", { class: "unseen" }, "share"))))),
      el("tbody", null, ...rows.map(row => {
        const bar = el("span", { class: "share" + (profile.difference ? (row.bytes < 0 ? " less" : " more") : "") });
        bar.style.width = Math.max(Math.abs(row.bytes) * 100 / most, 0.5) + "%";
        return el("tr", null, el("td", null, sizeWords(row.limit)), el("td", null, number(row.bytes, measure)),
          el("td", null, (profile.difference && row.objects > 0 ? "+" : "") + grouped(row.objects)), el("td", { class: "rowname" }, bar));
      }))));
}
