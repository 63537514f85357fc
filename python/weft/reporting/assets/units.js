// Numbers as text with three significant digits and a unit, as in weft.quantity; and labels of axes.
const MISSING = "–";
const UNITS = {
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  bps: [[1e12, "Tbps"], [1e9, "Gbps"], [1e6, "Mbps"], [1e3, "kbps"], [1, "bps"]],
  bytes: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  count: [[1e9, "G"], [1e6, "M"], [1, ""]],
  ratio: [[1, ""]],
  number: [[1, ""]],
};

const digits = (value, significant = 3) => {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(significant));
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
};

// A quantity of a kind: s, bps, bytes, count, share, ratio; numbers of a sweep as they are.
const quantity = (kind, value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return MISSING;
  if (kind === "text") return String(value);
  if (kind === "share") return digits(value * 100) + " %";
  if (kind === "number" || (kind === "count" && Number.isInteger(value) && Math.abs(value) < 1e6)) {
    return value.toLocaleString("en", { maximumSignificantDigits: 12 });
  }
  const units = UNITS[kind];
  const [factor, unit] = units.find(([size]) => Math.abs(value) >= size * 0.9995) ?? units[units.length - 1];
  return (digits(value / factor) + " " + unit).trim();
};

// The difference of two quantities, with its sign; of shares in points.
const signed = (kind, value) => {
  const text = quantity(kind, Math.abs(value)), sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return sign + (kind === "share" ? text.replace("%", "points") : text);
};

// Without the last digits, which are those of the calculation.
const short = (value) => Number(value.toPrecision(6));

// The ends of the interval of a mean of values that are neither negative nor more than `most`, from its half-width.
const ends = (mean, half, most = Infinity) => (half === null || half === undefined
  ? [null, null] : [Math.max(mean - half, 0), Math.min(mean + half, most)].map(short));

const span = (kind, low, high) => low === null || low === undefined
  ? "none (one seed)" : quantity(kind, low) + " to " + quantity(kind, high);

const plural = (number, word) => number.toLocaleString("en") + " " + word + (number === 1 ? "" : "s");

