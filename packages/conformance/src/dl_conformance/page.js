const filter = document.getElementById("filter");
const marks = ["wrong", "lacking"].map((mark) => [mark, document.getElementById(mark)]);

function show() {
  const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  for (const body of document.querySelectorAll(".matrix tbody")) {
    const family = body.querySelector(".family").textContent.toLowerCase();
    let any = false;
    for (const row of body.querySelectorAll("tr[data-operator]")) {
      const name = `${row.dataset.operator.toLowerCase()} ${family}`;
      const named = !words.length || words.some((word) => name.includes(word));
      row.hidden = !named || marks.some(([mark, box]) => box.checked && !row.classList.contains(mark));
      any ||= !row.hidden;
    }
    body.hidden = !any;
  }
}

for (const input of [filter, ...marks.map(([, box]) => box)]) input.addEventListener("input", show);
