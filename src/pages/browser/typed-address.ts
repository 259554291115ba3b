/** Keeps what was typed into a field before the script ran, and an e-mail address that was not sent yet. */
import { isReload } from './pending.ts';

const KEY = 'gatehouse.typed-address';

/**
 * Returns the present text of a field of the document; null if it is empty or the server renders.
 * The first rendering in the browser must hold it, since hydration sets the field to its value.
 */
export function typedBefore(id: string): string | null {
  if (typeof document === 'undefined') return null;
  const field = document.getElementById(id);
  return field instanceof HTMLInputElement && field.value !== '' ? field.value : null;
}

/** Keeps the address in this tab when the page is left, for a reload in another language. @returns ends that. */
export function keepTypedAddress(address: () => string): () => void {
  store(null);
  const keep = () => store(address());
  addEventListener('pagehide', keep);
  return () => removeEventListener('pagehide', keep);
}

/** Returns the address typed before the page was reloaded; null otherwise. */
export function typedAddress(): string | null {
  if (typeof document === 'undefined' || !isReload()) return null;
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(address: string | null): void {
  try {
    if (address) sessionStorage.setItem(KEY, address);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is disabled: a reload empties the field.
  }
}
