// The charts of the comparison: by class, distributions, time series, queues.
const frames = await unpack("frames");
const kindOf = Object.fromEntries(page.metrics.map(({ key, kind }) => [key, kind]));
const titleOf = Object.fromEntries(page.metrics.map(({ key, title }) => [key, title]));
const metricNames = [...new Set(page.metrics.map(({ key }) => key))];
const values = (point) => page.values[point];
// The points that differ from the chosen one at most in the key of the horizontal axis.
const alongside = () => page.points.map((_, at) => at).filter((at) =>
  values(at).every((value, key) => key === page.axis || value === values(state.point)[key]));

const named = (row) => ({
  ...row,
  ...(row.scheme === undefined ? {} : { scheme: schemeName(row.scheme) }),
  ...(row.point === undefined ? {} : { point: page.points[row.point] }),
});
const classNames = page.classes.length > 1 ? [...page.classes, "all"] : page.classes;
// All rows of a table for CSV, with names.
const table = (name, columns, kinds) => ({
  columns, kinds,
  rows: rowsOf(frames[name]).map((row) => columns.map((column) => {
    if (column === "scheme") return schemeName(row.scheme);
    if (column === "point") return page.points[row.point];
    if (column === "class") return classNames[row.class];
    if (column === "metric") return metricNames[row.metric];
    return row[column];
  })),
});

// The layer of intervals; none with one seed. With `pointed`, only those of the scheme in this selection are seen.
const intervals = (rows, encoding, pointed) => (rows.some((row) => row.bottom !== null) ? [{
  transform: [{ filter: "isValid(datum.bottom)" }], mark: { type: "rule", strokeWidth: 1.6, color: colour("ink") },
  encoding: { ...encoding, ...(pointed ? { opacity: { condition: { param: pointed, empty: false, value: 1 }, value: 0 } } : {}) },
}] : []);

// By class: the metric with its interval over the sweep, or bars without a numeric key.
const byClass = (figure) => {
  const metricAt = () => page.metricsOf[figure][state[figure]]?.[0] ?? page.metricsOf[figure][0][0];
  const rows = (points) => rowsOf(frames.intervals, (row) => metricNames[row.metric] === metricAt()
    && points.includes(row.point) && seen(row.scheme));
  const told = (row, kind) => ({
    ...row, scheme: schemeName(row.scheme), place: row.scheme, name: page.points[row.point] || "all",
    told: quantity(kind, row.mean), interval: span(kind, row.low, row.high), bottom: row.low === null ? null : row.low,
  });
  const tips = tooltip(["scheme", "scheme"], ["name", "point"], ["told", "mean over seeds"], ["interval", "95 % interval"], ["seeds", "seeds"]);

  const overAxis = (all, kind, log, width) => {
    const xs = [...new Set(all.map((row) => values(row.point)[page.axis]))].sort((a, b) => a - b);
    const shown = seenSchemes();
    // Schemes stand side by side at each value, so that their intervals do not overlap, but nearer to it than to the next.
    const gap = Math.min(...xs.slice(1).map((value, i) => value - xs[i]));
    const step = Math.min((Math.max(xs[xs.length - 1] - xs[0], 1e-12) / width) * 6, (0.7 * gap) / shown.length);
    const dense = width / (xs.length * shown.length) < 4;
    const data = all.map((row) => ({
      ...row, x: values(row.point)[page.axis],
      at: values(row.point)[page.axis] + (shown.indexOf(row.place) - (shown.length - 1) / 2) * (xs.length > 1 ? step : 0),
      bottom: row.low === null ? null : Math.max(row.low, log ? row.mean / 1000 : 0),
    }));
    const x = { ...axisOf({ field: "at", title: page.axisTitle, kind: "number", zero: false, ...(xs.length > 10 ? { ticks: 5 } : { values: xs }), grid: false, padding: 16 }) };
    x.axis.format = "~g";
    const y = axisOf({ field: "mean", kind, log, rows: all });
    const here = values(state.point)[page.axis];
    // All intervals of many schemes at many values would be a thicket.
    const pointed = all.length > page.crowded ? `pointed_${all[0].class}` : null;
    const select = { type: "point", on: "pointerover", clear: "pointerout", fields: ["scheme"] };
    return { data, layers: [
      { data: { values: [{ here }] }, mark: { type: "rule", strokeWidth: 14, opacity: 0.25, color: colour("edge") },
        encoding: { x: { field: "here", type: "quantitative" } } },
      { mark: { type: "line", strokeWidth: 2, opacity: 0.9 }, encoding: { x, y, ...ofScheme("color", "strokeDash") } },
      ...intervals(data, { x, y: { ...y, field: "bottom" }, y2: { field: "high" }, ...ofScheme("color") }, pointed),
      { ...(pointed ? { params: [{ name: pointed, select }] } : {}),
        mark: { type: "point", filled: true, size: dense ? 24 : 62, opacity: 1 }, encoding: { x, y, ...ofScheme("color", "shape"), tooltip: tips } },
    ] };
  };
  const asBars = (all, kind, log, width) => {
    const many = new Set(all.map((row) => row.point)).size > 1;
    const order = seenSchemes().map(schemeName);
    const x = { field: many ? "name" : "scheme", type: "nominal", title: null, sort: null,
      axis: { labelAngle: many || order.length > Math.max(2, width / 90) ? -30 : 0, grid: false, labelOverlap: false, labelLimit: 110 } };
    const inner = many ? { xOffset: { field: "scheme", type: "nominal", sort: order } } : {};
    const y = axisOf({ field: "mean", kind, log, rows: all });
    const mark = log ? { type: "point", filled: true, size: 70, opacity: 1 } : { type: "bar", cornerRadiusEnd: 2 };
    return { data: all, layers: [
      { mark, encoding: { x, y, ...ofScheme("color", ...(log ? ["shape"] : [])), ...inner, tooltip: tips } },
      ...intervals(all, { x, y: { ...y, field: "bottom" }, y2: { field: "high" }, ...inner }),
    ] };
  };
  return {
    needs: ["point", "hide", "without", "flip", figure],
    chart: (room) => {
      const kind = kindOf[metricAt()], log = on(`${figure}-y`);
      const numeric = page.axis !== null && alongside().length > 1;
      const points = numeric ? alongside() : page.points.length <= 8 && page.axis === null ? page.points.map((_, at) => at) : [state.point];
      const found = rows(points).filter((row) => !log || row.mean > 0).map((row) => told(row, kind));
      const classes = seenClasses().filter((at) => found.some((row) => row.class === at));
      if (!classes.length) return null;
      const size = layout(classes.length, room, 70);
      const panels = classes.map((at) => {
        const { data, layers } = (numeric ? overAxis : asBars)(found.filter((row) => row.class === at), kind, log, size.width);
        return { title: page.classes[at], rows: data, layers };
      });
      return chartOf(panels, size, 230);
    },
    data: () => {
      const all = table("intervals", ["point", "scheme", "class", "metric", "mean", "low", "high", "seeds"]);
      const wanted = page.metricsOf[figure].map(([key]) => key);
      const rows = all.rows.filter((row) => wanted.includes(row[3]));
      const kinds = (row) => ["text", "text", "text", "text", kindOf[row[3]], kindOf[row[3]], kindOf[row[3]], "count"];
      return { columns: all.columns, kinds, rows };
    },
  };
};

const lineRows = (name, x, y, at, more = () => true) =>
  rowsOf(frames[name], (row) => row.point === state.point && seen(row.scheme) && more(row)).map((row) => ({
    ...named(row), class: row.class, told_x: quantity(x.kind, row[x.field]), told_y: quantity(y.kind, row[y.field]),
    ...("half" in row ? { interval: span(y.kind, ...ends(row[y.field], row.half)) } : {}),
  }));
// The tooltip of means over seeds: time, value, interval.
const timed = (x, y) => tooltip(["scheme", "scheme"], ["told_x", x.title], ["told_y", `${y.title}, mean over seeds`], ["interval", "95 % interval"]);
// A table of means with the ends of their intervals in place of `half`.
const withEnds = (name, columns, field) => {
  const all = table(name, columns, null), at = columns.indexOf(field);
  const rows = all.rows.map((row, i) => [...row, ...ends(row[at], frames[name].half[i])]);
  return { columns: [...columns, "low", "high"], rows };
};
const positive = (rows, ...fields) => rows.filter((row) => fields.every((field) => row[field] > 0));

const completionCurves = {
  needs: ["point", "hide", "without", "flip"],
  chart: (room) => {
    const [ccdf, logX, logY] = [on("ccdf"), on("curves-x"), on("curves-y")];
    const x = { field: "fct_s", title: "flow completion time", kind: "s" };
    const y = { field: "share", title: ccdf ? "share that takes longer" : "share of flows", kind: "share" };
    let rows = lineRows("curves", x, y);
    if (ccdf) rows = rows.map((row) => ({ ...row, share: Math.max(1 - row.share, 0), told_y: quantity("share", Math.max(1 - row.share, 0)) }));
    rows = positive(rows, ...(logX ? ["fct_s"] : []), ...(logY ? ["share"] : []));
    const classes = seenClasses().filter((at) => rows.some((row) => row.class === at));
    if (!classes.length) return null;
    const tips = tooltip(["scheme", "scheme"], ["told_x", x.title], ["told_y", y.title]);
    return chartOf(classes.map((at) => {
      const own = rows.filter((row) => row.class === at);
      const across = axisOf({ ...x, log: logX, rows: own, nice: false, ticks: 4, grid: true });
      const up = logY ? axisOf({ ...y, log: true, rows: own, labels: "1" }) : axisOf({ ...y, domain: [0, 1] });
      return { title: page.classes[at], rows: own, layers: lines(across, up, tips, { interpolate: "step-after" }) };
    }), layout(classes.length, room), 220);
  },
  data: () => ({ ...table("curves", ["point", "scheme", "class", "fct_s", "share"]), kinds: () => ["text", "text", "text", "s", "share"] }),
};

const overTime = {
  needs: ["point", "hide", "without", "flip"],
  chart: (room) => {
    const x = { field: "time_s", title: "time in the run", kind: "s" }, y = { field: "bps", title: "delivered", kind: "bps" };
    const log = on("over-time-y");
    const rows = log ? positive(lineRows("delivered", x, y), "bps") : lineRows("delivered", x, y);
    const classes = [...seenClasses(), ...(classNames.length > page.classes.length && !state.without.length ? [page.classes.length] : [])];
    const there = classes.filter((at) => rows.some((row) => row.class === at));
    if (!there.length) return null;
    const tips = timed(x, y);
    return chartOf(there.map((at) => {
      const own = rows.filter((row) => row.class === at);
      const layers = lines(axisOf({ ...x, ticks: 4, grid: false }), axisOf({ ...y, log, rows: own }), tips, { strokeWidth: 1.5, opacity: 0.9 });
      return { title: classNames[at], rows: own, layers };
    }), layout(there.length, room, 96), 190);
  },
  data: () => ({ ...withEnds("delivered", ["point", "scheme", "class", "time_s", "bps"], "bps"), kinds: () => ["text", "text", "text", "s", "bps", "bps", "bps"] }),
};

const queueCharts = {
  needs: ["point", "hide", "flip"],
  chart: (room) => {
    const time = { field: "time_s", title: "time in the run", kind: "s" };
    const size = { field: "bytes", title: "queued bytes", kind: "bytes" }, share = { field: "share", title: "share of samples", kind: "share" };
    const [logX, logY] = [on("queues-x"), on("queues-y")];
    const all = lineRows("largest", time, size), over = logX ? positive(all, "bytes") : all, exceeding = positive(lineRows("exceedance", size, share), "bytes", "share");
    if (!exceeding.length) return null;
    const fit = layout(2, room, 96);
    const up = axisOf({ ...share, log: logY, rows: exceeding, labels: "1" });
    return chartOf([
      { title: "fullest port over time", rows: over, layers: lines(axisOf({ ...time, ticks: 5, grid: false }), axisOf({ ...size, log: logX, rows: over }),
        timed(time, size), { strokeWidth: 1.5, opacity: 0.9 }) },
      { title: "queue length, all ports", rows: exceeding, layers: lines(axisOf({ ...size, log: logX, rows: exceeding, grid: false, nice: false }), up,
        tooltip(["scheme", "scheme"], ["told_x", size.title], ["told_y", share.title]), { interpolate: "step-before" }) },
    ], fit, 210);
  },
  data: () => {
    const over = withEnds("largest", ["point", "scheme", "time_s", "bytes"], "bytes").rows.map((row) => [...row, null]);
    const exceeding = table("exceedance", ["point", "scheme", "bytes", "share"]).rows.map(([point, scheme, bytes, share]) => [point, scheme, null, bytes, null, null, share]);
    return { columns: ["point", "scheme", "time_s", "bytes", "low", "high", "share"],
      kinds: () => ["text", "text", "s", "bytes", "bytes", "bytes", "share"], rows: [...over, ...exceeding] };
  },
};

if (page.metricsOf.completion?.length) charts.completion = byClass("completion");
if (page.metricsOf.throughput?.length) charts.throughput = byClass("throughput");
if (frames.curves) charts.curves = completionCurves;
if (frames.delivered) charts["over-time"] = overTime;
if (frames.exceedance) charts.queues = queueCharts;
