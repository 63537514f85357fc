// Two schemes compared flow by flow.
const pairOf = async () => {
  const found = await part("flows", state.point);
  if (!found?.pairs) return null;
  const [a, b] = [state.scheme, state.second].map((at) => found.schemes.indexOf(schemeName(at)));
  if (a < 0 || b < 0) return null;
  const seconds = (row, i) => (row[i] === 0 ? null : found.low * Math.exp(((row[i] - 1) / 64999) * found.span));
  const rows = found.seed.map((seed, i) => ({
    seed, flow: found.flow[i], class: found.class[i], x: seconds(found.fct[a], i), y: seconds(found.fct[b], i),
  }));
  const swap = a > b;
  const counts = found.pairs.find(([i, j]) => i === Math.min(a, b) && j === Math.max(a, b))?.[2];
  return { total: found.total, rows, counts: counts?.map((numbers) => turned(numbers, swap)) };
};
// The counts of a pair as seen from the reader's first scheme; the ratio is second / first.
const turned = ([faster, slower, equal, one, two, mean, low, high], swap) => {
  const ratio = (value) => (value === null ? null : Math.exp(swap ? value : -value));
  const ends = [ratio(low), ratio(high)].sort((x, y) => x - y);
  return {
    first: swap ? slower : faster, second: swap ? faster : slower, equal, onlyFirst: swap ? two : one, onlySecond: swap ? one : two,
    mean: ratio(mean), low: low === null ? null : ends[0], high: high === null ? null : ends[1],
  };
};

if (element("pairs")) charts.pairs = {
  needs: ["point", "scheme", "second", "without", "flip"],
  empty: "No comparison: flows of this point are left out of the page, or one of the schemes has not finished here.",
  chart: async (room) => {
    const pair = await pairOf();
    const [first, second] = [state.scheme, state.second].map(schemeName);
    const rows = (pair?.rows ?? []).filter((row) => row.x !== null && row.y !== null && !state.without.includes(row.class)).map((row) => ({
      ...row, class: page.classes[row.class], first, second, faster: row.x < row.y ? first : row.y < row.x ? second : "equal",
    }));
    return chartOf(specs.pairs[Number(on("pairs-log"))], { pairs: rows }, room,
      { names: { $first: first, $second: second }, axis: 80, high: (width) => Math.min(width, width > WIDEST ? 460 : 300) });
  },
  data: async () => {
    const pair = await pairOf();
    const rows = (pair?.rows ?? []).map((row) => [row.seed, row.flow, page.classes[row.class], row.x, row.y]);
    return { columns: ["seed", "flow", "class", `fct_s ${schemeName(state.scheme)}`, `fct_s ${schemeName(state.second)}`],
      kinds: () => ["number", "number", "text", "s", "s"], rows };
  },
};

const countPairs = async () => {
  const pair = await pairOf(), at = element("pairs-counts"), note = element("pairs-note");
  if (!pair?.counts) {
    at.replaceChildren();
    note.textContent = "";
    return;
  }
  const [first, second] = [state.scheme, state.second].map(schemeName).map(labelOf);
  const mark = markOf(state.scheme) ?? markOf(state.second);
  const columns = [
    { title: "class", kind: "text" }, { title: "flows", kind: "count" }, { title: `${first} faster`, kind: "share" },
    { title: `${second} faster`, kind: "share" }, { title: "equal", kind: "share" }, { title: `only ${first} finished`, kind: "count" },
    { title: `only ${second} finished`, kind: "count" }, { title: `${second} / ${first}`, kind: "ratio" }, { title: "95 % interval", kind: "text" },
  ];
  const shown = [...page.classes, ...(page.classes.length > 1 ? ["all"] : [])];
  const rows = shown.map((name, i) => {
    const one = pair.counts[name === "all" && i === page.classes.length ? page.classes.length : i];
    const both = one.first + one.second + one.equal, share = (count) => (both ? count / both : null);
    return [labelOf(name), both, share(one.first), share(one.second), share(one.equal), one.onlyFirst, one.onlySecond,
      ...(mark ? [make("span", { class: "bad", title: mark.reason }, mark.label), ""] : [one.mean, span("ratio", one.low, one.high)])];
  }).filter((_, i) => i === page.classes.length || !state.without.includes(i));
  const made = make("table", { class: "data" });
  fill(made, columns, rows);
  at.replaceChildren(made);
  note.textContent = pair.rows.length < pair.total
    ? `${plural(pair.rows.length, "mark")} of ${plural(pair.total, "flow")}: the same number of flows of each class, chosen by a hash of seed and flow.`
    : `All ${plural(pair.total, "flow")}.`;
};
if (element("pairs")) onChange((keys) => {
  if (["point", "scheme", "second", "without", "labels"].some((key) => keys.includes(key))) countPairs();
});
