// Charts as rows of panels in Vega-Lite, as many side by side as fit.
const GAP = 22, AXIS = 80, NARROWEST = 164, WIDEST = 480;

// Number of columns and width of each of `count` panels in `room` pixels.
const layout = (count, room, axis = AXIS) => {
  const columns = Math.max(1, Math.min(count, Math.floor((room + GAP) / (NARROWEST + axis + GAP))));
  const width = Math.floor((room - 6 - axis * columns - GAP * (columns - 1)) / columns);
  return { columns, width: Math.max(120, Math.min(WIDEST, width)) };
};

const encode = (field, what, extra = {}) => {
  const schemes = page.schemes.map((one) => one.name);
  const range = {
    color: () => page.schemes.map((_, at) => schemeColour(at)),
    shape: () => page.schemes.map((one) => one.shape),
    strokeDash: () => page.schemes.map((one) => (one.dash.length ? one.dash.map((part) => 2 * part) : [1, 0])),
  }[what]();
  return { field, type: "nominal", scale: { domain: schemes, range }, legend: null, ...extra };
};
const ofScheme = (...whats) => Object.fromEntries(whats.map((what) => [what, encode("scheme", what)]));

// The number of ticks with these first digits on a logarithmic axis over some values.
const ticksWith = (digits, values) => {
  const found = values.filter((value) => value > 0);
  const [low, high] = [found.reduce((a, b) => Math.min(a, b), Infinity), found.reduce((a, b) => Math.max(a, b), 0)];
  const below = (value) => [...digits].reduce((sum, digit) => sum + Math.floor(Math.log10(value / digit)), 0);
  return found.length ? below(high) - below(low) : 0;
};

// An axis: { field, title, kind, log, rows, labels, zero, domain, ticks, values, grid }. A logarithmic one needs the rows it shows,
// or the domain; `labels` are the first digits of the ticks that have one, unless these are fewer than two.
const axisOf = ({ field, title = null, kind, log = false, rows = [], labels = "125", zero = true, domain, ticks = 5, values, grid = true, padding, nice = true }) => {
  const scale = log ? { type: "log", nice: false } : { zero, nice };
  if (domain) scale.domain = domain;
  if (padding) scale.padding = padding;
  const few = log && !values && ticksWith(labels, domain ?? rows.map((row) => row[field])) > 1;
  const axis = { tickCount: ticks, grid, labelOverlap: true, labelSeparation: 8, labelExpr: few ? logLabels(kind, labels) : LABELS[kind] };
  if (log) axis.labelFlush = false;
  if (values) axis.values = values;
  return { field, type: "quantitative", title, scale, axis };
};

const tooltip = (...fields) => fields.map(([field, title]) => ({ field, type: "nominal", title }));

// One line per scheme, with an invisible point per value, because a line has only one tooltip.
const lines = (x, y, tips, mark) => [
  { mark: { type: "line", clip: true, strokeWidth: 1.8, ...mark }, encoding: { x, y, ...ofScheme("color", "strokeDash") } },
  { mark: { type: "point", filled: true, size: 50, opacity: 0 }, encoding: { x, y, tooltip: tips } },
];

// The specification of panels: { title, rows, layers }.
const chartOf = (panels, { columns, width }, height) => ({
  $schema: "https://vega.github.io/schema/vega-lite/v6.json",
  config: chartTheme(),
  spacing: GAP,
  columns,
  concat: panels.map(({ title, rows, layers }) => ({
    ...(title ? { title } : {}), width, height, data: { values: rows }, layer: layers,
  })),
});

// The charts by their ids: { needs, chart(room), data() }; `data` gives columns and all rows, for CSV and table.
const charts = {};
const views = {};

const draw = async (id) => {
  const at = element(id), room = at.clientWidth;
  if (!room) return;
  const spec = await charts[id].chart(room);
  if (!spec) {
    at.replaceChildren(make("p", { class: "caption" }, charts[id].empty ?? "Nothing to show for this choice."));
    return;
  }
  const fresh = make("div");
  const options = { actions: false, renderer: "svg", tooltip: { theme: isDark() ? "dark" : "light" } };
  const result = await vegaEmbed(fresh, spec, options);
  views[id]?.finalize();
  views[id] = result;
  at.replaceChildren(fresh);
};

// Charts wait here until they are drawn, those in the window first.
const stale = new Set();
let drawing = null;
const inWindow = (id) => {
  const box = element(id).getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
};
const drawStale = async () => {
  while (stale.size) {
    const id = [...stale].find(inWindow) ?? [...stale][0];
    stale.delete(id);
    await draw(id);
  }
  drawing = null;
  delete root.dataset.busy;
};
const redraw = (ids) => {
  for (const id of ids) if (element(id)) stale.add(id);
  if (stale.size) root.dataset.busy = "yes";
  if (stale.size) drawing ??= drawStale();
  return drawing;
};
onChange((keys) => {
  const concerned = (id) => keys.some((key) => key === "theme" || charts[id].needs.includes(key));
  redraw(Object.keys(charts).filter(concerned))?.catch((error) => console.error(error));
});
