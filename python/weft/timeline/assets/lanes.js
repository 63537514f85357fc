// The lanes: each draws the visible part of a course, and describes it at a point. `view` has the scales.
const PLOT = 18;
const cut = (ink, view, height, work) => {
  ink.save();
  ink.beginPath();
  ink.rect(LEFT, 0, view.width - LEFT - RIGHT, height);
  ink.clip();
  work();
  ink.restore();
};

// The vertical scale from 0 or `low` to `high`, with its lines and labels.
const scaleOf = (ink, view, height, low, high, kind) => {
  const y = (value) => height - 4 - ((value - low) / (high - low || 1)) * (height - 16);
  ink.strokeStyle = colour("var(--grid)");
  ink.fillStyle = colour("var(--soft)");
  ink.textAlign = "right";
  ink.textBaseline = "middle";
  for (const value of ticks(low, high, height / 44).values) {
    ink.beginPath();
    ink.moveTo(LEFT, y(value));
    ink.lineTo(view.width - RIGHT, y(value));
    ink.stroke();
    ink.fillText(quantity(kind, value), LEFT - 6, y(value));
  }
  return y;
};

// Shades where the flow waited for the recovery of a loss.
const shade = (ink, view, height, course) => {
  for (const [from, to, cause] of course.parts) {
    if (cause !== "timeout" && cause !== "loss recovery") continue;
    ink.globalAlpha = 0.12;
    ink.fillStyle = colour(causeColour(cause));
    ink.fillRect(view.x(from), 0, view.x(to) - view.x(from), height);
  }
  ink.globalAlpha = 1;
};

// Above, so that its parts share the axis of the lanes below.
const causeLane = {
  title: () => "Causes",
  height: 34,
  // The causes in the bar, the longest first; short ones may have become "others".
  legend(course) {
    const times = new Map();
    for (const [from, to, cause] of course.parts) times.set(cause, (times.get(cause) ?? 0) + to - from);
    const causes = [...times].sort((one, other) => other[1] - one[1]).map(([cause]) => cause);
    return [make("div", { class: "marks", id: "cause-marks" }, ...causes.map((cause) =>
      make("span", {}, make("i", { style: `--mark: ${causeColour(cause)}` }), cause)))];
  },
  draw(ink, view, course) {
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    cut(ink, view, this.height, () => {
      for (const [from, to, cause, lost, place] of course.parts) {
        const [left, right] = [Math.max(view.x(from), LEFT), Math.min(view.x(to), view.width - RIGHT)];
        if (right <= left) continue;
        ink.fillStyle = colour(causeColour(cause));
        ink.fillRect(left, 2, Math.max(right - left - (right - left > 4 ? 1 : 0), 0.5), 28);
        const name = causeName(cause, lost), texts = [place ? `${name} ${place}` : name, place, name, cause].filter(Boolean);
        const text = texts.find((one) => ink.measureText(one).width < right - left - 8);
        ink.fillStyle = colour("var(--on-accent)");
        if (text) ink.fillText(text, (left + right) / 2, 17);
      }
    });
  },
  at(view, course, x) {
    const time = view.time(x);
    const found = course.parts.find(([from, to]) => time >= from && time < to);
    if (!found) return null;
    const [from, to, cause, lost, place] = found;
    return `${causeName(cause, lost)}${place ? " at " + place : ""}: ${seconds(to - from)}, ${quantity("share", (to - from) / course.end)}\n${seconds(from)} to ${seconds(to)}`;
  },
};

const NAMES = {
  answer: "acknowledgement", "lost answer": "acknowledgement, lost", control: "without data", copy: "copy", repeated: "repeated data",
  marked: "data, marked by a queue", lost: "data, lost",
};
const markOf = (kind) => ({ "lost answer": "lost", control: "handshake", copy: "answer" })[kind] ?? kind;
const colourOf = (mark) => colour(`var(--${{ repeated: "loss", lost: "loss", marked: "marked" }[mark] ?? "ink"})`);

const packetLane = {
  title: (course) => `Packets: position in the flow (${course.bytes ? "bytes" : "packets"})`,
  height: 300,
  // The packets on the page, those of one subflow if one is chosen.
  rows: (course) => course.packets.filter((one) => course.subflow === "" || one.subflow === Number(course.subflow)),
  draw(ink, view, course) {
    const rows = this.rows(course).filter((one) => (one.ended ?? course.end) >= view.from && one.sent <= view.to);
    let [low, high] = [Infinity, -Infinity];
    for (const one of rows) [low, high] = [Math.min(low, one.first), Math.max(high, one.next)];
    if (low > high) [low, high] = [0, 1];
    const room = (high - low || 1) * 0.03;
    const y = scaleOf(ink, view, this.height, Math.max(low - room, 0), high + room, course.bytes ? "bytes" : "count");
    this.spots = [];
    cut(ink, view, this.height, () => {
      shade(ink, view, this.height, course);
      for (const one of rows) this.packet(ink, view, course, one, y);
    });
  },
  packet(ink, view, course, one, y) {
    const mark = markOf(one.kind), level = y(one.first), [left, right] = [view.x(one.sent), view.x(one.ended ?? course.end)];
    ink.strokeStyle = ink.fillStyle = colourOf(mark);
    ink.globalAlpha = mark === "answer" ? 0.2 : 0.35;
    ink.lineWidth = mark === "answer" ? 1 : 2;
    ink.beginPath();
    ink.moveTo(left, level);
    ink.lineTo(right, level);
    ink.stroke();
    ink.globalAlpha = 1;
    if (mark === "lost") {
      ink.lineWidth = 2;
      ink.beginPath();
      for (const side of [-4, 4]) {
        ink.moveTo(right - side, level - 4);
        ink.lineTo(right + side, level + 4);
      }
      ink.stroke();
    } else if (mark === "answer") {
      ink.beginPath();
      ink.arc(right, level, 2.2, 0, 2 * Math.PI);
      ink.stroke();
    } else if (mark === "marked") {
      ink.beginPath();
      ink.moveTo(left, level - 4);
      ink.lineTo(left + 3.6, level + 2.6);
      ink.lineTo(left - 3.6, level + 2.6);
      ink.fill();
    } else if (mark === "handshake") {
      ink.lineWidth = 1.4;
      ink.strokeRect(left - 3, level - 3, 6, 6);
    } else {
      const half = mark === "repeated" ? 2.6 : 1.6;
      ink.fillRect(left - half, level - half, 2 * half, 2 * half);
    }
    this.spots.push([left, right, level, one]);
  },
  at(view, course, x, y) {
    let best = null, least = 12;
    for (const spot of this.spots ?? []) {
      const [left, right, level] = spot;
      const far = Math.hypot(x < left ? left - x : x > right ? x - right : 0, y - level);
      if (far < least) [best, least] = [spot[3], far];
    }
    if (!best) return null;
    const unit = course.bytes ? "byte" : "packet", many = course.subflows.length > 1 ? `, subflow ${best.subflow}` : "";
    const range = best.next > best.first ? `${best.first.toLocaleString("en")} to ${(best.next - 1).toLocaleString("en")}` : best.first.toLocaleString("en");
    const fate = best.link ? `lost at ${best.link}` : best.kind.startsWith("lost") ? "lost" : "arrived";
    const after = best.ended === null ? "still on its way at the end" : `${fate} ${seconds(best.ended)}, ${seconds(best.ended - best.sent)} later`;
    return `${NAMES[best.kind] ?? best.kind}: ${unit} ${range}${many}\nsent ${seconds(best.sent)}\n${after}`;
  },
};

// The value of a stepwise line at a time; null before its first step.
const valueAt = ([times, values], time) => {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low ? values[low - 1] : null;
};

const stepLane = (title, height, kind, lines) => ({
  title, height,
  draw(ink, view, course) {
    const shown = lines(course);
    const visible = shown.flatMap(([, [times, values]]) => [valueAt([times, values], view.from) ?? 0,
      ...values.filter((_, at) => times[at] >= view.from && times[at] <= view.to)]);
    const y = scaleOf(ink, view, height, 0, visible.reduce((most, value) => Math.max(most, value), 1) * 1.05, kind);
    cut(ink, view, height, () => {
      shade(ink, view, height, course);
      for (const [name, [times, values]] of shown) {
        ink.strokeStyle = colour("var(--ink)");
        ink.setLineDash(name === "flight" ? [3, 3] : []);
        ink.lineWidth = 1.6;
        ink.beginPath();
        times.forEach((time, at) => {
          if (at) ink.lineTo(view.x(time), y(values[at - 1]));
          ink[at ? "lineTo" : "moveTo"](view.x(time), y(values[at]));
        });
        if (times.length) ink.lineTo(view.x(course.end), y(values[values.length - 1]));
        ink.stroke();
      }
    });
  },
  at(view, course, x) {
    const texts = lines(course).map(([name, steps]) => [name, valueAt(steps, view.time(x))]).filter(([, value]) => value !== null);
    if (!texts.length) return null;
    return [seconds(view.time(x)), ...texts.map(([name, value]) => `${name === "window" ? "window" : "in flight"}: ${quantity(kind, value)}`)].join("\n");
  },
});
const some = (course, ...names) => names.map((name) => [name, course[name]]).filter(([, [times]]) => times.length);
const together = stepLane(() => "Congestion window and bytes in flight", 150, "bytes", (course) => some(course, "window", "flight"));
const windowLane = stepLane(() => "Congestion window", 120, "bytes", (course) => some(course, "window"));
const flightLane = stepLane(() => "Packets on their way", 120, "count", (course) => some(course, "flight"));
const lanesOf = (course) => [causeLane, packetLane, ...(course.bytes ? [together] : [...(course.window[0].length ? [windowLane] : []), flightLane])];
