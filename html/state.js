// ---- state.js: what is shown, in the fragment of the address: a link to the file with it shows the same. ----

const DEFAULTS = {
  search: "", focus: "", ignore: "", rowfilter: "", counter: "", fold: "", ruby: "0", by: "", sort: "", order: "",
  up: "", inverted: "", width: "", beside: "", zoom: "", row: "", verdicts: "", hidden: "", tab: "", from: "", to: "", process: "",
};

const state = { ...DEFAULTS };

// choices: of some keys all values that there are; an address with another one may be of another page.
function readState(defaults, choices) {
  Object.assign(state, DEFAULTS, defaults);
  for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
    if (Object.hasOwn(DEFAULTS, key) && (!choices[key] || choices[key].includes(value))) state[key] = value;
}

// A step is one that the browser's Back undoes.
function writeState(defaults, step) {
  const out = new URLSearchParams();
  for (const key of Object.keys(DEFAULTS)) {
    const usual = key in defaults ? defaults[key] : DEFAULTS[key];
    if (state[key] !== usual) out.set(key, state[key]);
  }
  const text = out.toString();
  if (text !== location.hash.slice(1)) history[step ? "pushState" : "replaceState"](null, "", text ? "#" + text : "#");
}

// Lists in the state: "a,b".
function listOf(key) {
  return new Set(state[key] ? state[key].split(",") : []);
}

function toggleIn(key, item) {
  const list = listOf(key);
  if (!list.delete(item)) list.add(item);
  state[key] = [...list].join(",");
}
