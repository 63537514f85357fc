"use strict";
// Animates the scenes of an exploration on the fabric's drawing. All data is inline; times are picoseconds.
(() => {
  const data = JSON.parse(document.getElementById("trace").textContent);
  const { stage, links } = data, { nodes } = stage;
  const at = (id) => document.getElementById(id);
  const svg = at("stage");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const make = (name, attributes, parent) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    parent?.append(element);
    return element;
  };
  // Every kind of frame and event has both a shape and a colour.
  const shapes = {
    request: "M6.5 0a6.5 6.5 0 1 1-13 0a6.5 6.5 0 1 1 13 0z",
    reply: "M0-8.5L8.5 0L0 8.5L-8.5 0z",
    fail: "M0-8L8 6.5H-8z",
    segment: "M-5-5H5V5H-5z",
    data: "M-6-6H6V6H-6z",
    late: "M-5.5-5.5L5.5 5.5M5.5-5.5L-5.5 5.5",
    loss: "M-6-6L6 6M6-6L-6 6",
    lock: "M-6-1H6V8H-6zM-4-1V-4a4 4 0 0 1 8 0V-1H1.8V-4a1.8 1.8 0 0 0-3.6 0V-1z",
    keep: "M8 0a8 8 0 1 1-16 0a8 8 0 1 1 16 0zM-4.6 .4L-1.2 3.8L4.8-2.6L3.2-4.2L-1.2 .6L-3-1.2z",
  };
  shapes.waits = shapes.request; shapes.break = shapes.loss; shapes.forget = "M-6-1.4H6V1.4H-6z"; shapes.done = shapes.data;
  const colours = { break: "loss", forget: "fail", done: "data" };
  const mark = (kind, parent) =>
    make("path", { d: shapes[kind], class: "m-" + (colours[kind] ?? kind), "fill-rule": "evenodd" }, parent);
  const looks = {
    arp_request: "request", path_request: "request", recovery_request: "request", arp_reply: "reply", path_reply: "reply",
    recovery_reply: "reply", path_fail: "fail", data: "data",
  };
  const look = (hop) => looks[hop.what] ?? "segment";
  for (const place of document.querySelectorAll("[data-mark]")) mark(place.dataset.mark, place);

  // Scale marks with the width of switches.
  const scale = Math.min(Math.max(stage.half / 22, 0.5), 1);
  const spot = (x, y) => `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})`;

  // The fabric.
  svg.setAttribute("viewBox", `0 0 ${stage.width} ${stage.height}`);
  const [cables, keeps, boxes, locks, crosses, dots] = Array.from({ length: 6 }, () => make("g", {}, svg));
  const shown = (link) => nodes[links[link][0]] && nodes[links[link][1]];
  const radius = (node) => (node.role === "switch" ? 0 : node.role === "host" ? 4 : 11);
  const end = (node, other, more) => {
    // The point where the line to another node leaves this node's box, `more` further out.
    const [dx, dy] = [other.x - node.x, other.y - node.y], length = Math.hypot(dx, dy) || 1;
    const box = Math.min(stage.half / Math.abs(dx || 1e-9), 17 / Math.abs(dy || 1e-9)) * length;
    const out = Math.min((radius(node) || box) + more, length / 2) / length;
    return [node.x + dx * out, node.y + dy * out];
  };
  const lanes = links.map(([from, to], link) => {
    // Each direction is shifted to its right.
    if (!shown(link)) return null;
    const [a, b] = [nodes[from], nodes[to]], length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [x, y] = [-(b.y - a.y) / length * 5, (b.x - a.x) / length * 5];
    const [p, q] = [end(a, b, 5), end(b, a, 5)];
    return { p: [p[0] + x, p[1] + y], q: [q[0] + x, q[1] + y], side: [x / 5, y / 5] };
  });
  const lines = links.map(([from, to], link) => {
    if (link % 2 || !shown(link)) return null;
    const [a, b] = [nodes[from], nodes[to]];
    const far = a.role === "host" || b.role === "host" ? " far" : "";
    return make("line", { class: "cable" + far, x1: a.x, y1: a.y, x2: b.x, y2: b.y }, cables);
  });
  const title = (text, parent) => { make("title", {}, parent).textContent = text; };
  for (const row of stage.rows) make("text", { class: "row", x: 4, y: row.y + 5 }, svg).textContent = row.text;
  const drawn = nodes.map((node) => {
    if (!node) return null;
    const group = make("g", {}, boxes);
    title(node.name, group);
    if (node.role !== "switch") {
      make("circle", { class: node.role === "host" ? "host" : "end", cx: node.x, cy: node.y, r: radius(node) }, group);
      return group;
    }
    const half = stage.half;
    make("rect", { class: "switch", x: node.x - half, y: node.y - 17, width: 2 * half, height: 34, rx: Math.min(7, half) }, group);
    if (node.label) make("text", { class: "name", x: node.x, y: node.y + 5 }, group).textContent = node.name;
    return group;
  });
  const [source, target] = [nodes[data.from], nodes[data.to]];
  const close = Math.abs(source.x - target.x) < 190 && Math.abs(source.y - target.y) < 40;
  [source, target].forEach((node, i) => {
    const anchor = node.x < 90 ? "start" : node.x > stage.width - 90 ? "end" : "middle";
    const low = node.y < stage.height / 2 ? node.y - 20 : Math.min(node.y + 32 + (close && i ? 20 : 0), stage.height - 8);
    const text = make("text", { class: "end-name", x: node.x, y: low, "text-anchor": anchor }, boxes);
    text.textContent = `${node.name}, ${node.role}`;
  });

  // Prepare a scene: sorted instants, their display times, and table entries of each node over time.
  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const prepare = (scene) => {
    const hops = scene.frames.flatMap((frame) => frame.hops);
    const unit = middle(hops.filter((hop) => hop.arrived !== null).map((hop) => hop.arrived - hop.left)) || 1e6;
    const instants = [0, scene.end, ...scene.lines.map((line) => line.at), ...scene.kept.map((change) => change.at)];
    for (const hop of hops) instants.push(hop.sent, ...(hop.arrived === null ? [] : [hop.left, hop.arrived]));
    for (const frame of scene.frames) if (frame.end) instants.push(frame.end.at);
    const times = [...new Set(instants)].filter((time) => time >= 0 && time <= scene.end).sort((a, b) => a - b);
    const places = [0];
    for (let i = 1; i < times.length; i++) places.push(places[i - 1] + Math.min(times[i] - times[i - 1], unit * 1.5) / unit);
    const length = places[places.length - 1] || 1;
    const kept = new Map();
    for (const change of scene.kept) {
      if (!kept.has(change.node)) kept.set(change.node, []);
      kept.get(change.node).push(change);
    }
    const crossings = hops.filter((hop) => ["request", "fail"].includes(look(hop))).map((hop) => hop.sent).sort((a, b) => a - b);
    const ends = (wanted) => scene.frames.filter((frame) => frame.end && wanted(frame)).map((frame) => frame.end.at).sort((a, b) => a - b);
    const late = ends((frame) => frame.end.reason === "late_copy");
    const lost = ends((frame) => frame.end.fate === "dropped" && frame.hops.at(-1).what === "data");
    // Duration of the whole scene at speed 1.
    const lineTimes = scene.lines.map((line) => line.at);
    const seconds = Math.min(Math.max(length * 0.5, 9), 32);
    return { ...scene, unit, times, places, length, kept, crossings, late, lost, lineTimes, seconds };
  };
  const scenes = data.scenes.map(prepare);

  // Index of the last element of `sorted` that is <= `value`, or -1.
  const below = (sorted, value) => {
    let [low, high] = [0, sorted.length];
    while (low < high) { const half = (low + high) >> 1; if (sorted[half] <= value) low = half + 1; else high = half; }
    return low - 1;
  };
  const map = (from, to, value) => {
    const i = Math.min(Math.max(below(from, value), 0), from.length - 2);
    if (i < 0) return to[0];
    const span = from[i + 1] - from[i];
    return to[i] + (span ? (value - from[i]) / span : 0) * (to[i + 1] - to[i]);
  };
  const spell = (time) => `${(time / 1e6).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} µs`;

  const state = { scene: scenes[0], time: 0, line: -1, playing: false, speed: 1, dots: [], crosses: [], shown: null, current: null };

  const place = (frame, time, waiting) => {
    // Position of a frame; null if it is not in flight.
    if (frame.end && time >= frame.end.at) return null;
    let hop = null;
    for (const next of frame.hops) { if (next.sent > time) break; hop = next; }
    if (!hop || !lanes[hop.link] || (hop.arrived !== null && time >= hop.arrived)) return null;
    const { p, q, side } = lanes[hop.link];
    if (hop.arrived === null || time < hop.left) {
      const before = waiting.get(hop.link) ?? 0;
      waiting.set(hop.link, before + 1);
      const off = Math.min(before, 4) * 8;
      return { hop, waits: true, x: p[0] + side[0] * off, y: p[1] + side[1] * off };
    }
    const share = (time - hop.left) / (hop.arrived - hop.left);
    return { hop, waits: false, x: p[0] + (q[0] - p[0]) * share, y: p[1] + (q[1] - p[1]) * share };
  };

  const drawFrames = () => {
    const { scene, time } = state, waiting = new Map(), now = map(scene.times, scene.places, time);
    scene.frames.forEach((frame, i) => {
      const here = frame.hops.length && frame.hops[0].sent <= time ? place(frame, time, waiting) : null;
      let dot = state.dots[i];
      if (here) {
        dot ??= state.dots[i] = make("path", {}, dots);
        const kind = look(here.hop);
        dot.setAttribute("d", shapes[kind]);
        dot.setAttribute("class", `dot m-${kind}${here.waits ? " waits" : ""}`);
        dot.setAttribute("transform", spot(here.x, here.y));
        dot.dataset.what = here.hop.what;
      } else if (dot) { dot.remove(); state.dots[i] = undefined; }
      const dies = frame.end?.fate === "dropped" && frame.end.reason !== "not_for_me" && frame.end.at <= time;
      let cross = state.crosses[i];
      const hop = frame.hops.at(-1);
      if (dies && hop && lanes[hop.link]) {
        if (!cross) {
          const { p, q } = lanes[hop.link], before = 1 - 6 / Math.hypot(q[0] - p[0], q[1] - p[1]);
          const share = frame.end.node !== null ? before : frame.end.reason === "queue_full" ? 0.05 : 0.3;
          const kind = frame.end.reason === "late_copy" ? "late" : "loss";
          const transform = spot(p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share);
          cross = state.crosses[i] = make("path", { d: shapes[kind], transform }, crosses);
          cross.dataset.kind = kind;
        }
        const old = now - map(scene.times, scene.places, frame.end.at) > 2;
        cross.setAttribute("class", `cross m-${cross.dataset.kind}${old ? " old" : ""}`);
      } else if (cross) { cross.remove(); state.crosses[i] = undefined; }
    });
  };

  const keptAt = (time) => {
    const now = new Map();
    for (const [node, changes] of state.scene.kept) {
      let last = null;
      for (const change of changes) { if (change.at > time) break; last = change; }
      if (last) now.set(node, last);
    }
    return now;
  };
  const brokenAt = (time) => {
    const down = new Set();
    for (const change of state.scene.links) {
      if (change.at > time) break;
      if (change.up) down.delete(change.link >> 1); else down.add(change.link >> 1);
    }
    return down;
  };
  // The confirmed path from source to destination, as links; empty if incomplete. During an exploration, older entries
  // do not count: the reply must have passed the switch.
  const wholePath = (kept, broken) => {
    const first = links.findIndex(([from]) => from === data.from), path = [];
    for (let link = first, left = nodes.length; left > 0; left--) {
      if (link === undefined || broken.has(link >> 1)) return [];
      path.push(link >> 1);
      if (links[link][1] === data.to) return path;
      const change = kept.get(links[link][1]), entry = change?.destination;
      const known = state.scene.kind === "recovery" || change?.at > 0 && change.source?.confirmed;
      link = entry?.confirmed && known ? entry.link : undefined;
    }
    return [];
  };

  const drawTables = () => {
    const { scene, time } = state, kept = keptAt(time), broken = brokenAt(time);
    const signature = [...kept.values()].map((change) => scene.kept.get(change.node).indexOf(change)).join() + [...broken];
    if (signature === state.shown) return;
    state.shown = signature;
    locks.replaceChildren();
    keeps.replaceChildren();
    const partly = new Set(), path = wholePath(kept, broken), route = new Set(path.flatMap((cable) => links[cable * 2]));
    for (const node of drawn) node?.querySelector("rect")?.setAttribute("class", "switch");
    for (const [number, change] of kept) {
      const node = nodes[number];
      if (!node) continue;
      // Entries that existed before the exploration and are not on the path belong to other flows.
      const [start] = scene.kept.get(number), same = (a, b) => a && b && a.link === b.link && a.confirmed === b.confirmed;
      const old = (side) => scene.kind === "exploration" && !route.has(number) && start.at === 0 && same(start[side], change[side]);
      const sides = ["source", "destination"].filter((side) => change[side]), fresh = sides.filter((side) => !old(side));
      for (const side of sides) {
        const entry = change[side];
        if (!shown(entry.link)) continue;
        if (entry.confirmed && fresh.includes(side) && !broken.has(entry.link >> 1)) partly.add(entry.link >> 1);
        const [x, y] = end(node, nodes[links[entry.link][1]], 24 * scale);
        const unused = path.length && !(entry.confirmed && route.has(number));
        const group = make("g", { transform: spot(x, y), class: !fresh.includes(side) || unused ? "dim" : "" }, locks);
        group.dataset.state = entry.confirmed ? "confirmed" : "locked";
        mark(entry.confirmed ? "keep" : "lock", group);
      }
      if (fresh.length) {
        const box = drawn[number].querySelector("rect");
        const confirmed = fresh.some((side) => change[side].confirmed);
        if (confirmed || !path.length) box?.setAttribute("class", `switch ${confirmed ? "confirmed" : "locked"}`);
      }
    }
    for (const cable of new Set([...partly, ...path])) {
      const [a, b] = links[cable * 2].map((node) => nodes[node]);
      if (!a || !b) continue;
      const line = make("line", { class: `kept${path.includes(cable) ? " whole" : ""}`, x1: a.x, y1: a.y, x2: b.x, y2: b.y }, keeps);
      line.dataset.cable = cable;
    }
    lines.forEach((line, link) => line?.classList.toggle("broken", broken.has(link >> 1)));
    for (const cable of broken) {
      const [a, b] = links[cable * 2].map((node) => nodes[node]);
      if (a && b) make("path", { class: "burst", d: "M-9-9L9 9M9-9L-9 9", transform: `translate(${(a.x + b.x) / 2} ${(a.y + b.y) / 2})` }, locks);
    }
  };

  const tell = () => {
    const { scene, time, line } = state;
    at("clock").textContent = spell(time);
    const scrub = at("scrub");
    scrub.value = map(scene.times, scene.places, time) / scene.length * 1000;
    scrub.setAttribute("aria-valuetext", spell(time));
    const counts = [["copies", scene.crossings], ["late", scene.late], ["data lost", scene.lost]];
    at("tally").innerHTML = counts
      .filter(([name]) => name !== "data lost" || scene.failure)
      .map(([name, times]) => `${name} <b data-count="${name}">${below(times, time) + 1}</b> of ${times.length}`).join(" · ");
    const list = at("lines"), old = list.querySelector("[aria-current]"), now = list.children[line]?.firstChild ?? null;
    if (line === state.current) return;
    old?.removeAttribute("aria-current");
    now?.setAttribute("aria-current", "step");
    const before = state.current ?? -1, [low, high] = [Math.min(line, before), Math.max(line, before)];
    for (let i = low + 1; i <= high; i++) list.children[i].firstChild.classList.toggle("later", i > line);
    state.current = line;
    const top = now ? now.offsetTop - list.clientHeight / 2 : 0;
    list.scrollTo({ top, behavior: calm.matches || state.playing ? "auto" : "smooth" });
    svg.querySelector(".here")?.classList.remove("here");
    drawn[stage.nodes.findIndex((node) => node?.name === scene.lines[line]?.where)]?.classList.add("here");
    const text = at("now");
    text.replaceChildren();
    if (line >= 0) {
      const what = scene.lines[line], where = document.createElement("b");
      where.textContent = what.where;
      text.append(where, ` ${what.text}`);
    } else text.textContent = scene.under_way ? "The flow is sending on its path." : "Nothing has been sent yet.";
  };

  const draw = () => { drawTables(); drawFrames(); tell(); };
  const seek = (time, line) => {
    const { scene } = state;
    state.time = Math.min(Math.max(time, 0), scene.end);
    state.line = line ?? below(scene.lineTimes, state.time);
    draw();
  };
  const step = (by) => {
    pause();
    const line = Math.min(Math.max(state.line + by, -1), state.scene.lines.length - 1);
    seek(line < 0 ? 0 : state.scene.lines[line].at, line);
  };

  // Playback: continuous, or event by event if the user prefers reduced motion.
  let request = 0, timer = 0;
  const face = (playing) => {
    const button = at("play"), label = playing ? "Pause" : "Play";
    button.setAttribute("aria-label", label);
    button.title = `${label} (space)`;
    // During playback, screen readers do not announce lines.
    at("now").setAttribute("aria-live", playing ? "off" : "polite");
    button.querySelector("path").setAttribute("d", playing ? "M4 3h2.5v10H4zM9.500 3H12v10H9.500z" : "M4 2.5l9 5.5l-9 5.5z");
  };
  function pause() {
    state.playing = false;
    cancelAnimationFrame(request);
    clearInterval(timer);
    face(false);
  }
  const play = () => {
    if (state.time >= state.scene.end) seek(0, -1);
    state.playing = true;
    face(true);
    if (calm.matches) {
      timer = setInterval(() => {
        const line = state.line + 1, { lines } = state.scene;
        if (line < lines.length) seek(lines[line].at, line);
        if (line >= lines.length - 1) { pause(); seek(state.scene.end); }
      }, 1100 / state.speed);
      return;
    }
    let last = performance.now();
    const tick = (now) => {
      const { scene } = state, passed = (now - last) / 1000;
      last = now;
      const here = map(scene.times, scene.places, state.time) + passed * state.speed * scene.length / scene.seconds;
      if (here >= scene.length) { pause(); seek(scene.end); return; }
      seek(map(scene.places, scene.times, here));
      request = requestAnimationFrame(tick);
    };
    request = requestAnimationFrame(tick);
  };
  const toggle = () => (state.playing ? pause() : play());

  const show = (number) => {
    if (!scenes[number]) return;
    pause();
    state.scene = scenes[number];
    state.shown = null;
    state.current = null;
    state.dots = [];
    state.crosses = [];
    dots.replaceChildren();
    crosses.replaceChildren();
    document.querySelectorAll("[data-scene]").forEach((button) =>
      button.setAttribute("aria-pressed", String(Number(button.dataset.scene) === number)));
    at("lines").replaceChildren(...state.scene.lines.map((line, i) => {
      const item = document.createElement("li"), button = document.createElement("button");
      const time = document.createElement("time"), text = document.createElement("span"), where = document.createElement("b");
      button.type = "button";
      button.className = "later";
      time.textContent = spell(line.at);
      where.textContent = line.where;
      text.append(where, ` ${line.text}`);
      button.append(time, mark(line.kind, make("svg", { viewBox: "-9 -9 18 18", "aria-hidden": "true" })).parentNode, text);
      button.addEventListener("click", () => { pause(); seek(line.at, i); });
      item.append(button);
      return item;
    }));
    at("facts").replaceChildren(...state.scene.facts.map(([name, value]) => {
      const pair = document.createElement("div"), term = document.createElement("dt"), what = document.createElement("dd");
      term.textContent = name;
      what.textContent = value;
      pair.append(term, what);
      return pair;
    }));
    seek(0, -1);
  };

  at("play").addEventListener("click", toggle);
  at("next").addEventListener("click", () => step(1));
  at("back").addEventListener("click", () => step(-1));
  at("first").addEventListener("click", () => { pause(); seek(0, -1); });
  at("last").addEventListener("click", () => { pause(); seek(state.scene.end); });
  at("scrub").addEventListener("input", (event) => {
    pause();
    seek(map(state.scene.places, state.scene.times, event.target.value / 1000 * state.scene.length));
  });
  at("speed").addEventListener("change", (event) => {
    state.speed = Number(event.target.value);
    if (state.playing && calm.matches) { pause(); play(); }
  });
  document.querySelectorAll("[data-scene]").forEach((button) =>
    button.addEventListener("click", () => show(Number(button.dataset.scene))));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const keys = {
      ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => { pause(); seek(0, -1); },
      End: () => { pause(); seek(state.scene.end); }, 1: () => show(0), 2: () => show(1),
    };
    const done = event.key === " " && !event.target.matches("button") ? toggle : keys[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  });
  show(0);
  document.documentElement.dataset.ready = "yes";
})();
