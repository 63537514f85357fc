"use strict";
// Draws the charts and connects the page's controls to them. All data is inline.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const page = read("page-data");
  const views = [];
  const state = { point: page.points[0], scheme: page.schemes[0] };

  const signal = (name, value, within) => {
    for (const { view, element } of views) {
      if (within && !within.contains(element)) continue;
      try { view.signal(name); } catch { continue; }
      view.signal(name, value).runAsync();
    }
  };

  // The fabric: only the classes of the lines change; nothing is redrawn.
  const lines = document.querySelectorAll(".fabric .links line");
  const paint = () => {
    const use = page.use[state.point]?.[state.scheme];
    if (!use) return;
    lines.forEach((line, i) => {
      if (line.classList.contains("down")) return;
      line.setAttribute("class", "l u" + Math.round(Math.min(use.utilisation[i], 1000) / 1000 * page.steps));
      const text = [page.links[i], (use.utilisation[i] / 10).toFixed(1) + " % used"];
      if (use.drops) text.push(use.drops[i] + " drops per run", "largest queue " + use.queues[i]);
      line.firstElementChild.textContent = text.join(", ");
    });
  };

  const press = (button) => {
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  };
  document.querySelectorAll(".tabs").forEach((tabs) => tabs.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    press(button);
    if (tabs.dataset.sets === "scheme") { state.scheme = button.value; paint(); }
    else signal("metric", button.value, tabs.closest("section"));
  }));
  document.getElementById("point")?.addEventListener("change", (event) => {
    state.point = event.target.value;
    paint();
    signal("point", page.points.indexOf(state.point));
  });

  document.getElementById("copy")?.addEventListener("click", async (event) => {
    const button = event.currentTarget, text = read("tsv"), label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  const charts = [...document.querySelectorAll(".chart")].map(async (element) => {
    const result = await vegaEmbed(element, read(element.dataset.spec), { actions: false, renderer: "svg" });
    views.push({ view: result.view, element });
  });
  paint();
  Promise.all(charts).then(
    () => { document.documentElement.dataset.ready = "yes"; },
    (error) => { console.error(error); document.documentElement.dataset.ready = "failed"; },
  );
})();
