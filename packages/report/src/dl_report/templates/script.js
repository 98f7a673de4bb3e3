for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => head.addEventListener("click", () => {
    const down = head.dataset.order !== "down";
    heads.forEach((other) => delete other.dataset.order);
    head.dataset.order = down ? "down" : "up";
    const value = (row) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
    const number = !head.classList.contains("text");
    const rows = [...body.rows].sort((a, b) => number
      ? Number(value(a) || -1) - Number(value(b) || -1) : value(a).localeCompare(value(b)));
    body.append(...(down ? rows.reverse() : rows));
  }));
  const filter = table.closest(".scroll").previousElementSibling;
  if (filter?.type === "search") filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}

// A matrix shows the rows whose names or groups contain a word, and that have all checked marks.
for (const form of document.querySelectorAll("form.filter")) form.addEventListener("input", () => {
  const words = form.elements.words.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const marks = [...form.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.name);
  for (const body of document.querySelectorAll("table.matrix tbody")) {
    const rows = [...body.rows].slice(1), group = body.rows[0].textContent;
    for (const row of rows) {
      const name = `${row.cells[0].textContent} ${group}`.toLowerCase();
      row.hidden = (words.length && !words.some((word) => name.includes(word)))
        || !marks.every((mark) => row.classList.contains(mark));
    }
    body.hidden = rows.every((row) => row.hidden);
  }
});
