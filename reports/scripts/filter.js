// Adds filters to the findings, the matrix and the changes of an upgrade; without scripts the page shows everything. State lives in the address.
"use strict";
(() => {
  const state = new URLSearchParams(location.search);

  function keep(name, value) {
    value ? state.set(name, value) : state.delete(name);
    const query = state.toString();
    history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
  }

  function control(tag, name, label, attributes) {
    const field = Object.assign(document.createElement(tag), attributes, { id: "filter-" + name });
    const caption = Object.assign(document.createElement("label"), { htmlFor: field.id, textContent: label });
    return [caption, field];
  }

  function bar(after, parts) {
    const form = Object.assign(document.createElement("form"), { className: "filters" });
    form.addEventListener("submit", event => event.preventDefault());
    form.append(...parts);
    after.after(form);
  }

  /** Opens every fold around an element. */
  function unfold(element) {
    for (let fold = element.closest(".more"); fold; fold = fold.parentElement.closest(".more")) fold.open = true;
  }

  function filterFindings() {
    const title = document.getElementById("findings-title");
    const findings = [...document.querySelectorAll("#findings .finding")];
    if (!findings.length) return;
    const [textLabel, text] = control("input", "find", "Only findings with", { type: "search", value: state.get("find") || "" });
    const [kindLabel, kind] = control("select", "kind", "of kind", {});
    const kinds = new Set(findings.map(finding => finding.querySelector(".kind").textContent));
    kind.append(new Option("any", ""), ...[...kinds].map(each => new Option(each, each)));
    kind.value = kinds.has(state.get("kind")) ? state.get("kind") : "";
    const shown = Object.assign(document.createElement("output"), { htmlFor: text.id });
    const show = () => {
      const wanted = text.value.toLowerCase();
      for (const finding of findings) {
        const fits = !kind.value || finding.querySelector(".kind").textContent === kind.value;
        finding.hidden = !(fits && finding.textContent.toLowerCase().includes(wanted));
        if (!finding.hidden && (wanted || kind.value)) unfold(finding);
      }
      shown.textContent = findings.filter(finding => !finding.hidden).length + " of " + findings.length + " shown";
      keep("find", text.value);
      keep("kind", kind.value);
    };
    text.addEventListener("input", show);
    kind.addEventListener("change", show);
    bar(title, [textLabel, text, kindLabel, kind, shown]);
    show();
  }

  function filterMatrix() {
    const rows = [...document.querySelectorAll("#matrix tbody tr")];
    const quiet = rows.filter(row => [...row.querySelectorAll(".cell")].every(cell => cell.matches(".is-as-claimed, .is-expected-failure, .is-no-claim, .is-as-expected")));
    if (!quiet.length || quiet.length === rows.length) return;
    const [label, box] = control("input", "odd", "Only rows with something that is not as claimed", { type: "checkbox", checked: state.has("odd") });
    const show = () => {
      for (const row of quiet) row.hidden = box.checked;
      keep("odd", box.checked ? "1" : "");
    };
    box.addEventListener("change", show);
    bar(document.getElementById("matrix-title"), [box, label]);
    show();
  }

  function filterChanges() {
    const title = document.getElementById("first-title") || document.querySelector(".area h2");
    const rows = [...document.querySelectorAll(".change")];
    if (!title || !rows.length) return;
    const [label, text] = control("input", "change", "Only changes below with", { type: "search", value: state.get("change") || "" });
    const shown = Object.assign(document.createElement("output"), { htmlFor: text.id });
    const show = () => {
      const wanted = text.value.toLowerCase();
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden && wanted) unfold(row);
      }
      shown.textContent = rows.filter(row => !row.hidden).length + " of " + rows.length + " shown";
      keep("change", text.value);
    };
    text.addEventListener("input", show);
    bar(title, [label, text, shown]);
    show();
  }

  filterFindings();
  filterMatrix();
  filterChanges();
})();
