/** Typed access to the elements the server rendered. */

/** The element with this id. A page without it is broken, so that it throws. */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no #${id}`);
  return found;
}

/** The element with this id where the page has it. */
export function findElement<T extends HTMLElement>(id: string, type: new () => T): T | null {
  return document.getElementById(id) === null ? null : element(id, type);
}

/** What the server put into the page's data block. */
export function readPageData<T>(): T {
  return JSON.parse(document.getElementById('page-data')?.textContent ?? '') as T;
}

/** Shows a text in which one placeholder is set in bold. Values are text, never markup. */
export function fillEmphasized(target: HTMLElement, template: string, name: string, value: string): void {
  const [before = '', ...after] = template.split(`{${name}}`);
  const strong = document.createElement('strong');
  strong.textContent = value;
  strong.translate = false;
  target.replaceChildren(before, strong, after.join(value));
}
