// The drawing of the fabric: use of links, over time, as a difference of two schemes; and the series of one link.
const lineMarks = [...document.querySelectorAll(".fabric .links line")];
const drawn = document.querySelector(".fabric");
const DIFFERS = 0.02;
let playing = null;

// The values of all links of a scheme as shares of full scale, with their texts; null if there are none.
const valuesOf = (use, series, scheme) => {
  const name = schemeName(scheme), count = page.links.length;
  if (state.time >= 0 && series?.utilisation[name]) {
    const from = Math.min(state.time, stepsOf(series) - 1) * count;
    const [u, q] = [series.utilisation[name], series.queue[name]].map((all) => all.slice(from, from + count));
    return { utilisation: u.map((value) => value / 1000), queue: q.map((value) => value * series.unit) };
  }
  const own = use?.[name];
  if (!own) return null;
  return { utilisation: own.utilisation.map((value) => value / 1000), queue: own.queue ?? null, drops: own.drops?.map((value) => value / 10) };
};
const stepsOf = (series) => series.utilisation[Object.keys(series.utilisation)[0]].length / page.links.length;
const timeOf = (series, at) => at < 0 ? "measurement window"
  : `${quantity("s", at * series.step)} to ${quantity("s", (at + 1) * series.step)}`;

const shownLinks = async () => {
  const [use, series] = await Promise.all([part("use", state.point), part("series", state.point)]);
  return { series, one: valuesOf(use, series, state.scheme), two: state.minus ? valuesOf(use, series, state.second) : null };
};

const paint = async () => {
  const { series, one, two } = await shownLinks();
  const view = state.view, kind = view === "queue" ? "bytes" : "share";
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
        text.push(`${schemeName(state.scheme)} ${quantity(kind, own[i])}`, `${schemeName(state.second)} ${quantity(kind, less[i])}`);
      } else {
        line.setAttribute("class", `${base} u${Math.round(Math.min(own[i] / largest, 1) * page.steps)}`);
        text.push(`${quantity("share", one.utilisation[i])} used`);
        if (one.drops) text.push(`${quantity("count", one.drops[i])} drops per run`);
        if (one.queue) text.push(`largest queue ${quantity("bytes", one.queue[i])}`);
      }
    }
    line.firstElementChild.textContent = text.join(", ");
  });
  document.querySelector(".scale .use").hidden = Boolean(compared);
  document.querySelector(".scale .change").hidden = !compared;
  const full = view === "queue" ? quantity("bytes", largest) : "100 %";
  element("scale-low").textContent = compared ? `${schemeName(state.second)} more (${full})` : view === "queue" ? "empty" : "idle";
  element("scale-high").textContent = compared ? `${schemeName(state.scheme)} more (${full})` : view === "queue" ? full : "fully used";
  drawn.setAttribute("aria-label", summaryOf(own, less, kind, series));
};

// The drawing in words.
const summaryOf = (own, less, kind, series) => {
  if (!own?.length) return "The fabric; no data about its links here.";
  const when = series ? `, ${timeOf(series, state.time)}` : "";
  const score = own.map((value, i) => (less ? Math.abs(value - less[i]) : value));
  const top = score.indexOf(Math.max(...score));
  if (!less) return `Fabric under ${schemeName(state.scheme)}${when}: most on ${page.links[top]}, ${quantity(kind, own[top])}`;
  const count = score.filter((value) => value > DIFFERS).length;
  return `Fabric, ${schemeName(state.scheme)} minus ${schemeName(state.second)}${when}: ${plural(count, "link")} differ; most ${page.links[top]}`;
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
  const count = page.links.length;
  return seenSchemes().filter((at) => series.utilisation[schemeName(at)]).flatMap((at) => {
    const name = schemeName(at);
    return Array.from({ length: stepsOf(series) }, (_, step) => ({
      scheme: name, time_s: (step + 0.5) * series.step, share: series.utilisation[name][step * count + state.link] / 1000,
      bytes: series.queue[name][step * count + state.link] * series.unit,
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
    const rows = (await seriesOf()).map((row) => ({ ...row, told_x: quantity("s", row.time_s), told_u: quantity("share", row.share), told_q: quantity("bytes", row.bytes) }));
    const now = state.time < 0 ? [] : [{ data: { values: [{ now: (state.time + 0.5) * series.step }] },
      mark: { type: "rule", strokeWidth: 1.5, color: colour("soft") }, encoding: { x: { field: "now", type: "quantitative" } } }];
    const panel = (title, field, kind, told) => ({ title, rows, layers: [...now, ...lines(axisOf({ ...x, grid: false }), axisOf({ field, kind }),
      tooltip(["scheme", "scheme"], ["told_x", x.title], [told, title]), { strokeWidth: 1.5 })] });
    return chartOf([panel("utilisation", "share", "share", "told_u"), panel("queue", "bytes", "bytes", "told_q")], layout(2, room, 90), 170);
  },
  data: async () => ({
    columns: ["scheme", "time_s", "utilisation", "queue_bytes"], kinds: () => ["text", "s", "share", "bytes"],
    rows: (await seriesOf()).map((row) => [row.scheme, row.time_s, row.share, row.bytes]),
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
  const facts = seenSchemes().filter((at) => use?.[schemeName(at)]).map((at) => {
    const own = use[schemeName(at)], told = [`${schemeName(at)}: ${quantity("share", own.utilisation[state.link] / 1000)} used in the window`];
    if (own.drops) told.push(`${quantity("count", own.drops[state.link] / 10)} drops per run`, `largest queue ${quantity("bytes", own.queue[state.link])}`);
    return told.join(", ");
  });
  element("link-facts").textContent = [page.titles[state.link], ...facts].join(" · ");
};
element("reverse").addEventListener("click", () => change({ link: backOf(state.link) }));

const fabricData = async () => {
  const series = await part("series", state.point), use = await part("use", state.point);
  const rows = page.schemes.map((_, at) => at).flatMap((at) => {
    const own = valuesOf(use, series, at);
    return own ? page.links.map((name, i) => [schemeName(at), ...name.split(" → "), own.utilisation[i], own.queue?.[i] ?? null, own.drops?.[i] ?? null]) : [];
  });
  return { columns: ["scheme", "from", "to", "utilisation", "queue_bytes", "drops_per_run"], kinds: () => ["text", "text", "text", "share", "bytes", "count"], rows };
};

onChange((keys) => {
  const has = (...names) => names.some((name) => keys.includes(name));
  if (has("point", "scheme", "second", "minus", "view", "time", "link")) paint();
  if (has("point", "time")) showTime();
  if (has("point", "link", "hide")) showLink();
});
