// Filters the rule index by text, family, level and fix. The choice is part of the address: #?text=reshape&fix=safe
"use strict";

const filter = document.querySelector(".rule-filter");
if (filter) {
  const rows = [...document.querySelectorAll("table.rules tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const input = filter.querySelector("input");
  const selects = [...filter.querySelectorAll("select")];
  const output = filter.querySelector("output");

  const update = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, index) => {
      const fits = words.every((word) => texts[index].includes(word));
      row.hidden = !fits || selects.some((select) => select.value && row.dataset[select.dataset.key] !== select.value);
      shown += !row.hidden;
    });
    output.textContent = `${shown} of ${rows.length} rules`;
    const chosen = new URLSearchParams(selects.filter((select) => select.value).map((select) => [select.dataset.key, select.value]));
    if (input.value) chosen.set("text", input.value);
    history.replaceState(null, "", chosen.size > 0 ? `#?${chosen}` : location.pathname);
  };

  const chosen = new URLSearchParams(location.hash.replace(/^#\?/, ""));
  input.value = chosen.get("text") ?? "";
  for (const select of selects) select.value = chosen.get(select.dataset.key) ?? "";
  filter.hidden = false;
  filter.addEventListener("input", update);
  update();
}
