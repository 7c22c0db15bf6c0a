// Elements from names, properties and children. Texts are only ever set as text.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on") || name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function spaced(name) {
  return name.replaceAll("_", " ");
}

export function number(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

export function percent(value) {
  return value === null || value === undefined ? "–" : `${Math.round(100 * value)}%`;
}

export function choices(select, options, chosen) {
  fill(select, ...options.map(([value, text]) => h("option", { value: String(value), textContent: text })));
  if (options.some(([value]) => String(value) === String(chosen))) select.value = String(chosen);
}

export function labelled(text, control) {
  return h("label", { className: "field" }, h("span", { textContent: text }), control);
}
