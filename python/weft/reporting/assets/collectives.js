// The completion of collectives, at all points.
const collectiveRows = (test = () => true) => rowsOf(frames.collectives, test).map((row) => ({ ...named(row), place: row.scheme }));
if (element("collective-time")) charts["collective-time"] = {
  needs: ["hide"],
  chart: (room) => chartOf(specs.collectives, { collectives: collectiveRows((row) => seen(row.scheme)) }, room),
  data: () => ({
    columns: ["collective", "point", "scheme", "completion_s", "low", "high"],
    kinds: () => ["text", "text", "text", "s", "s", "s"],
    rows: collectiveRows().map((row) => [row.collective, row.point, row.scheme, row.mean, row.low, row.high]),
  }),
};
