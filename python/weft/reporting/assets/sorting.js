// Tables that are sorted by a click on a heading; rows without a value stay below.
const keyOf = (row, at) => {
  const cell = row.cells[at];
  if (!cell) return null;
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const text = cell.textContent.trim();
  if (text === "" || text === MISSING) return null;
  const plainNumber = Number(text.replaceAll(",", ""));
  return Number.isNaN(plainNumber) ? text : plainNumber;
};

const sortBy = (table, at, down) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [keyOf(row, at), row]);
  rows.sort(([x], [y]) => {
    if (x === null || y === null) return (x === null) - (y === null);
    const way = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -way : way;
  });
  body.append(...rows.map(([, row]) => row));
  table.classList.add("sorted");
  [...table.tHead.rows[0].cells].forEach((th, i) => {
    if (i === at) th.setAttribute("aria-sort", down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  });
};

const sortable = (table) => {
  [...table.tHead.rows[0].cells].forEach((th, at) => {
    const button = make("button", { type: "button", class: "sort" }, ...th.childNodes);
    th.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") === "ascending";
      sortBy(table, at, down);
      say(`Sorted by ${button.textContent}, ${down ? "descending" : "ascending"}`);
    });
  });
};

// A table from columns ({ title, kind }) and rows of values, sortable.
const fill = (table, columns, rows) => {
  const head = columns.map(({ title, kind }) => make("th", { scope: "col", class: kind === "text" ? "" : "n" }, title));
  const lines = rows.map((row) => make("tr", {}, ...columns.map(({ kind }, at) => {
    const value = row[at];
    if (value instanceof Node) return make("td", {}, value);
    if (kind === "text") return make("td", {}, value ?? MISSING);
    const cell = make("td", { class: "n" }, quantity(kind, value));
    if (value !== null && value !== undefined) cell.dataset.v = value;
    return cell;
  })));
  table.replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
  sortable(table);
};
