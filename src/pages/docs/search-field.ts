/** Search field of the documentation, usable by keyboard and pointer. */
import { type DocsSearch, docsSearch, type SearchEntry } from './search.ts';

export function startSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#search');
  const list = document.querySelector<HTMLElement>('#found');
  const none = document.querySelector<HTMLElement>('#found-none');
  if (field && list && none) searchIn(field, list, none);
}

/** @param none element shown when nothing was found. */
function searchIn(field: HTMLInputElement, list: HTMLElement, none: HTMLElement): void {
  let search: Promise<DocsSearch> | undefined;
  let active = -1;

  const fetchIndex = () =>
    (search ??= fetch('/docs/search.json')
      .then((response) => response.text())
      .then(docsSearch)
      .catch(() => {
        // The next input retries.
        search = undefined;
        return () => [];
      }));

  function choose(index: number): void {
    const options = [...list.children] as HTMLElement[];
    active = options.length === 0 ? -1 : (index + options.length) % options.length;
    for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === active));
    options[active]?.scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', options[active]?.id ?? '');
  }

  function close(): void {
    list.hidden = none.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  async function show(): Promise<void> {
    const query = field.value;
    const found = (await fetchIndex())(query);
    if (field.value !== query) return;
    list.replaceChildren(...found.map(optionFor));
    list.hidden = found.length === 0;
    none.hidden = found.length > 0 || query.trim() === '';
    none.textContent = none.hidden ? '' : `Nothing found for “${query.trim()}”.`;
    field.setAttribute('aria-expanded', String(!list.hidden));
    choose(0);
  }

  field.addEventListener('focus', () => void fetchIndex());
  field.addEventListener('input', () => void show());
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(active + 1);
    else if (event.key === 'ArrowUp') choose(active - 1);
    else if (event.key === 'Enter') (list.children[active] as HTMLElement | undefined)?.click();
    else if (event.key === 'Escape') {
      field.value = '';
      close();
      field.blur();
    } else return;
    event.preventDefault();
  });
  field.parentElement?.addEventListener('focusout', ({ relatedTarget }) => {
    if (!field.parentElement?.contains(relatedTarget as Node | null)) close();
  });
  // A link to a fragment of this page does not reload it, so the list is closed.
  list.addEventListener('click', () => setTimeout(close));
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

function optionFor({ title, place, href }: SearchEntry, index: number): HTMLElement {
  const option = document.createElement('a');
  option.id = `found-${index}`;
  option.href = href;
  option.tabIndex = -1;
  option.setAttribute('role', 'option');
  const where = document.createElement('span');
  where.textContent = place;
  option.append(title, where);
  return option;
}

/** Returns true for editable elements, where a slash is text; the reference has some. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
