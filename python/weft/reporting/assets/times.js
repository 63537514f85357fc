// The time axes of all figures over time: one span, which the reader can narrow, and one cursor.
const frames = await unpack("frames");
// The end of the time in the run at the chosen point, in seconds: the first and the last value are half a step from the ends.
const endsOfTimes = new Map();
const endOfTimes = () => {
  if (!endsOfTimes.has(state.point)) {
    const times = ["delivered", "largest"].flatMap((name) => rowsOf(frames[name], (row) => row.point === state.point).map((row) => row.time_s));
    const [least, most] = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [Infinity, 0]);
    endsOfTimes.set(state.point, times.length ? short(least + most) : 0);
  }
  return endsOfTimes.get(state.point);
};
const readZoom = (text) => text.split("..").map(Number);
const spanOfTimes = (end) => {
  const [from, to] = readZoom(state.zoom);
  return state.zoom && from < end ? [from, Math.min(to, end)] : [0, end];
};

// The channel of the time in a panel, in all its layers.
const isTime = (layer) => layer.encoding?.x?.field === "time_s";
const panelsOf = (spec) => spec.concat ?? [spec.spec];
const overTime = (spec) => panelsOf(spec).some((panel) => panel.layer.some(isTime));
// A specification whose axes of time have the shown span, and the rows that are in it, with the next on either side.
const inSpan = (spec, rows) => {
  if (!overTime(spec)) return { spec, rows };
  const [from, to] = spanOfTimes(endOfTimes());
  if (!(to > from)) return { spec, rows };
  const narrowed = (layer) => (isTime(layer) ? { ...layer, encoding: { ...layer.encoding, x: { ...layer.encoding.x, scale: { ...layer.encoding.x.scale, domain: [from, to], nice: false, zero: false } } } } : layer);
  const panel = (one) => ({ ...one, layer: one.layer.map(narrowed) });
  const within = (some) => {
    const times = some.map((row) => row.time_s).filter((time) => time !== undefined);
    if (!times.length) return some;
    const before = Math.max(...times.filter((time) => time <= from), -Infinity), after = Math.min(...times.filter((time) => time >= to), Infinity);
    return some.filter((row) => row.time_s >= before && row.time_s <= after);
  };
  return {
    spec: spec.concat ? { ...spec, concat: spec.concat.map(panel) } : { ...spec, spec: panel(spec.spec) },
    rows: Object.fromEntries(Object.entries(rows).map(([name, some]) => [name, within(some)])),
  };
};
// The events at the chosen point, for figures with these layers.
const eventRows = () => rowsOf(frames.events, (row) => row.point === state.point);

// The panels of time of each drawn chart: { chart, back } with the shape behind the panel.
const timePanels = new Map();
const SHAPES = "http://www.w3.org/2000/svg";
const shape = (tag, attributes) => {
  const made = document.createElementNS(SHAPES, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
const takePanels = (id, spec) => {
  const timed = panelsOf(spec).map((panel) => panel.layer.some(isTime));
  const backs = [...element(id).querySelectorAll(".role-scope:not([class*=pathgroup]) > g > path.background")];
  timePanels.set(id, backs.filter((_, at) => timed[spec.concat ? at : 0]).map((back) => {
    const { width, height } = back.getBBox(), mark = shape("g", { class: "cursor" });
    const line = shape("line", { y1: 0, y2: height }), band = shape("rect", { y: 0, height }), label = shape("text", { y: height - 6 });
    mark.append(band, line, label);
    back.parentNode.append(mark);
    return { id, back, width, height, mark, line, band, label };
  }));
  showCursor();
};

// The cursor is a time in seconds, or null; the band is what is being chosen.
const cursor = { time: null, from: null };
const cursorWatchers = [];
const showCursor = () => {
  const [from, to] = spanOfTimes(endOfTimes()), at = cursor.time;
  for (const { width, mark, line, band, label } of [...timePanels.values()].flat()) {
    const place = (time) => (time - from) / (to - from) * width;
    mark.toggleAttribute("hidden", at === null || at < from || at > to);
    if (mark.hasAttribute("hidden")) continue;
    for (const name of ["x1", "x2"]) line.setAttribute(name, place(at));
    const [left, right] = cursor.from === null ? [0, 0] : [Math.min(at, cursor.from), Math.max(at, cursor.from)].map(place);
    band.setAttribute("x", left);
    band.setAttribute("width", right - left);
    label.textContent = quantity("s", at);
    const beyond = place(at) > width / 2;
    label.setAttribute("x", place(at) + (beyond ? -5 : 5));
    label.setAttribute("text-anchor", beyond ? "end" : "start");
  }
  for (const watcher of cursorWatchers) watcher(at);
};
const moveCursor = (time) => {
  cursor.time = time;
  showCursor();
};

const zoomTo = (from, to) => {
  const end = endOfTimes(), [low, high] = [Math.max(0, Math.min(from, to)), Math.min(end, Math.max(from, to))];
  const whole = low <= 0 && high >= end;
  change({ zoom: whole ? "" : `${short(low)}..${short(high)}` });
  say(whole ? "The whole time is shown" : `${quantity("s", low)} to ${quantity("s", high)} is shown`);
};
const zoomBy = (factor) => {
  const [from, to] = spanOfTimes(endOfTimes()), middle = cursor.time ?? (from + to) / 2;
  zoomTo(middle - (middle - from) * factor, middle + (to - middle) * factor);
};
const KEYS = {
  ArrowLeft: () => stepCursor(-1), ArrowRight: () => stepCursor(1), "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2),
  0: () => change({ zoom: "" }), Escape: () => moveCursor(null),
};
const STEPS_ACROSS = 50;
const stepCursor = (by) => {
  const [from, to] = spanOfTimes(endOfTimes());
  moveCursor(cursor.time === null ? (from + to) / 2 : Math.max(from, Math.min(to, cursor.time + by * (to - from) / STEPS_ACROSS)));
  say(quantity("s", cursor.time));
};

// The panel under the pointer and the time there; or of the panel in which a choice began.
const timeAt = (id, event, begun = null) => {
  const [from, to] = spanOfTimes(endOfTimes());
  for (const panel of timePanels.get(id) ?? []) {
    const box = panel.back.getBoundingClientRect();
    const within = begun ? panel === begun : event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
    if (within) return { panel, time: from + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (to - from) };
  }
  return null;
};
const LEAST_PIXELS = 5;
const followTimes = (id) => {
  const at = element(id);
  let begun = null;
  at.tabIndex = 0;
  at.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight + - 0");
  at.addEventListener("pointermove", (event) => moveCursor(timeAt(id, event, begun?.panel)?.time ?? null));
  at.addEventListener("pointerleave", () => { if (!begun) moveCursor(null); });
  at.addEventListener("pointerdown", (event) => {
    const found = timeAt(id, event);
    if (!found || event.button || event.pointerType === "touch") return;
    begun = { ...found, x: event.clientX };
    cursor.from = found.time;
    at.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  at.addEventListener("pointerup", (event) => {
    if (!begun) return;
    const found = timeAt(id, event, begun.panel), { time, x } = begun;
    begun = cursor.from = null;
    showCursor();
    if (found && Math.abs(event.clientX - x) >= LEAST_PIXELS) zoomTo(time, found.time);
  });
  at.addEventListener("pointercancel", () => { begun = cursor.from = null; moveCursor(null); });
  at.addEventListener("dblclick", (event) => { if (timeAt(id, event)) change({ zoom: "" }); });
  at.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
};
element("whole").addEventListener("click", () => {
  change({ zoom: "" });
  say("The whole time is shown");
});
onChange((keys) => { if (keys.includes("zoom")) element("whole").hidden = !state.zoom; });
