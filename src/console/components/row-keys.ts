/** Keys of a list: j, k and the arrows move among its rows, x chooses one, Enter opens it. A table is one tab stop. */
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { isKeyForText } from './keys.ts';

const FOCUSABLE = 'a, button, input';
const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const WITHIN: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** @param choose selects a row by its key, or no longer; absent if rows cannot be selected. */
export function useRowKeys(body: RefObject<HTMLTableSectionElement | null>, choose?: (key: string) => void): void {
  // After every rendering, since it brings other rows.
  useEffect(() => rove(body.current, document.activeElement));
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => rove(body.current, target as Element);
    const onKey = (event: KeyboardEvent) => {
      if (body.current && !isKeyForText(event) && onRowKey(event, body.current, choose)) event.preventDefault();
    };
    const table = body.current;
    table?.addEventListener('focusin', onFocus);
    addEventListener('keydown', onKey);
    return () => {
      table?.removeEventListener('focusin', onFocus);
      removeEventListener('keydown', onKey);
    };
  });
}

/** Leaves one control of the table in the tab order: the focused one, else that of the open or first row. */
function rove(body: HTMLElement | null, focused: Element | null): void {
  if (!body) return;
  const row = body.querySelector('tr[aria-current]') ?? body.querySelector('tr[data-key]');
  const stop = body.querySelector('[data-stop]');
  const current = focused && body.contains(focused) ? focused : (stop ?? (row && entryOf(row)));
  for (const control of body.querySelectorAll<HTMLElement>(FOCUSABLE)) {
    // A menu that is open has keys of its own.
    if (control.closest('[popover]')) continue;
    control.tabIndex = control === current ? 0 : -1;
    control.toggleAttribute('data-stop', control === current);
  }
}

/** Returns the control of a row that moving to it focuses: its link, else its first control. */
function entryOf(row: Element): HTMLElement | null {
  return (
    row.querySelector<HTMLElement>('.row-link') ?? row.querySelector<HTMLElement>(`td:not(.choice) :is(${FOCUSABLE})`)
  );
}

/** @returns whether the key did something. */
function onRowKey({ key, target }: KeyboardEvent, body: HTMLElement, choose?: (key: string) => void): boolean {
  const focused = target as HTMLElement;
  if (focused.closest('[popover]')) return false;
  const row = body.contains(focused) ? focused.closest<HTMLElement>('tr[data-key]') : null;
  const step = STEPS[key];
  // Arrows scroll the page where the list has no focus.
  if (step !== undefined && (row || key.length === 1)) return move(body, row, step);
  if (!row) return false;
  const side = WITHIN[key];
  if (side !== undefined) {
    const controls = [...row.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => !one.closest('[popover]'));
    const next = controls[controls.indexOf(focused) + side];
    next?.focus();
    return next !== undefined;
  }
  const rowKey = row.dataset['key'];
  const isChoice = key === 'x' || (key === ' ' && focused instanceof HTMLAnchorElement);
  if (!isChoice || !choose || rowKey === undefined) return false;
  choose(rowKey);
  return true;
}

function move(body: HTMLElement, from: HTMLElement | null, step: number): boolean {
  const here = from ?? body.querySelector('tr[aria-current]');
  const next = here ? siblingOf(here, step) : body.querySelector('tr[data-key]');
  if (!next) return false;
  const entry = entryOf(next);
  if (entry) entry.focus();
  // Rows that are left out are rendered as soon as their place is near the viewport.
  else next.scrollIntoView({ block: 'nearest' });
  return true;
}

const siblingOf = (row: Element, step: number) => (step > 0 ? row.nextElementSibling : row.previousElementSibling);
