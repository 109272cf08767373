for (const box of document.querySelectorAll("[data-maps]")) {
  const frames = JSON.parse(box.querySelector("script").textContent);
  const [svg, slider, output] = ["svg", "input", "output"].map((name) => box.querySelector(name));
  const cells = box.querySelectorAll(".cell");
  const show = () => {
    const [, fills, values, words] = frames[slider.value];
    cells.forEach((cell, i) => {
      cell.setAttribute("fill", fills[i]);
      cell.firstElementChild.textContent = `${cell.dataset.place}: ${values[i] ?? "none"}`;
    });
    output.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    svg.setAttribute("aria-label", `${svg.dataset.title}. ${words}`);
  };
  slider.addEventListener("input", show);
  slider.parentElement.hidden = false;
  show();
}
