// Sort a table by the column whose head is clicked: numbers by value, dashes last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("thead th")];
  // What a cell is called where each row is a card.
  const names = heads.map((head) => head.textContent);
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, at) => { cell.dataset.label = names[at]; });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const keyed = [...body.rows].map((row) => {
        const text = row.cells[column].textContent.trim();
        return { row, text, number: parseFloat(text.replace(/[,\u202f]/g, "").replace("\u2212", "-")) };
      });
      const numeric = keyed.some((one) => !Number.isNaN(one.number)) && head.dataset.text === undefined
        && keyed.every((one) => !Number.isNaN(one.number) || one.text === "\u2013" || one.text === "");
      keyed.sort((one, other) => {
        if (!numeric) return up ? one.text.localeCompare(other.text) : other.text.localeCompare(one.text);
        if (Number.isNaN(one.number) || Number.isNaN(other.number)) {
          return Number.isNaN(one.number) - Number.isNaN(other.number);
        }
        return up ? one.number - other.number : other.number - one.number;
      });
      body.append(...keyed.map((one) => one.row));
    });
  });
}
