// The reader's choices, kept in the fragment of the page's address.
const other = (scheme) => {
  const base = page.schemes.findIndex((one) => one.name === page.baseline);
  return base >= 0 && base !== scheme ? base : page.schemes.findIndex((_, at) => at !== scheme);
};
// The figures of which one of several measures is shown.
const MEASURED = Object.keys(page.figures).filter((figure) => page.figures[figure].measures.length);
const ofMeasured = (value) => Object.fromEntries(MEASURED.map((figure) => [figure, value(figure)]));
const DEFAULTS = {
  point: 0, hide: [], without: [], ...ofMeasured(() => 0), flip: [], scheme: 0, second: other(0), minus: false,
  view: "utilisation", time: -1, zoom: "", labels: {}, link: -1, slow: 0, flow: "",
};
const state = structuredClone(DEFAULTS);
const watchers = [];
const onChange = (watcher) => watchers.push(watcher);
const notify = (keys) => { for (const watcher of watchers) watcher(keys); };

// Schemes must stay apart: a label that another scheme has is left out.
const labelled = (labels) => {
  const found = {}, taken = new Set(page.schemes.map(({ name }) => name).filter((name) => !labels[name]));
  for (const [name, text] of Object.entries(labels)) {
    if (!text || text === name) continue;
    const isScheme = page.schemes.some((one) => one.name === name);
    if (isScheme && taken.has(text)) continue;
    if (isScheme) taken.add(text);
    found[name] = text;
  }
  return found;
};

// How each choice is written: by name, so that an address still holds for a report with more runs.
const place = (names) => ({ write: (at) => names[at], read: (text) => names.indexOf(text), ok: (at) => at >= 0 });
const schemes = place(page.schemes.map((one) => one.name));
const plain = { write: String, read: (text) => text, ok: () => true };
const number = { write: String, read: Number, ok: Number.isInteger };
// A part of the time in the run, in seconds: "0.005..0.01".
const isSpan = (text) => /^[\d.e-]+\.\.[\d.e-]+$/.test(text) && Number(text.split("..")[0]) < Number(text.split("..")[1]);
const WRITTEN = {
  point: place(page.points), hide: schemes, without: place(page.classes),
  ...ofMeasured((figure) => place(page.figures[figure].measures)), flip: plain, scheme: schemes, second: schemes,
  minus: { write: () => "yes", read: (text) => text === "yes", ok: () => true },
  view: { ...plain, ok: (text) => ["utilisation", "queue"].includes(text) },
  time: number, zoom: { ...plain, ok: isSpan }, link: place(page.links), slow: place(page.classes), flow: plain,
};

// A label is written with the name that it stands for.
const LABEL = "label.";
const fragment = (more = {}) => {
  const words = new URLSearchParams();
  for (const [key, { write }] of Object.entries(WRITTEN)) {
    const value = state[key];
    if (Array.isArray(value)) value.forEach((one) => words.append(key, write(one)));
    else if (value !== DEFAULTS[key]) words.append(key, write(value));
  }
  for (const [name, text] of Object.entries(state.labels)) words.append(LABEL + name, text);
  for (const [key, value] of Object.entries(more)) words.append(key, value);
  return words.toString();
};

// Changes the state, tells all parts of the page, and makes an entry in the history (unless `quiet`).
const change = (values, { quiet = false } = {}) => {
  const keys = Object.keys(values).filter((key) => JSON.stringify(values[key]) !== JSON.stringify(state[key]));
  if (!keys.length) return;
  Object.assign(state, values);
  history[quiet ? "replaceState" : "pushState"](null, "", "#" + fragment());
  notify(keys);
};

// The state in the address; settings that it does not name, or names wrongly, are as at first.
const restore = () => {
  const words = new URLSearchParams(location.hash.slice(1));
  const found = structuredClone(DEFAULTS);
  for (const [key, { read: from, ok }] of Object.entries(WRITTEN)) {
    const values = words.getAll(key).map(from).filter(ok);
    if (Array.isArray(found[key])) found[key] = [...new Set(values)];
    else if (values.length) [found[key]] = values;
  }
  found.labels = labelled(Object.fromEntries([...words].filter(([key]) => key.startsWith(LABEL)).map(([key, text]) => [key.slice(LABEL.length), text])));
  if (found.hide.length >= page.schemes.length) found.hide = [];
  if (found.without.length >= page.classes.length) found.without = [];
  if (found.second === found.scheme) found.second = other(found.scheme);
  const keys = Object.keys(found).filter((key) => JSON.stringify(found[key]) !== JSON.stringify(state[key]));
  Object.assign(state, found);
  return keys;
};
const follow = () => {
  const keys = restore();
  if (keys.length) notify(keys);
};
addEventListener("popstate", follow);
addEventListener("hashchange", follow);

// Why a scheme was not in a steady state at the chosen point: { label, reason }, or undefined.
const markOf = (scheme) => page.marks.filter(([point, at]) => point === state.point && at === scheme)
  .map(([, , label, reason]) => ({ label, reason }))[0];

const seen = (scheme) => !state.hide.includes(scheme);
const seenSchemes = () => page.schemes.map((_, at) => at).filter(seen);
const seenClasses = () => page.classes.map((_, at) => at).filter((at) => !state.without.includes(at));
// A switch that differs from its first position is in `flip`.
const PRESSED = new Set([...document.querySelectorAll('[data-toggle][aria-pressed="true"]')].map((one) => one.dataset.toggle));
const on = (name) => PRESSED.has(name) !== state.flip.includes(name);
const flipped = (name) => state.flip.includes(name) ? state.flip.filter((one) => one !== name) : [...state.flip, name];

// The second scheme when this one becomes the first: never the same.
const secondFor = (scheme) => (scheme !== state.second ? state.second : state.scheme !== scheme ? state.scheme : other(scheme));
