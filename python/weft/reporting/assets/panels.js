// Charts as rows of panels in Vega-Lite, as many side by side as fit.
// One alone takes the whole room, and is higher.
const GAP = 22, NARROWEST = 164, WIDEST = 480, WIDEST_ALONE = 1100;

// Number of columns and width of each of `count` panels in `room` pixels.
const layout = (count, room, axis) => {
  const columns = Math.max(1, Math.min(count, Math.floor((room + GAP) / (NARROWEST + axis + GAP))));
  const width = Math.floor((room - 6 - axis * columns - GAP * (columns - 1)) / columns);
  return { columns, width: Math.max(120, Math.min(count === 1 ? WIDEST_ALONE : WIDEST, width)) };
};

const specs = await unpack("specs");
// A specification with values in place of names.
const filled = (spec, named) => JSON.parse(JSON.stringify(spec), (_, value) =>
  (typeof value === "string" && Object.hasOwn(named, value) ? named[value] : value));
const colours = () => ({
  ...Object.fromEntries(["ink", "soft", "grid", "edge"].map((name) => ["$" + name, colour(name)])),
  $category: [...page.schemes.map((_, at) => schemeColour(at)), colour("soft")],
});

// A specification with its rows by name, in panels that fit; null without rows. Panels are lower in files.
const HIGHER = 1.3, HIGHER_ALONE = 1.7;
const chartOf = (whole, all, room, { names = {}, axis = 96, high = () => null } = {}) => {
  if (!Object.values(all).some((some) => some.length)) return null;
  const { spec, rows } = inSpan(whole, all);
  const count = spec.concat?.length ?? new Set(rows[spec.data.name].map((row) => row[spec.facet.field])).size;
  const { columns, width } = layout(count, room, axis);
  const panel = (one) => ({ ...one, width, height: high(width) ?? Math.round((width > WIDEST ? HIGHER_ALONE : HIGHER) * one.height) });
  const made = { ...filled(spec, names), columns, config: filled(specs.config, colours()), datasets: { ...rows, events: eventRows() } };
  return relabelled(made.concat ? { ...made, concat: made.concat.map(panel) } : { ...made, spec: panel(made.spec) });
};

// The charts by their ids: { needs, chart(room), data() }; `data` gives columns and all rows, for CSV and table.
const charts = {};
const views = {};

const draw = async (id) => {
  const at = element(id), room = at.clientWidth;
  if (!room) return;
  const none = () => at.replaceChildren(make("p", { class: "caption" }, charts[id].empty ?? "Nothing to show for this choice."));
  const spec = await charts[id].chart(room);
  if (!spec) {
    none();
    return;
  }
  const fresh = make("div");
  const options = { actions: false, renderer: "svg", tooltip: { theme: isDark() ? "dark" : "light" } };
  const result = await vegaEmbed(fresh, spec, options);
  views[id]?.finalize();
  views[id] = result;
  if (!fresh.querySelector(":is(.mark-line, .mark-symbol, .mark-rect) path")) {
    none();
    return;
  }
  at.replaceChildren(fresh);
  if (overTime(spec)) {
    if (!timePanels.has(id)) followTimes(id);
    takePanels(id, spec);
  }
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
  // Later, as other watchers first show the places of charts.
  if (stale.size) drawing ??= Promise.resolve().then(drawStale);
  return drawing;
};
onChange((keys) => {
  const concerned = (id) => keys.some((key) => ["theme", "labels"].includes(key) || charts[id].needs.includes(key));
  redraw(Object.keys(charts).filter(concerned))?.catch((error) => console.error(error));
});
