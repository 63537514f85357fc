// The drawing of the fabric: use of links, over time, as a difference of two schemes; and the series of one link.
const lineMarks = [...document.querySelectorAll(".fabric .links line")];
const drawn = document.querySelector(".fabric");
// Links differ if they do by more than this share of the largest value.
const DIFFERS = 0.02;
let playing = null;

const shownLinks = async () => comparedAt(...await Promise.all([part("use", state.point), part("series", state.point)]));

const paint = async () => {
  const shown = await shownLinks(), { use, series, one, two } = shown;
  const view = state.view, down = downAt(series);
  const [own, less] = [one?.[view], two?.[view]];
  const largest = largestOf(shown, view), end = quantity(QUANTITIES[view].kind, largest);
  const compared = state.minus && less;
  lineMarks.forEach((line, i) => {
    const text = [[page.titles[i], ...downText(use, series, down, i)].join(", ")];
    const kinds = ["l", ...(i === state.link ? ["chosen"] : []), ...(down.has(i) ? ["down"] : [])];
    if (own && !DOWN.has(i)) {
      if (compared) {
        const change = (own[i] - less[i]) / largest;
        kinds.push(`d${Math.round((Math.max(-1, Math.min(1, change)) + 1) / 2 * page.steps)}`);
        text.push(...differenceOf(shown, view, i));
      } else {
        kinds.push(`u${Math.round(Math.min(own[i] / largest, 1) * page.steps)}`);
        text.push(...usedBy(one, i));
      }
      if (one.half[view] || two?.half[view]) text.push(BRACKETS);
    }
    line.setAttribute("class", kinds.join(" "));
    line.firstElementChild.textContent = text.join("\n");
  });
  document.querySelector(".scale .use").hidden = Boolean(compared);
  document.querySelector(".scale .change").hidden = !compared;
  const full = compared && view === "utilisation" ? end.replace("%", "points") : end;
  element("scale-low").textContent = compared ? `${schemeName(state.second)} more (${full})` : view === "queue" ? "empty" : "idle";
  element("scale-high").textContent = compared ? `${schemeName(state.scheme)} more (${full})` : view === "queue" ? full : largest === 1 ? "fully used" : `${full} used`;
  drawn.setAttribute("aria-label", summaryOf(shown, view));
};
// The value of the end of the scale.
const largestOf = ({ use, series, one, two }, view) => (view === "utilisation" ? fullOf(use, series) : Math.max(1, ...(one?.[view] ?? []), ...(two?.[view] ?? [])));
// The utilisation at the end of the scale: the same for all schemes at a point, and for all steps, so that drawings can be compared.
const fullOf = (use, series) => {
  const all = stepOf(series) >= 0 ? Object.values(series.utilisation) : Object.values(use?.schemes ?? {}).map((own) => own.utilisation);
  const most = all.reduce((found, values) => values.reduce((a, b) => Math.max(a, b), found), 0) * scalesOf(null).utilisation;
  return page.full.find((one) => most <= one) ?? 1;
};

// The drawing in words.
const summaryOf = (shown, view) => {
  const { series, one, two } = shown, [own, less] = [one?.[view], two?.[view]];
  if (!own?.length) return "The fabric; no data about its links here.";
  const when = series ? `, ${timeOf(series, stepOf(series))}` : "";
  const score = own.map((value, i) => (less ? Math.abs(value - less[i]) : value));
  const top = score.indexOf(Math.max(...score));
  if (!less) return `Fabric under ${schemeName(state.scheme)}${when}: most on ${page.links[top]}, ${withInterval(one, view, top)}`;
  const count = score.filter((value) => value > DIFFERS * largestOf(shown, view)).length;
  return `Fabric, ${schemeName(state.scheme)} minus ${schemeName(state.second)}${when}: ${plural(count, "link")} differ; most ${page.links[top]}, ${differenceText(shown, view, top)}`;
};

// The method of the interval of the difference.
const differenceNote = async () => {
  const { one, two, paired } = await shownLinks();
  if (!one?.half.utilisation || !two?.half.utilisation) return [];
  return [paired ? "The interval of a difference is paired by seed. For drops, it takes the seeds as independent."
    : "The interval of a difference takes the seeds of both schemes as independent: its half-width is the root sum of squares of the two half-widths."];
};

// The slider: -1 is the whole measurement window.
const slider = element("time");
const showTime = async () => {
  const series = await part("series", state.point);
  const covered = page.parts.series.length, points = page.points.length;
  const notes = [];
  if (!series) {
    notes.push(covered ? `The series of links are kept for ${covered} of ${points} points, to keep the page small; this one is left out.`
      : page.unsampled || "There are no series of links: none was sampled.");
  } else if (covered < points) notes.push(`The series of links are kept for ${covered} of ${points} points, to keep the page small.`);
  if (!page.parts.use.includes(state.point)) notes.push("The use of links at this point is left out of the page.");
  slider.disabled = element("play").disabled = !series;
  slider.max = series ? stepsOf(series) - 1 : -1;
  slider.value = state.time;
  const text = series ? (state.time < 0 ? "whole measurement window" : timeOf(series, stepOf(series))) : "measurement window";
  element("clock").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  if (series) notes.push(`One step is ${quantity("s", series.step)}; utilisation is its mean, the queue its largest sample, both averaged over seeds.`);
  notes.push(...await differenceNote());
  element("time-note").textContent = notes.join(" ");
  const length = series ? series.step * stepsOf(series) : 1;
  element("time-events").replaceChildren(...(series?.events ?? []).filter(({ at }) => at < length).map(({ at, text: what }) => {
    const step = Math.min(Math.floor(at / series.step + 1e-6), stepsOf(series) - 1);
    const label = `${quantity("s", at)}: ${what}`;
    const button = make("button", { type: "button", title: label, "aria-label": `Event at ${label}` });
    button.style.left = `${((step + 1) / stepsOf(series)) * 100}%`;
    button.addEventListener("click", () => change({ time: step }));
    return button;
  }));
};
slider.addEventListener("input", () => change({ time: Number(slider.value) }, { quiet: true }));

// The cursor of the figures over time on the slider, and the chosen step in the figures.
cursorWatchers.push(async (at) => {
  const mark = element("time-cursor"), series = await part("series", state.point);
  mark.hidden = at === null || !series;
  if (!mark.hidden) mark.style.left = `${Math.min(1, (at / series.step + 1) / stepsOf(series)) * 100}%`;
});
slider.addEventListener("input", async () => {
  const series = await part("series", state.point);
  moveCursor(series && state.time >= 0 ? (state.time + 0.5) * series.step : null);
});

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
    const endsOf = (what, step) => ends(own[what][step], own.half[what]?.[step], QUANTITIES[what].most);
    return Array.from({ length: steps }, (_, step) => ({
      scheme: name, time_s: (step + 0.5) * series.step, share: own.utilisation[step], shares: endsOf("utilisation", step),
      bytes: own.queue[step], sizes: endsOf("queue", step),
    }));
  });
};
charts["link-series"] = {
  needs: ["point", "hide", "link", "time", "zoom"],
  empty: "No series: links that leave hosts are not sampled, nor is any link of a large fabric.",
  chart: async (room) => {
    const series = await part("series", state.point);
    if (!series?.sampled[state.link]) return null;
    const rows = (await seriesOf()).map(({ shares, sizes, ...row }) => ({
      ...row, share_low: shares[0], share_high: shares[1], bytes_low: sizes[0], bytes_high: sizes[1],
    }));
    const now = [{ time_s: (Math.max(state.time, 0) + 0.5) * series.step, chosen: Number(state.time >= 0) }];
    return chartOf(specs.link, { link: rows, now }, room, { axis: 90 });
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
  const i = state.link, [use, series] = await Promise.all([part("use", state.point), part("series", state.point)]);
  const when = timeOf(series, stepOf(series));
  const known = seenSchemes().map((at) => [schemeName(at), valuesOf(use, series, at)]).filter(([, values]) => values);
  const facts = known.map(([name, values]) => `${name}, ${when}: ${usedBy(values, i).join(", ")}`);
  const shown = comparedAt(use, series);
  if (shown.one && shown.two) {
    const differences = Object.keys(QUANTITIES).filter((name) => shown.one[name] && shown.two[name]).map((name) => `${QUANTITIES[name].title} ${differenceText(shown, name, i)}`);
    facts.push(`${schemeName(state.scheme)} minus ${schemeName(state.second)}, ${when}: ${differences.join(", ")}`);
  }
  const note = known.some(([, values]) => values.half.utilisation) ? [BRACKETS] : [];
  const title = [page.titles[i], ...downText(use, series, downAt(series), i)].join(", ");
  element("link-facts").replaceChildren(...[title, ...facts, ...note].flatMap((text, at) => (at ? [make("br"), text] : [text])));
};
element("reverse").addEventListener("click", () => change({ link: backOf(state.link) }));

// All links under all schemes; with minus, the rows of the first scheme have its differences from the second.
const fabricData = async () => {
  const series = await part("series", state.point), use = await part("use", state.point), shown = comparedAt(use, series);
  const names = [...DRAWN, "drops"], compared = shown.one && shown.two ? names.filter((name) => shown.one[name] && shown.two[name]) : [];
  const none = [null, null, null];
  const rows = page.schemes.map((_, at) => at).flatMap((at) => {
    const own = valuesOf(use, series, at);
    const numbers = (name, i) => (own[name] ? [own[name][i], ...ends(own[name][i], own.half[name]?.[i], QUANTITIES[name].most)] : none);
    const changes = (i) => (!compared.length ? [] : at === state.scheme ? [schemeName(state.second), ...compared.flatMap((name) => differenceAt(shown, name, i))]
      : [null, ...compared.flatMap(() => none)]);
    return own ? page.links.map((name, i) => [schemeName(at), ...name.split(" → "), ...names.flatMap((one) => numbers(one, i)), ...changes(i)]) : [];
  });
  const three = (name) => [name, `${name}_low`, `${name}_high`];
  const columns = [...names.flatMap((name) => three(QUANTITIES[name].column)),
    ...(compared.length ? ["minus", ...compared.flatMap((name) => three(`${QUANTITIES[name].column}_difference`))] : [])];
  const kindsOf = (names) => names.flatMap((name) => Array(3).fill(QUANTITIES[name].kind));
  const kinds = ["text", "text", "text", ...kindsOf(names), ...(compared.length ? ["text", ...kindsOf(compared)] : [])];
  return { columns: ["scheme", "from", "to", ...columns], kinds: () => kinds, rows };
};

onChange((keys) => {
  const has = (...names) => names.some((name) => keys.includes(name));
  if (has("point", "scheme", "second", "minus", "view", "time", "link")) paint();
  if (has("point", "time", "minus", "scheme", "second")) showTime();
  if (has("point", "link", "hide", "time", "minus", "scheme", "second")) showLink();
});
