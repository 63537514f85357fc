// Starts the page: the state of the address, then everything that shows it.
document.querySelectorAll("table.sortable").forEach(sortable);
restore();
notify(Object.keys(DEFAULTS));
await redraw([]);
let room = root.clientWidth;
addEventListener("resize", () => {
  if (root.clientWidth === room) return;
  room = root.clientWidth;
  redraw(Object.keys(charts));
});
goToNamed();
root.dataset.ready = "yes";
