// The figures of the comparison: which specification and which rows are shown.
const kindOf = Object.fromEntries(page.metrics.map(({ key, kind }) => [key, kind]));
const metricNames = [...new Set(page.metrics.map(({ key }) => key))];
const classNames = page.classes.length > 1 ? [...page.classes, "all"] : page.classes;
const values = (point) => page.values[point];
// The points that differ from the chosen one at most in the key of the horizontal axis.
const alongside = () => page.points.map((_, at) => at).filter((at) =>
  values(at).every((value, key) => key === page.axis || value === values(state.point)[key]));
// The points of a chart by class: along its axis, all if they are few, or the chosen one.
const MOST_POINTS = 8;
const pointsShown = () => (page.axis !== null ? alongside() : page.points.length <= MOST_POINTS ? page.points.map((_, at) => at) : [state.point]);

const NAMES = { point: (at) => page.points[at], scheme: schemeName, class: (at) => classNames[at], metric: (at) => metricNames[at] };
const named = (row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, NAMES[key] ? NAMES[key](value) : value]));
const seenClass = (at) => (at < page.classes.length ? !state.without.includes(at) : !state.without.length);

// A table as columns for CSV, with the ends of intervals in place of `half`.
const columnsOf = (name) => {
  const own = Object.keys(frames[name]), at = own.indexOf("half");
  const rows = rowsOf(frames[name]).map((row) => Object.values(named(row)));
  if (at < 0) return { columns: own, rows };
  return { columns: [...own.slice(0, at), "low", "high"], rows: rows.map((row) => [...row.slice(0, at), ...ends(row[at - 1], row[at])]) };
};

const chartFrom = (id, { tables, kinds, toggles, measures }) => {
  const measure = () => measures[state[id]] ?? measures[0];
  const rows = (name) => rowsOf(frames[name], (row) => (measures.length ? pointsShown().includes(row.point) && metricNames[row.metric] === measure() : row.point === state.point)
    && seen(row.scheme) && (row.class === undefined || seenClass(row.class))).map((row) => ({
    ...named(row), place: row.scheme, ...(measures.length ? { x: values(row.point)[page.axis], here: Number(page.axis !== null && row.point === state.point) } : {}),
  }));
  const specOf = () => specs.figures[id][measure() ?? ""][toggles.filter(on).join(",")];
  return {
    needs: ["point", "hide", "without", "flip", ...(overTime(specOf()) ? ["zoom"] : []), id],
    chart: (room) => chartOf(specOf(), Object.fromEntries(tables.map((name) => [name, rows(name)])), room),
    data: () => {
      const each = tables.map(columnsOf), columns = [...new Set(each.flatMap((one) => one.columns))], metric = columns.indexOf("metric");
      const kind = (name, row) => kinds[name] || (name in kinds ? kindOf[row[metric]] : ["low", "high"].includes(name) ? kinds.half : "text");
      return { columns, kinds: (row) => columns.map((name) => kind(name, row)),
        rows: each.flatMap((one) => one.rows.map((row) => columns.map((name) => row[one.columns.indexOf(name)] ?? null)))
          .filter((row) => !measures.length || measures.includes(row[metric])) };
    },
  };
};
for (const [id, figure] of Object.entries(page.figures)) if (element(id)) charts[id] = chartFrom(id, figure);
