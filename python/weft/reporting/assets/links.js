// The values of links: under a scheme, with intervals, as a difference of two schemes, and as text.
// The half-width of an interval, from the whole number in the page (`_coarse` in details.py).
const widthOf = (coarse) => (coarse <= 20 ? coarse : 20 * Math.exp(coarse / 20 - 1));
// The quantities of links: their kinds and largest possible values, names of columns, and words in texts.
const QUANTITIES = {
  utilisation: { kind: "share", most: 1, column: "utilisation", title: "utilisation", before: "", after: " used" },
  drops: { kind: "count", most: Infinity, column: "drops_per_run", title: "drops per run", before: "", after: " drops per run" },
  queue: { kind: "bytes", most: Infinity, column: "queue_bytes", title: "largest queue", before: "largest queue ", after: "" },
};
const DRAWN = ["utilisation", "queue"];
// One step of the page's whole numbers.
const scalesOf = (series) => ({ utilisation: 1 / 1000, queue: series?.unit ?? 1, drops: 1 / 10 });

// The quantities of a scheme as arrays by name, and `half` with those of half-widths, if there are any.
const scaled = (own, half, scales) => {
  const each = (arrays, read) => Object.fromEntries(Object.keys(QUANTITIES).filter((name) => arrays?.[name])
    .map((name) => [name, arrays[name].map((value) => short(read(value) * scales[name]))]));
  return { ...each(own, Number), half: each(half, widthOf) };
};
// Some values of a scheme's series, as chosen from each of its arrays.
const someOf = (series, name, chosen) => {
  const [own, half] = [series, series.half].map((all) => Object.fromEntries(DRAWN
    .filter((one) => all[one][name]).map((one) => [one, chosen(all[one][name])])));
  return scaled(own, half, scalesOf(series));
};
const stepsOf = (series) => series.utilisation[Object.keys(series.utilisation)[0]].length / page.links.length;
// The chosen step of the slider; -1 is the whole measurement window.
const stepOf = (series) => (series ? Math.min(state.time, stepsOf(series) - 1) : -1);
const timeOf = (series, at) => at < 0 ? "measurement window"
  : `${quantity("s", at * series.step)} to ${quantity("s", (at + 1) * series.step)}`;

// The values of all links at the chosen time; null if there are none.
const valuesOf = (use, series, scheme) => {
  const name = schemeName(scheme), count = page.links.length, step = stepOf(series);
  if (step >= 0) return series.utilisation[name] ? someOf(series, name, (all) => all.slice(step * count, (step + 1) * count)) : null;
  const own = use?.schemes[name];
  return own ? scaled(own, own.half, scalesOf(null)) : null;
};

// A value with its interval in brackets: "43.0 % used (40.1 % to 46.0 %)".
const BRACKETS = "In brackets: 95 % interval of the mean over seeds";
const withInterval = (values, name, i, { before, after } = QUANTITIES[name]) => {
  const { kind, most } = QUANTITIES[name], value = values[name][i], half = values.half[name]?.[i];
  return `${before}${quantity(kind, value)}${after} (${half === undefined ? "one seed" : span(kind, ...ends(value, half, most))})`;
};
const usedBy = (values, i) => Object.keys(QUANTITIES).filter((name) => values[name]).map((name) => withInterval(values, name, i));

// Two schemes: `one` minus `two`, and the half-widths paired by seed, if the page has them.
const pairedWidths = (use, series) => (stepOf(series) >= 0 ? null
  : use?.pairs.find(([i, j]) => i === Math.min(state.scheme, state.second) && j === Math.max(state.scheme, state.second))?.[2]);
const comparedAt = (use, series) => {
  const [one, two] = [state.scheme, state.minus ? state.second : -1].map((at) => (at < 0 ? null : valuesOf(use, series, at)));
  return { use, series, one, two, paired: pairedWidths(use, series), unit: scalesOf(stepOf(series) >= 0 ? series : null) };
};
// The difference in one quantity of a link, with the ends of its interval: paired by seed, else of independent means.
const differenceAt = ({ one, two, paired, unit }, name, i) => {
  const scale = unit[name], { most } = QUANTITIES[name];
  const tidy = (value) => short(Math.round(Math.max(-most, Math.min(most, value)) / scale * 10) / 10 * scale);
  const more = (paired?.more[name]?.[i] ?? 0) * (state.scheme < state.second ? scale : -scale);
  const change = one[name][i] - two[name][i] + more;
  const halves = [one, two].map(({ half }) => half[name]?.[i]);
  if (halves.includes(undefined)) return [tidy(change), null, null];
  const half = paired?.[name] ? widthOf(paired[name][i]) * scale : Math.hypot(...halves);
  return [change, change - half, change + half].map(tidy);
};
const differenceText = (shown, name, i) => {
  const { kind } = QUANTITIES[name], [change, low, high] = differenceAt(shown, name, i);
  if (low !== null) return `${signed(kind, change)} (${signed(kind, low)} to ${signed(kind, high)})`;
  const single = [[shown.one, state.scheme], [shown.two, state.second]].filter(([values]) => !values.half[name]).map(([, at]) => schemeName(at));
  return `${signed(kind, change)}: no interval (${single.join(" and ")} ${single.length > 1 ? "have" : "has"} one seed)`;
};
const PLAIN = { before: "", after: "" };
const differenceOf = (shown, name, i) => [`${schemeName(state.scheme)} ${withInterval(shown.one, name, i, PLAIN)}`,
  `${schemeName(state.second)} ${withInterval(shown.two, name, i, PLAIN)}`, `difference ${differenceText(shown, name, i)}`];

// Failures: links that are down in the chosen step, and the words for it.
const DOWN = new Set(page.down);
const downAt = (series) => {
  const step = stepOf(series);
  return step < 0 ? DOWN : new Set([...DOWN, ...(series.down ?? []).filter(([, first, last]) => first <= step && step <= last).map(([i]) => i)]);
};
const downText = (use, series, down, i) => (DOWN.has(i) ? ["down"] : down.has(i) ? ["down in this step"]
  : stepOf(series) < 0 && use?.ended.includes(i) ? ["down at the end of the run"] : []);
