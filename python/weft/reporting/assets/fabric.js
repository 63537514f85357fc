// The drawing of the fabric: use of links, over time, as a difference of two schemes; and the series of one link.
const lineMarks = [...document.querySelectorAll(".fabric .links line")];
const drawn = document.querySelector(".fabric");
const DIFFERS = 0.02;
let playing = null;

// Half the width of an interval, from the whole number in the page (`_coarse` in details.py).
const widthOf = (coarse) => (coarse <= 20 ? coarse : 20 * Math.exp(coarse / 20 - 1));
// The kind of what is told of links, and how much one is of the page's whole numbers.
const TOLD = { utilisation: { kind: "share", most: 1 }, queue: { kind: "bytes", most: Infinity }, drops: { kind: "count", most: Infinity } };
const scalesOf = (series) => ({ utilisation: 1 / 1000, queue: series?.unit ?? 1, drops: 1 / 10 });

// What is told under a scheme: arrays by name, and `half` with those of the halves of intervals, if there are any.
const scaled = (own, half, scales) => {
  const each = (arrays, read) => Object.fromEntries(Object.keys(TOLD).filter((name) => arrays?.[name])
    .map((name) => [name, arrays[name].map((value) => short(read(value) * scales[name]))]));
  return { ...each(own, Number), half: each(half, widthOf) };
};
// Some values of a scheme's series, as chosen from each of its arrays.
const someOf = (series, name, chosen) => {
  const [own, half] = [series, series.half].map((all) => Object.fromEntries(["utilisation", "queue"]
    .filter((one) => all[one][name]).map((one) => [one, chosen(all[one][name])])));
  return scaled(own, half, scalesOf(series));
};
const inSteps = (series) => state.time >= 0 && series;
// The values of all links; null if there are none.
const valuesOf = (use, series, scheme) => {
  const name = schemeName(scheme), count = page.links.length;
  if (inSteps(series) && series.utilisation[name]) {
    const from = Math.min(state.time, stepsOf(series) - 1) * count;
    return someOf(series, name, (all) => all.slice(from, from + count));
  }
  const own = use?.schemes[name];
  return own ? scaled(own, own.half, scalesOf(null)) : null;
};
// Half the interval of the difference of the two schemes chosen, for one link: paired by seed, else of independent means.
const pairOfSchemes = (use, series) => (inSteps(series) ? null
  : use?.pairs.find(([i, j]) => i === Math.min(state.scheme, state.second) && j === Math.max(state.scheme, state.second))?.[2]);
const halfBetween = (paired, one, two, view, i) => {
  if (paired) return widthOf(paired[view][i]) * scalesOf(null)[view];
  const halves = [one, two].map(({ half }) => half[view]?.[i]);
  return halves.includes(undefined) ? null : Math.hypot(...halves);
};
// A value with its interval in brackets: "43.0 % used (40.1 % to 46.0 %)".
const toldOf = (values, name, i, word = "") => {
  const { kind, most } = TOLD[name], value = values[name][i], half = values.half[name]?.[i];
  return quantity(kind, value) + word + (half === undefined ? "" : ` (${span(kind, ...ends(value, half, most))})`);
};
const BRACKETS = "In brackets: 95 % interval of the mean over seeds";

const stepsOf = (series) => series.utilisation[Object.keys(series.utilisation)[0]].length / page.links.length;
const timeOf = (series, at) => at < 0 ? "measurement window"
  : `${quantity("s", at * series.step)} to ${quantity("s", (at + 1) * series.step)}`;

const shownLinks = async () => {
  const [use, series] = await Promise.all([part("use", state.point), part("series", state.point)]);
  const [one, two] = [valuesOf(use, series, state.scheme), state.minus ? valuesOf(use, series, state.second) : null];
  return { series, one, two, paired: pairOfSchemes(use, series) };
};

// The lines of a link's tooltip.
const usedBy = (values, i) => [toldOf(values, "utilisation", i, " used"), ...(values.drops ? [toldOf(values, "drops", i, " drops per run")] : []),
  ...(values.queue ? [`largest queue ${toldOf(values, "queue", i)}`] : [])];
const differenceOf = ({ one, two, paired }, view, i) => {
  const { kind } = TOLD[view], change = one[view][i] - two[view][i], half = halfBetween(paired, one, two, view, i);
  const interval = half === null ? "" : ` (${signed(kind, change - half)} to ${signed(kind, change + half)})`;
  return [`${schemeName(state.scheme)} ${toldOf(one, view, i)}`, `${schemeName(state.second)} ${toldOf(two, view, i)}`,
    `difference ${signed(kind, change)}${interval}`];
};

const paint = async () => {
  const shown = await shownLinks(), { series, one, two } = shown;
  const view = state.view, { kind } = TOLD[view];
  const [own, less] = [one?.[view], two?.[view]];
  const largest = view === "utilisation" ? 1 : Math.max(1, ...(own ?? []), ...(less ?? []));
  const compared = state.minus && less;
  lineMarks.forEach((line, i) => {
    line.classList.toggle("chosen", i === state.link);
    const text = [page.titles[i]];
    if (!line.classList.contains("down")) {
      const base = `l${i === state.link ? " chosen" : ""}`;
      if (!own) line.setAttribute("class", base);
      else if (compared) {
        const change = (own[i] - less[i]) / largest;
        const step = Math.round((Math.max(-1, Math.min(1, change)) + 1) / 2 * page.steps);
        line.setAttribute("class", `${base} d${step}`);
        text.push(...differenceOf(shown, view, i));
      } else {
        line.setAttribute("class", `${base} u${Math.round(Math.min(own[i] / largest, 1) * page.steps)}`);
        text.push(...usedBy(one, i));
      }
      if (own) text.push(one.half[view] ? BRACKETS : "95 % interval: none (one seed)");
    }
    line.firstElementChild.textContent = text.join("\n");
  });
  document.querySelector(".scale .use").hidden = Boolean(compared);
  document.querySelector(".scale .change").hidden = !compared;
  const full = view === "queue" ? quantity("bytes", largest) : "100 %";
  element("scale-low").textContent = compared ? `${schemeName(state.second)} more (${full})` : view === "queue" ? "empty" : "idle";
  element("scale-high").textContent = compared ? `${schemeName(state.scheme)} more (${full})` : view === "queue" ? full : "fully used";
  drawn.setAttribute("aria-label", summaryOf(shown, view));
};

// The drawing in words.
const summaryOf = ({ series, one, two }, view) => {
  const [own, less] = [one?.[view], two?.[view]];
  if (!own?.length) return "The fabric; no data about its links here.";
  const when = series ? `, ${timeOf(series, state.time)}` : "";
  const score = own.map((value, i) => (less ? Math.abs(value - less[i]) : value));
  const top = score.indexOf(Math.max(...score));
  if (!less) return `Fabric under ${schemeName(state.scheme)}${when}: most on ${page.links[top]}, ${toldOf(one, view, top)}`;
  const count = score.filter((value) => value > DIFFERS).length;
  return `Fabric, ${schemeName(state.scheme)} minus ${schemeName(state.second)}${when}: ${plural(count, "link")} differ; most ${page.links[top]}`;
};

// How the interval of the difference was made.
const differenceNote = async (series) => {
  if (!state.minus) return [];
  const use = await part("use", state.point), [one, two] = [state.scheme, state.second].map((at) => valuesOf(use, series, at));
  if (!one || !two || halfBetween(null, one, two, "utilisation", 0) === null) return [];
  return [pairOfSchemes(use, series) ? "The interval of a difference is paired by seed."
    : "The interval of a difference takes the seeds of both schemes as independent: its half is the root of the sum of the squares of both halves."];
};

// The slider: -1 is the whole measurement window.
const slider = element("time");
const showTime = async () => {
  const series = await part("series", state.point);
  const covered = page.parts.series.length, points = page.points.length;
  const notes = [];
  if (!series) {
    notes.push(covered ? `The series of links are kept for ${covered} of ${points} points, to keep the page small; this one is left out.`
      : "There are no series of links: none was sampled.");
  } else if (covered < points) notes.push(`The series of links are kept for ${covered} of ${points} points, to keep the page small.`);
  if (!page.parts.use.includes(state.point)) notes.push("The use of links at this point is left out of the page.");
  slider.disabled = element("play").disabled = !series;
  slider.max = series ? stepsOf(series) - 1 : -1;
  slider.value = state.time;
  const text = series ? (state.time < 0 ? "whole measurement window" : timeOf(series, Math.min(state.time, stepsOf(series) - 1))) : "measurement window";
  element("clock").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  if (series) notes.push(`One step is ${quantity("s", series.step)}; utilisation is its mean, the queue its largest sample, both averaged over seeds.`);
  notes.push(...await differenceNote(series));
  element("time-note").textContent = notes.join(" ");
  const length = series ? series.step * stepsOf(series) : 1;
  element("time-events").replaceChildren(...(series?.events ?? []).filter(({ at }) => at < length).map(({ at, text: what }) => {
    const step = Math.min(Math.floor(at / series.step), stepsOf(series) - 1);
    const told = `${quantity("s", at)}: ${what}`;
    const button = make("button", { type: "button", title: told, "aria-label": `Event at ${told}` });
    button.style.left = `${((step + 1) / stepsOf(series)) * 100}%`;
    button.addEventListener("click", () => change({ time: step }));
    return button;
  }));
};
slider.addEventListener("input", () => change({ time: Number(slider.value) }, { quiet: true }));

const stop = () => {
  clearInterval(playing);
  playing = null;
  element("play").setAttribute("aria-pressed", "false");
  element("play").textContent = "Play";
};
element("play").addEventListener("click", () => {
  if (playing !== null) { stop(); return; }
  element("play").setAttribute("aria-pressed", "true");
  element("play").textContent = "Pause";
  if (state.time >= Number(slider.max)) change({ time: 0 }, { quiet: true });
  playing = setInterval(() => {
    if (state.time >= Number(slider.max)) stop();
    else change({ time: state.time + 1 }, { quiet: true });
  }, 400);
});

// The link nearest to a click.
const nearest = (event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawn.getScreenCTM().inverse());
  let found = -1, least = 9;
  lineMarks.forEach((line, i) => {
    const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const along = Math.max(0, Math.min(1, ((at.x - x1) * (x2 - x1) + (at.y - y1) * (y2 - y1)) / length));
    const far = Math.hypot(at.x - x1 - along * (x2 - x1), at.y - y1 - along * (y2 - y1));
    if (far < least) [found, least] = [i, far];
  });
  return found;
};
drawn.addEventListener("click", (event) => {
  const found = nearest(event);
  if (found >= 0) change({ link: found });
});

// The series of the chosen link, under all schemes shown.
const seriesOf = async () => {
  const series = await part("series", state.point);
  if (!series || state.link < 0) return [];
  const count = page.links.length, steps = stepsOf(series);
  return seenSchemes().map(schemeName).filter((name) => series.utilisation[name]).flatMap((name) => {
    const own = someOf(series, name, (all) => Array.from({ length: steps }, (_, step) => all[step * count + state.link]));
    const endsOf = (what, step) => ends(own[what][step], own.half[what]?.[step], TOLD[what].most);
    return Array.from({ length: steps }, (_, step) => ({
      scheme: name, time_s: (step + 0.5) * series.step, share: own.utilisation[step], shares: endsOf("utilisation", step),
      bytes: own.queue[step], sizes: endsOf("queue", step),
    }));
  });
};
charts["link-series"] = {
  needs: ["point", "hide", "link", "time"],
  empty: "No series: links that leave hosts are not sampled, nor is any link of a large fabric.",
  chart: async (room) => {
    const series = await part("series", state.point);
    if (!series?.sampled[state.link]) return null;
    const x = { field: "time_s", title: "time in the run", kind: "s" };
    const rows = (await seriesOf()).map((row) => ({ ...row, told_x: quantity("s", row.time_s), told_u: quantity("share", row.share), told_q: quantity("bytes", row.bytes),
      interval_u: span("share", ...row.shares), interval_q: span("bytes", ...row.sizes) }));
    const now = state.time < 0 ? [] : [{ data: { values: [{ now: (state.time + 0.5) * series.step }] },
      mark: { type: "rule", strokeWidth: 1.5, color: colour("soft") }, encoding: { x: { field: "now", type: "quantitative" } } }];
    const panel = (title, field, kind, of) => ({ title, rows, layers: [...now, ...lines(axisOf({ ...x, grid: false }), axisOf({ field, kind }),
      tooltip(["scheme", "scheme"], ["told_x", x.title], [`told_${of}`, `${title}, mean over seeds`], [`interval_${of}`, "95 % interval"]), { strokeWidth: 1.5 })] });
    return chartOf([panel("utilisation", "share", "share", "u"), panel("queue", "bytes", "bytes", "q")], layout(2, room, 90), 170);
  },
  data: async () => ({
    columns: ["scheme", "time_s", "utilisation", "utilisation_low", "utilisation_high", "queue_bytes", "queue_bytes_low", "queue_bytes_high"],
    kinds: () => ["text", "s", "share", "share", "share", "bytes", "bytes", "bytes"],
    rows: (await seriesOf()).map((row) => [row.scheme, row.time_s, row.share, ...row.shares, row.bytes, ...row.sizes]),
  }),
};

const backOf = (link) => {
  const [from, to] = page.links[link].split(" → ");
  return page.links.indexOf(`${to} → ${from}`);
};
const showLink = async () => {
  element("link-panel").hidden = state.link < 0;
  element("reverse").hidden = state.link < 0 || backOf(state.link) < 0;
  if (state.link < 0) return;
  const use = await part("use", state.point);
  const facts = seenSchemes().filter((at) => use?.schemes[schemeName(at)]).map((at) => {
    const own = use.schemes[schemeName(at)], [used, ...more] = usedBy(scaled(own, own.half, scalesOf(null)), state.link);
    return `${schemeName(at)}, measurement window: ${[used, ...more].join(", ")}`;
  });
  const note = facts.length && use.schemes[schemeName(seenSchemes()[0])]?.half ? [BRACKETS] : [];
  element("link-facts").replaceChildren(...[page.titles[state.link], ...facts, ...note].flatMap((text, i) => (i ? [make("br"), text] : [text])));
};
element("reverse").addEventListener("click", () => change({ link: backOf(state.link) }));

const fabricData = async () => {
  const series = await part("series", state.point), use = await part("use", state.point), told = ["utilisation", "queue", "drops"];
  const rows = page.schemes.map((_, at) => at).flatMap((at) => {
    const own = valuesOf(use, series, at);
    const numbers = (name, i) => (own[name] ? [own[name][i], ...ends(own[name][i], own.half[name]?.[i], TOLD[name].most)] : [null, null, null]);
    return own ? page.links.map((name, i) => [schemeName(at), ...name.split(" → "), ...told.flatMap((one) => numbers(one, i))]) : [];
  });
  const columns = ["utilisation", "queue_bytes", "drops_per_run"].flatMap((name) => [name, `${name}_low`, `${name}_high`]);
  const kinds = ["text", "text", "text", ...told.flatMap((name) => Array(3).fill(TOLD[name].kind))];
  return { columns: ["scheme", "from", "to", ...columns], kinds: () => kinds, rows };
};

onChange((keys) => {
  const has = (...names) => names.some((name) => keys.includes(name));
  if (has("point", "scheme", "second", "minus", "view", "time", "link")) paint();
  if (has("point", "time", "minus", "scheme", "second")) showTime();
  if (has("point", "link", "hide")) showLink();
});
