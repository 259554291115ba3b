/** Returns whether a key belongs to a field, a dialog or the browser rather than to the console's shortcuts. */
export function isKeyForText({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || defaultPrevented || document.querySelector('dialog[open]')) return true;
  if (!(target instanceof HTMLElement)) return false;
  const isBox = target instanceof HTMLInputElement && target.type === 'checkbox';
  return !isBox && target.closest('input, textarea, select, [contenteditable]') !== null;
}
