"use strict";
// Fills and sorts the two tables of the survey. All data is inline.
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const state = { point: 0, situation: null, measure: null };
  const orders = { measures: { column: "small_mean", down: false }, situations: { column: null, down: false } };
  const WORST = 8;

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const digits = (value, significant = 3) => {
    if (value === 0) return "0";
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
    return String(Number(value.toPrecision(significant)));
  };
  const shown = (value, kind, significant) => {
    if (kind !== "share") return digits(value, significant);
    const percent = value * 100;
    return (percent > 0 && percent < 0.01 ? "<0.01" : digits(percent, significant)) + " %";
  };
  const group = (situation) => page.groups[page.points[state.point]?.shown[situation]];

  const cell = (number, kind, best, mark) => {
    if (!number) return make("td", { class: "n none" }, mark ?? "–");
    const [value, half] = number, td = make("td", { class: "n" }, make("b", {}, shown(value, kind)));
    const spread = half ? shown(half, kind, 2) : "<";
    if (!spread.startsWith("<")) td.append(make("small", {}, "±" + spread));
    if (best > 0) {
      const share = Math.min(Math.log(value / best) / Math.log(WORST), 1);
      td.style.backgroundColor = `rgb(222 115 30 / ${(0.62 * share).toFixed(3)})`;
    }
    return td;
  };

  const sorted = (rows, columns, order) => {
    const column = columns.find((one) => one.key === order.column) ?? columns[0];
    const key = (row) => column.value(row);
    return [...rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      // Rows without a value stay below.
      if (x === null || y === null) return (x === null) - (y === null);
      const way = typeof x === "string" ? x.localeCompare(y) : x - y;
      return order.down ? -way : way;
    });
  };

  const fill = (ident, rows, columns) => {
    const table = document.getElementById(ident), order = orders[ident];
    const again = document.activeElement?.dataset.column;
    const heads = columns.map((column) => {
      const button = make("button", { type: "button", "data-column": column.key }, column.title);
      if (column.below) button.append(make("br"), make("small", {}, column.below));
      const th = make("th", { scope: "col", class: column.cell ? "n" : "" }, button);
      if (column.key === order.column) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      button.addEventListener("click", () => {
        order.down = order.column === column.key && !order.down;
        order.column = column.key;
        draw();
      });
      return th;
    });
    const lines = sorted(rows, columns, order).map((row) => {
      const line = make("tr");
      for (const column of columns) line.append(column.cell ? column.cell(row) : column.text(row));
      return line;
    });
    const within = table.contains(document.activeElement);
    table.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
    if (within) table.querySelector(`[data-column="${again}"]`)?.focus();
  };

  const scheme = {
    key: "scheme", title: "Scheme", value: (row) => row.scheme,
    text: (row) => make("th", { scope: "row" }, row.scheme),
  };
  const least = (numbers) => Math.min(...numbers.filter(Boolean).map(([value]) => value));

  const measures = () => {
    const rows = group(state.situation)?.rows ?? [];
    const columns = page.measures.map((measure) => {
      const best = measure.kind === "ratio" ? least(rows.map((row) => row.values[measure.key])) : 0;
      return {
        key: measure.key, title: measure.title,
        value: (row) => row.values[measure.key]?.[0] ?? null,
        cell: (row) => {
          const td = cell(row.values[measure.key], measure.kind, best, row.mark);
          if (measure.key === "entries" && row.tables) td.title = "limits: " + row.tables;
          return td;
        },
      };
    });
    const needs = {
      key: "needs", title: "Needs", value: (row) => row.needs || "nothing",
      text: (row) => make("td", { class: "needs" }, (row.needs || "nothing").replaceAll("-", " ")),
    };
    fill("measures", rows, [scheme, ...columns, needs]);
  };

  const situations = () => {
    const there = page.situations.filter(
      ({ key }) => group(key)?.rows.some((row) => row.values[state.measure] || row.mark),
    );
    const schemes = [...new Set(there.flatMap(({ key }) => group(key).rows.map((row) => row.scheme)))];
    const found = (key, name) => group(key).rows.find((row) => row.scheme === name);
    const of = (key, name) => found(key, name)?.values[state.measure];
    const columns = there.map(({ key, title }) => {
      const best = least(schemes.map((name) => of(key, name)));
      const below = group(key).title === page.points[state.point].title ? "" : group(key).title;
      return {
        key, title, below, value: (row) => of(key, row.scheme)?.[0] ?? null,
        cell: (row) => cell(of(key, row.scheme), "ratio", best, found(key, row.scheme)?.mark),
      };
    });
    orders.situations.column ??= there[0]?.key;
    fill("situations", schemes.map((name) => ({ scheme: name })), [scheme, ...columns]);
  };

  const draw = () => { measures(); situations(); };
  document.querySelectorAll(".tabs").forEach((tabs) => {
    state[tabs.dataset.sets] = tabs.querySelector("button").value;
    tabs.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      for (const other of tabs.children) other.setAttribute("aria-pressed", String(other === button));
      state[tabs.dataset.sets] = button.value;
      draw();
    });
  });
  state.situation ??= page.situations[0].key;
  const select = document.getElementById("point");
  select.addEventListener("change", () => { state.point = Number(select.value); draw(); });
  draw();
  document.documentElement.dataset.ready = "yes";
})();
